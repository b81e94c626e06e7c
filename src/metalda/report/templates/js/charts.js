// Charts by Plotly, each with its data as a table.
const color = (variable) => getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();
const faint = (hex, opacity) =>
  `rgba(${[1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(",")},${opacity})`;
const mixColors = 8;
const mixColor = (rank) => (rank >= 0 && rank < mixColors ? `var(--mix-${rank + 1})` : "var(--mix-rest)");

// Plotly interprets <b>, <a href> and entities in labels: text of the data is escaped, on one line and cut.
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const safe = (text, n = 28) => brief(straight(visible(String(text)).replace(/[\s\u0000-\u001f\u007f]+/g, " ")), n)
  .replace(/[&<>]/g, (c) => ENTITIES[c]);

// Charts are drawn when they are on the page: in the next frame, or immediately before printing.
let waitingCharts = [], drawnCharts = [];
function drawCharts() {
  for (const { place, traces, layout, onclick } of waitingCharts.splice(0)) {
    if (!place.isConnected) continue;
    Plotly.newPlot(place, traces, layout,
      { displayModeBar: false, responsive: true, showSendToCloud: false, typesetMath: false, plotlyServerURL: "" });
    drawnCharts.push(place);
    if (onclick) place.on("plotly_click", (event) => onclick(event.points[0]));
  }
}
const forgetCharts = () => { drawnCharts.forEach((place) => Plotly.purge(place)); drawnCharts = []; };

// A figure; `behind` builds its table.
function chart(description, traces, layout, behind, onclick = null) {
  const place = el("div",
    { class: "chart", role: "img", "aria-label": description, style: { height: `${layout.height}px` } });
  const axis = { gridcolor: color("line"), zerolinecolor: color("muted"), linecolor: color("line"), fixedrange: true,
    automargin: true };
  const whole = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
      dragmode: false,
    margin: { l: 10, r: 10, t: 10, b: 40 },
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("ink") },
    hoverlabel: { bgcolor: color("surface"), bordercolor: color("line"), font: { color: color("ink") },
      align: "left" },
    ...layout, xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
  };
  waitingCharts.push({ place, traces, layout: whole, onclick });
  requestAnimationFrame(drawCharts);
  return el("figure", {}, place, behind ? disclosure("Show as a table", behind) : null);
}

// Effects with intervals, a row each: [{title, effect, low, high, link}], strongest first.
function forest(description, all, kind, axisTitle, open, room = 40, digits = 2) {
  const rows = all.filter((row) => row.effect !== null); // not identified
  const height = 70 + 26 * rows.length, positions = rows.map((_, i) => -i);
  const clear = rows.map((row) => row.low > 0 || row.high < 0);
  const trace = {
    type: "scatter", mode: "markers", x: rows.map((row) => row.effect), y: positions,
    error_x: {
      type: "data", symmetric: false, array: rows.map((row) => (row.high ?? row.effect) - row.effect),
      arrayminus: rows.map((row) => row.effect - (row.low ?? row.effect)), color: color("muted"), thickness: 1.5,
      width: 0,
    },
    marker: { size: 9, color: rows.map((row, i) =>
      (!clear[i] ? color("mix-rest") : row.effect > 0 ? color("warm") : color("cool"))) },
    hoverinfo: "text",
    hovertext: rows.map((row) =>
      `${safe(row.title, 60)}<br>${signed(row.effect, digits)} (${signed(row.low, digits)} to `
        + `${signed(row.high, digits)})${digits === 2 ? `, ${times(row.effect)} times` : ""}`),
  };
  const narrow = window.innerWidth < 600;
  const layout = {
    height, xaxis: { title: { text: axisTitle, font: { size: 12 } }, zeroline: true },
    yaxis: { tickvals: positions, ticktext: rows.map((row) => safe(row.title, narrow ? 18 : room)),
      range: [0.7 - rows.length, 0.7], zeroline: false },
    margin: { l: 10, r: 15, t: 5, b: 45 },
  };
  const behind = () => table([
    [kind, (row) => row.link()], ["effect", (row) => signed(row.effect, digits), "number"],
    [`${level()} interval`, (row) => `${signed(row.low, digits)} to ${signed(row.high, digits)}`, "number"],
    ...(digits === 2 ? [["times", (row) => times(row.effect), "number"]] : []),
  ], rows);
  return chart(description, [trace], layout, behind, (point) => open(rows[point.pointIndex]));
}
