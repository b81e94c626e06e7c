// Labels: all labels, one label, and the contrast of two.
const effectRow = (k, row) =>
  ({ ...row, title: `${topicName(k)}${inChains(k)} ${topWords(k, 3).join(", ")}`, k,
    link: () => [topicLink(k), `${inChains(k)} `, named(topWords(k, 4))] });
const openTopic = (row) => { location.hash = `#/topic/${row.k}`; };
const heat = { most: 40, order: "topic", clear: false };

const heatValues = () => (hasEffects ? labels.names.map((_, j) => topics.map((_, k) => cell(j, k).effect))
  : labels.prevalence);

function heatLabels() {
  const own = labels.names.map((_, j) => j).sort((a, b) => labels.sizes[b] - labels.sizes[a]).slice(0,
    heat.most || undefined);
  const values = heatValues();
  const leading = (j) => Math.max(values[j].indexOf(Math.max(...values[j])), 0); // unknown effects are null
  if (heat.order === "topic") own.sort((a, b) => leading(a) - leading(b)
    || values[b][leading(b)] - values[a][leading(a)]);
  if (heat.order === "name") own.sort((a, b) => labels.names[a].localeCompare(labels.names[b]));
  return own;
}

function heatMap() {
  const own = heatLabels(), narrow = window.innerWidth < 600;
  const values = heatValues();
  const covered = (j, k) => { const { low, high } = cell(j, k); return !(low > 0 || high < 0); };
  const z = own.map((j) => values[j].map((value, k) => (hasEffects && heat.clear && covered(j, k) ? null : value)));
  const limit = Math.max(...own.map((j) => Math.max(...values[j].map(Math.abs)))) || 1;
  const gap = topics.length > 40 ? 10 : narrow && topics.length > 10 ? 5 : 1,
    every = topics.filter((t) => t.number % gap === 0);
  const words3 = topics.map((t) => topWords(t.number, 4).map((word) => safe(word, 18)).join(", "));
  const trace = {
    type: "heatmap", z, x: topics.map((t) => t.number), y: own.map((_, i) => i), xgap: 1, ygap: 1,
    zmin: hasEffects ? -limit : 0, zmax: limit, hoverinfo: "text", hoverongaps: false,
    colorscale: hasEffects ? [[0, color("cool")], [0.5, color("neutral")], [1, color("warm")]]
      : [[0, color("neutral")], [1, color("accent")]],
    colorbar: { thickness: 10, outlinewidth: 0, len: Math.min(1, 260 / (own.length * 18 + 80)), y: 1, yanchor: "top",
      tickfont: { size: 11 } },
    showscale: !narrow,
    hovertext: own.map((j) => topics.map((t, k) => `${safe(labels.names[j])}, ${t.name}${inChains(k)}`
      + `<br>${words3[k]}<br>${hasEffects
      ? `${scales[scale].name} ${inScale(cell(j, k).effect)} (${ends(cell(j, k))})`
        + `<br>expected share ${percent(labels.proportion[j][k])}`
      : `mean share ${percent(labels.prevalence[j][k])}`}`)),
  };
  const layout = {
    height: 80 + 18 * own.length, margin: { l: 10, r: 10, t: 30, b: 10 },
    xaxis: { side: "top", tickvals: every.map((t) => t.number), ticktext: every.map((t) => String(t.number)),
      tickangle: 0, showgrid: false, zeroline: false, tickfont: { size: 11 },
      title: { text: "topic", font: { size: 12 } } },
    yaxis: { tickvals: own.map((_, i) => i), ticktext: own.map((j) => safe(labels.names[j], narrow ? 14 : 30)),
      autorange: "reversed", showgrid: false, zeroline: false, tickfont: { size: 11 } },
  };
  const behind = () => table([["label", (j) => labelLink(j)], ...topics.map((t, k) => [String(k),
    (j) => (hasEffects ? `${inScale(cell(j, k).effect)} (${ends(cell(j, k))})`
      : percent(labels.prevalence[j][k])), "number"])],
  own, hasEffects ? `Effects of labels on topics in ${scales[scale].name}, with ${level()} intervals`
    : "Mean share of topics in documents by label");
  return chart("Heat map of labels and topics", [trace], layout, behind,
    (point) => { location.hash = `#/label/${own[point.pointIndex ? point.pointIndex[0] : point.y]}`; });
}

