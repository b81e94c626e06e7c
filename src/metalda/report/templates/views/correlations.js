// Correlations of topics: which occur in the same documents.
const bytesOf = (text) => Int8Array.from(atob(text), (c) => c.charCodeAt(0));
const pairValues = correlations && Object.fromEntries(["mean", "low", "high", "similarity"].map((key) =>
  [key, bytesOf(correlations[key])]));
const UNKNOWN_VALUE = -128, SAME_WORDS = 0.8;

// The pair of topics i and j: { correlation, low, high, similarity }, null if unknown.
function pairOf(i, j) {
  const [a, b] = i < j ? [i, j] : [j, i], at = a * topics.length - (a * (a + 1)) / 2 + b - a - 1;
  const value = (key) => (pairValues[key][at] === UNKNOWN_VALUE ? null : pairValues[key][at] / 100);
  return { i, j, correlation: value("mean"), low: value("low"), high: value("high"), similarity: value("similarity") };
}
const allPairs = () => topics.flatMap((_, i) => topics.slice(i + 1).map((_, d) => pairOf(i, i + 1 + d)));
const pairTitle = ({ i, j }) => `${plain(shortName(i), 40)} – ${plain(shortName(j), 40)}`;
const pairInterval = (pair) => (pair.low === null ? "no interval" : `${signed(pair.low)} to ${signed(pair.high)}`);
const pairColumns = () => [["topic", ({ i }) => topicLink(i)], ["other topic", ({ j }) => topicLink(j)],
  ["correlation", ({ correlation }) => signed(correlation), "number"],
  ...(correlations.interval === null ? [] : [[`${Math.round(100 * correlations.interval)}% interval`, pairInterval,
    "number"]]),
  ["similarity of words", ({ similarity }) => similarity.toFixed(2), "number"]];

// The color of a correlation, as one of STEPS steps to either side.
const correlationColor = (step) => `color-mix(in srgb, var(--${step < 0 ? "cool" : "warm"}) `
  + `${(100 * Math.abs(step)) / STEPS}%, var(--neutral))`;
function correlationLegend(limit) {
  const wide = 7, n = 2 * STEPS + 1;
  const marks = [[0, -limit, ""], [n / 2, 0, "middle"], [n, limit, "end"]];
  return [Array.from({ length: n }, (_, i) => svg("rect", { x: 4 + i * wide, y: 4, width: wide + 0.5, height: 9,
    style: { fill: correlationColor(i - STEPS) } })),
  marks.map(([at, value, end]) => textAt(value ? signed(value) : "0", 4 + at * wide, 22, { class: `tick ${end}` }))];
}

function correlationMatrix(order, open) {
  const n = order.length, all = allPairs();
  const limit = all.reduce((most, { correlation }) => Math.max(most, Math.abs(correlation ?? 0)), 0.05);
  const draw = (place, width) => {
    const narrow = width < 520, titles = order.map((k) => plain(shortName(k), narrow ? 16 : 30));
    const isNamed = n <= 60, left = isNamed ? Math.min(Math.max(...titles.map((title) => textWidth(title, 11))) + 10,
      width * 0.5) : 8;
    const lean = isNamed ? Math.max(...titles.map((title) => textWidth(title, 11))) : 0;
    const room = width - left - 0.5 * lean - 4, size = Math.max(isNamed ? 12 : 4, Math.min(34, room / n));
    const top = 40 + lean * 0.87, at = (c) => left + c * size, high = (r) => top + r * size;
    const paths = new Map();
    order.forEach((i, r) => order.forEach((j, c) => {
      const pair = i === j ? null : pairOf(i, j);
      if (!pair || pair.correlation === null) return;
      const key = `${Math.round((STEPS * pair.correlation) / limit)} ${pair.low !== null && !isClear(pair)}`;
      const side = (size - (size > 6 ? 1 : 0)).toFixed(1);
      paths.set(key, `${paths.get(key) || ""}M${at(c).toFixed(1)} ${high(r).toFixed(1)}h${side}v${side}h-${side}z`);
    }));
    const cells = [...paths].map(([key, d]) => { const [step, faint] = key.split(" ");
      const fill = correlationColor(Number(step));
      return svg("path", { d, class: faint === "true" ? "faint" : null, style: { fill } }); });
    const describe = (c, r) => ({ x: at(c), y: high(r), width: size, height: size,
      lines: c === r ? [plain(shortName(order[c]), 60)] : pairLines(pairOf(order[r], order[c])) });
    const locate = (x, y) => { const [c, r] = [Math.floor((x - left) / size), Math.floor((y - top) / size)];
      return c < 0 || r < 0 || c >= n || r >= n ? null : [c, r]; };
    const area = svg("g", {}, svg("rect", { class: "hit", x: left, y: top, width: n * size, height: n * size }),
      svg("rect", { class: "block", x: left - 1, y: top - 1, width: n * size + 1, height: n * size + 1 }), cells);
    return { width: Math.max(width, at(n) + 0.5 * lean + 4), height: high(n) + 6, parts: [correlationLegend(limit),
      isNamed ? order.map((k, r) => [textAt(titles[r], left - 6, high(r) + size / 2, { class: "tick end" }),
        textAt(titles[r], at(r) + size / 2, top - 5, { class: "tick head",
          transform: `rotate(-60 ${at(r) + size / 2} ${top - 5})` })]) : null,
      follow(place, area, [n, n], [1, 0], describe, locate, (c, r) => { if (c !== r) open(order[r], order[c]); })] };
  };
  return chart("Matrix of the correlations of topics", draw, pairColumns, () => all.sort(byCorrelation));
}
const byCorrelation = (a, b) => (b.correlation ?? -2) - (a.correlation ?? -2);
const pairLines = (pair) => [pairTitle(pair), pair.correlation === null ? "correlation unknown"
  : `correlation ${signed(pair.correlation)} (${pairInterval(pair)})`,
`similarity of words ${pair.similarity.toFixed(2)}`];

