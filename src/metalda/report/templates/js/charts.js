// Charts as SVG: scales, axes, marks that the keyboard reaches, hints, files, and a table of the data.
const PAPER = 680; // width of a chart on paper, in pixels
const linear = ([a, b], [p, q]) => Object.assign((x) => p + ((x - a) / (b - a || 1)) * (q - p),
  { back: (y) => a + ((y - p) / (q - p)) * (b - a) });

// Round numbers between two ends.
function ticks(low, high, n = 6) {
  const rough = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

// Text of the data for a chart: on one line, without marks of direction, elided in the middle.
function plain(text, n = 28) {
  const letters = [...straight(visible(String(text)).replace(/[\s\u0000-\u001f\u007f]+/g, " "))];
  if (letters.length <= n) return letters.join("");
  const end = Math.floor((n - 1) / 2);
  return `${letters.slice(0, n - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}`;
}
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, size = 12) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
const textAt = (text, x, y, properties = {}) => svg("text", { x, y, ...properties }, text);

// The hint of a chart: lines of text near a point.
const tipOf = (place) => place.querySelector(".tip");
function putTip(place, lines, x, y) {
  const tip = tipOf(place);
  tip.replaceChildren(...lines.filter(Boolean).map((line) => el("span", {}, line)));
  tip.hidden = false;
  tip.style.left = `${Math.max(0, Math.min(x + 12, place.scrollLeft + place.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${y + 14}px`;
}
function showTip(place, lines, x, y) {
  const picture = place.querySelector("svg");
  const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  putTip(place, lines, x * scale, y * scale);
}
const hideTip = (place) => { tipOf(place).hidden = true; };

// Marks that are reached by Tab, then by the arrow keys: [{ node, x, y, lines }].
function reach(place, marks) {
  const focus = (mark) => {
    marks.forEach(({ node }) => node.setAttribute("tabindex", node === mark.node ? 0 : -1));
    mark.node.focus();
  };
  marks.forEach((mark, i) => {
    mark.node.setAttribute("tabindex", i ? -1 : 0);
    for (const event of ["pointerenter", "focus"]) mark.node.addEventListener(event,
      () => showTip(place, mark.lines, mark.x, mark.y));
    for (const event of ["pointerleave", "blur"]) mark.node.addEventListener(event, () => hideTip(place));
    mark.node.addEventListener("keydown", (event) => {
      const arrow = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (!arrow) return;
      event.preventDefault();
      const steps = marks.filter((other) => other !== mark).map((other) => {
        const across = other.x - mark.x, down = other.y - mark.y;
        const ahead = across * arrow[0] + down * arrow[1], aside = Math.abs(across * arrow[1] + down * arrow[0]);
        return { other, ahead, cost: ahead + 2 * aside };
      }).filter(({ ahead }) => ahead > 0.5).sort((a, b) => a.cost - b.cost);
      if (steps.length) focus(steps[0].other);
    });
  });
}

// A place on a chart that the arrow keys move, and the pointer. `at` is [column, row]; `describe` gives its position.
function follow(place, area, [columns, rows], start, describe, locate, open = null) {
  let at = [...start];
  const cursor = svg("rect", { class: "cursor", tabindex: 0, role: open ? "button" : "slider" });
  const move = (next, speak) => {
    at = [Math.max(0, Math.min(next[0], columns - 1)), Math.max(0, Math.min(next[1], rows - 1))];
    const { x, y, width, height, lines } = describe(...at);
    for (const [key, value] of Object.entries({ x, y, width, height })) cursor.setAttribute(key, value);
    const text = lines.filter(Boolean).join(", ");
    cursor.setAttribute("aria-label", open ? text : "Values, by arrow keys");
    if (!open) {
      cursor.setAttribute("aria-valuemin", 0);
      cursor.setAttribute("aria-valuemax", columns - 1);
      cursor.setAttribute("aria-valuenow", at[0]);
      cursor.setAttribute("aria-valuetext", text);
    } else if (speak) say(text);
    return { lines, x: x + width / 2, y: y + height / 2 };
  };
  const hint = (next, speak) => { const { lines, x, y } = move(next, speak); showTip(place, lines, x, y);
    cursor.classList.add("on"); };
  const leave = () => { hideTip(place); cursor.classList.remove("on"); };
  const pointed = (event) => { const box = place.querySelector("svg").getBoundingClientRect();
    const scale = place.querySelector("svg").viewBox.baseVal.width / box.width;
    return locate((event.clientX - box.left) * scale, (event.clientY - box.top) * scale); };
  area.addEventListener("pointermove", (event) => { const next = pointed(event); if (next) hint(next, false);
    else leave(); });
  area.addEventListener("pointerleave", leave);
  cursor.addEventListener("focus", () => hint(at, false));
  cursor.addEventListener("blur", leave);
  cursor.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
      Home: [-columns, 0], End: [columns, 0] }[event.key];
    if (step) { event.preventDefault(); hint([at[0] + step[0], at[1] + step[1]], true); }
    if (open && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); open(...at); }
  });
  if (open) area.addEventListener("click", (event) => { const next = pointed(event);
    if (next) { hint(next, false); open(...next); } });
  move(at, false);
  area.append(cursor);
  return area;
}

// A chart is drawn once it has a width, and again when that changes. `draw(place, width)` returns { height, parts },
// and a width if the chart needs more, which then scrolls.
const drawOf = new WeakMap(), PAPER_PANEL = 212; // width on paper of one of many charts
function drawChart(place) {
  const paper = place.closest(".multiples") ? PAPER_PANEL : PAPER;
  const width = Math.round(onPaper ? paper : place.clientWidth);
  if (!width || place.dataset.width === String(width)) return;
  place.dataset.width = width;
  const picture = svg("svg", { class: "picture" });
  place.replaceChildren(picture, el("div", { class: "tip", "aria-hidden": "true", hidden: true }));
  const found = drawOf.get(place)(place, width), [wide, high] = [found.width ?? width, found.height].map(Math.ceil);
  picture.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  picture.setAttribute("width", wide);
  picture.setAttribute("height", high);
  picture.append(...found.parts.flat(Infinity).filter(Boolean));
}
const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => drawChart(target)));
const drawCharts = () => document.querySelectorAll(".chart").forEach(drawChart);
const forgetCharts = () => sizes.disconnect();

// The styles of a chart, written into a copy of it.
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];
function savePicture(place) {
  const picture = place.querySelector("svg"), copy = picture.cloneNode(true);
  const own = [picture, ...picture.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  own.forEach((node, i) => { const style = getComputedStyle(node);
    STYLES.forEach((key) => { copies[i].style[key] = style.getPropertyValue(key); }); });
  copy.querySelectorAll(".cursor, .hit").forEach((node) => node.remove());
  copy.querySelectorAll("a").forEach((node) => node.removeAttribute("href"));
  copy.style.background = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  saveFile(new XMLSerializer().serializeToString(copy), "image/svg+xml", ".svg");
}

// A figure with its data: `columns` and `rows` of a table.
function chart(description, draw, columns, rows) {
  const place = el("div", { class: "chart", role: "group", "aria-label": description });
  drawOf.set(place, draw);
  sizes.observe(place);
  return el("figure", {}, place, el("div", { class: "files" },
    fileButton("SVG", "Download the chart as SVG", () => savePicture(place)),
    fileButton("CSV", "Download the data of the chart as CSV", () => saveFile(csv(columns(), rows()), "text/csv",
      ".csv"))),
  disclosure("Show as a table", () => plainTable(columns(), rows())));
}