function pickContrast(a, b) {
  const options = labels.names.map((title, j) => [j, brief(title, 40)]);
  const go = () => { if (a !== null && b !== null) location.hash = `#/contrast/${a}/${b}`; };
  return el("div", { class: "controls" }, choice("What sets", options, a, (value) => { a = Number(value); go(); }),
    choice("apart from", options, b, (value) => { b = Number(value); go(); }),
      el("button", { type: "button", onclick: go }, "Compare"));
}

function poolingTable() {
  const columns = [["column", (row) => name(row[0] || "(all labels)")],
    ["labels", (row) => row[1].toLocaleString("en"), "number"],
    ["scale", (row) => `${row[2].toFixed(2)} (${row[3].toFixed(2)} to ${row[4].toFixed(2)})`, "number"]];
  return [el("p", { class: "muted small" }, "The learned standard deviation of log weights, with a 90% interval. At 0.7"
    + " a typical label doubles or halves the weight of a topic. Near 0 the labels of the column do not matter."),
  table(columns, labels.pooling)];
}

if (labels) addView("labels", "Labels", 30, () => {
  const place = el("div"), show = () => place.replaceChildren(heatMap());
  if (hasEffects || hasPrevalence) show();
  const sizes = [[40, "the 40 largest"], [0, `all ${labels.names.length}`]];
  const controls = el("div", { class: "controls" }, hasEffects ? pickScale(show) : null,
    labels.names.length > 40 ? choice("Show", sizes, heat.most, (value) => { heat.most = Number(value); show(); })
      : null,
    choice("Order by", [["topic", "strongest topic"], ["size", "size"], ["name", "name"]], heat.order,
      (value) => { heat.order = value; show(); }),
    hasEffects ? el("label", {},
      el("input", { type: "checkbox", checked: heat.clear,
      onchange: (event) => { heat.clear = event.target.checked; show(); } }), "only where the interval excludes 0")
      : null);
  const bySize = labels.names.map((_, j) => j).sort((a, b) => labels.sizes[b] - labels.sizes[a]);
  const strongest = (j) => { const row = hasEffects ? topics.map((_, k) => cell(j, k).low ?? cell(j, k).effect)
    : labels.prevalence[j];
    return row && row.some((x) => x !== null) ? row.indexOf(Math.max(...row.filter((x) => x !== null))) : null; };
  const columns = [["label", (j) => labelLink(j)],
    ["documents", (j) => labels.sizes[j].toLocaleString("en"), "number"]];
  if (hasEffects || hasPrevalence) columns.push(
    [hasEffects ? "clearest increase" : "largest share",
    (j) => (strongest(j) === null ? "unknown"
      : [topicLink(strongest(j)), " ", el("span", { class: "muted" }, named(topWords(strongest(j), 4)))]), "words"]);
  return {
    title: ["Labels"],
    lead: hasEffects ? "The effect of each label on each topic, compared with other labels of its kind, or with "
      + "documents without it: warm colors increase, cool colors decrease. Hover over a cell for its interval."
      : "The topics of the documents of each label.",
    body: [
      hasEffects || hasPrevalence ? card(hasEffects ? "Effects" : "Mean share of topics", controls, place) : null,
      drawn && labels.names.length > 1 ? card("Contrast", pickContrast(bySize[0], bySize[1])) : null,
      labels.pooling.length ? card("How much each column matters", poolingTable()) : null,
      card("All labels", pages(bySize.length, 25, (first, last) => table(columns, bySize.slice(first, last)))),
    ],
  };
});