// What a click on a cell opens: the numbers, and the documents with the largest shares of both topics.
function pairPanel(i, j) {
  const share = (d, k) => { const at = docs.topics[d].indexOf(k); return at < 0 ? 0 : docs.shares[d][at]; };
  const both = docs ? docs.ids.map((_, d) => d).filter((d) => share(d, i) && share(d, j)).sort((a, b) =>
    Math.min(share(b, i), share(b, j)) - Math.min(share(a, i), share(a, j))).slice(0, 3) : [];
  return el("section", { class: "panel", "aria-live": "polite" }, el("h3", {}, topicLink(i), " and ", topicLink(j)),
    el("p", {}, pairLines(pairOf(i, j)).slice(1).join("; "), "."),
    el("p", { class: "muted small" }, named(topWords(i, 6)), " · ", named(topWords(j, 6))),
    both.length ? el("ul", { class: "list" }, both.map((d) => el("li", {}, documentLink(d), " ",
      el("span", { class: "muted number small" }, `${percent(share(d, i), 0)} and ${percent(share(d, j), 0)}`),
      snippet(d, (_, at) => [i, j].includes(docs.word_topics[d][at]), 30)))) : docs
      ? el("p", { class: "muted small" }, "No document of this report has both.") : null,
    both.length ? el("p", { class: "small" }, [[i, j], [j, i]].map(([k, other]) => el("span", { class: "entry" },
      el("a", { href: `#/documents?topic=${k}&sort=${other}` }, "Documents of ", name(shortName(k)),
        " by the share of ", name(shortName(other)))))) : null);
}

if (correlations) addView("correlations", "Correlations", 25, () => {
  const place = el("div"), panel = el("div");
  const open = (i, j) => { setOption("pair", `${i}.${j}`); panel.replaceChildren(pairPanel(i, j)); };
  const orders = { together: correlations.order, words: tree.order, number: topics.map((t) => t.number) };
  const order = () => oneOf("order", Object.keys(orders), "together");
  const show = () => place.replaceChildren(correlationMatrix(orders[order()], open));
  show();
  const [i, j] = option("pair", "").split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : -1));
  if (topics[i] && topics[j] && i !== j) open(i, j);
  const pairs = allPairs().sort(byCorrelation), level80 = correlations.interval;
  const similar = [...pairs].sort((a, b) => b.similarity - a.similarity), same = similar.filter((pair) =>
    pair.similarity >= SAME_WORDS);
  const intervals = level80 === null ? "There are too few draws for intervals."
    : `Intervals have ${Math.round(100 * level80)}%; a cell is faint if its interval contains 0.`;
  return {
    title: ["Correlations"],
    lead: `Which topics occur in the same documents: the correlation of their shares, over ${
      count(correlations.n_documents, docs ? "document" : "training document")}${
      docs && correlations.n_documents < docs.n_all ? " at random" : ""}. ${docs ? intervals
      : "Without documents there are no intervals."}`,
    body: [caution(),
      card("Matrix", el("p", { class: "muted small" }, "Shares sum to 1, so that most correlations are slightly "
        + "negative. Warm colors: together; cool colors: one instead of the other. Choose a cell for its documents."),
      topics.length > 2 ? el("div", { class: "controls" }, choice("Topics by", [["together", "how often they occur "
        + "together"], ["words", "similar words"], ["number", "number"]], order(), (value) => {
        setOption("order", value, "together"); show(); })) : null, place, panel),
      card("Most often together", table(pairColumns(), pairs.slice(0, 12))),
      card("Most similar words", el("p", { class: "muted small" }, same.length
        ? `${count(same.length, "pair")} ${same.length === 1 ? "has" : "have"} nearly the same words (similarity of `
          + "0.8 or more, Bhattacharyya). Fit fewer topics, or merge them with metalda curate."
        : "No two topics have nearly the same words (similarity of 0.8 or more, Bhattacharyya)."),
      table(pairColumns(), similar.slice(0, Math.max(5, Math.min(same.length, 12)))))],
  };
});