addDetail("label", (j) => {
  if (!labels || labels.names[j] === undefined) return missing("There is no such label.");
  const body = [];
  if (hasEffects) {
    const place = el("div");
    const show = () => {
      const rows = topics.map((_, k) => effectRow(k, cell(j, k))).filter((row) => row.effect !== null);
      rows.sort((a, b) => sure(b) - sure(a));
      const own = rows.slice(0, 20).sort((a, b) => b.effect - a.effect);
      place.replaceChildren(el("p", { class: "muted small" }, rows.length
        ? `${rows.length > 20 ? "The 20 topics with the clearest effects. " : ""}${scales[scale].means}, with `
          + `${level()} intervals; gray where they contain 0.`
        : "The documents do not identify these effects: the label is in every document, or only occurs together with "
          + "others."),
      rows.length ? forest("Effects of this label on topics", own, "topic", scales[scale].axis, openTopic, 40,
        scales[scale].digits) : "");
    };
    show();
    body.push(card("Effects on topics", el("div", { class: "controls" }, pickScale(show)), place));
  }
  const expects = hasEffects && labels.proportion[j][0] !== null; // numeric columns have no documents of their own
  const shares = expects ? labels.proportion[j] : labels.prevalence[j];
  if (shares && shares[0] !== null) {
    const rows = topics.map((_, k) => k).sort((a, b) => shares[b] - shares[a]).slice(0, 12), most = shares[rows[0]];
    const columns = [["topic", (k) => [topicLink(k), inChains(k)]], ["", (k) => bar(shares[k], most), "bar slim"]];
    if (expects) columns.push(["expected", (k) => percent(shares[k]), "number"],
      [`${level()} interval`,
      (k) => `${percent(labels.proportion_low[j][k])} to ${percent(labels.proportion_high[j][k])}`, "number"]);
    if (hasPrevalence) columns.push(["observed", (k) => percent(labels.prevalence[j][k]), "number"]);
    columns.push(["words", (k) => named(topWords(k, 5)), "words"]);
    const text = [expects ? "Expected: by the prior, in documents with the label." : "",
      hasPrevalence ? "Observed: mean over the documents with the label." : ""].join(" ");
    body.push(
      card("Topics of the documents with this label", el("p", { class: "muted small" }, text), table(columns, rows)));
  }
  if (drawn && labels.names.length > 1) body.push(
    card("Contrast", pickContrast(j, labels.names.findIndex((_, other) => other !== j))));
  if (docs) {
    const own = docs.ids.map((_, i) => i).filter((i) => docs.labels[i].some((at) => docs.label_places[at] === j));
    if (own.length) body.push(
      card("Documents", el("p", { class: "muted small" }, `${count(own.length, "document")} of those in this report.`),
      documentList(own)));
  }
  return { title: ["Label ", name(labels.names[j])], nav: "labels", lead: `In ${count(labels.sizes[j], "document")}.`,
    body };
});

addDetail("contrast", (a, b) => {
  if (!drawn || labels.names[a] === undefined
    || labels.names[b] === undefined) return missing("There is no such contrast.");
  const rows = contrast(a, b).map((row) => effectRow(row.topic, row));
  rows.sort((x, y) => sure(y) - sure(x));
  const shown = rows.slice(0, 20).sort((x, y) => y.effect - x.effect);
  return {
    title: ["What sets ", name(labels.names[a]), " apart from ", name(labels.names[b]), "?"], nav: "labels",
    lead: [`Difference of their effects on each topic, draw by draw, with ${level()} intervals. To the right: more `
      + `with `, name(labels.names[a]), "."],
    body: [card(null, pickContrast(a, b),
      a === b ? el("p", {}, "Choose two different labels.")
      : forest("Difference of the effects of two labels on topics", shown, "topic", "difference (0.7: twice as much)",
      openTopic)),
      el("p", {}, labelLink(a), " · ", labelLink(b))],
  };
});
