// Topics over time or another order: over labels that have an order, and over numbers. A small panel for each topic.
const PANELS = 30, FEWEST = 3; // panels of a page; labels that make a trend
const orderedKinds = labels && (hasEffects || hasPrevalence) ? [...new Set(ALL_LABELS.map(kindOf))].map((kind) => ({
  kind, own: ALL_LABELS.filter((j) => kindOf(j) === kind && labels.ranks[j] !== null)
    .sort((a, b) => labels.ranks[a] - labels.ranks[b]),
})).filter(({ own }) => own.length >= FEWEST) : [];
// What topics are shown over: `lines` by group, each with values of every topic.
const trends = [...orderedKinds.map(labelTrend), ...numbers.map(numberTrend)];
const shownShare = (y) => (y === null ? "–" : `${Number((100 * y).toFixed(1))}%`);
const shownNumber = (x) => String(Number(x.toPrecision(6)));

// The observed share in documents of each label, and the interval of the expected one.
function labelTrend({ kind, own }) {
  const column = (table, k) => own.map((j) => (table.length ? table[j][k] : null));
  const line = (k) => {
    const expected = hasEffects ? column(labels.proportion, k) : null;
    return { name: "", values: hasPrevalence ? column(labels.prevalence, k) : expected,
      ...(hasEffects ? { low: column(labels.proportion_low, k), high: column(labels.proportion_high, k) } : {}),
      style: { stroke: topicColor(k) } };
  };
  const text = [hasPrevalence ? "Lines are observed shares: means over the documents with a label."
    : "Lines are expected shares.", hasEffects && labels.low.some((row) => row.some((x) => x !== null))
    ? `Bands are ${level()} intervals of the share that the model expects in these documents.` : "",
  labels.names.length < labels.n_all ? "Only the largest labels are in this report." : "",
  hasPrevalence ? "Choose a point for its documents." : ""].filter(Boolean).join(" ");
  return { title: kind || "label", text, x: own.map((j) => labels.ranks[j]), own, kind,
    names: own.map((j) => plain(labelShort(j), 24)), groups: [{ column: null, lines: (k) => [line(k)] }],
    describe: (i, k) => [plain(labels.names[own[i]], 40), `${count(labels.sizes[own[i]], "document")}`,
      hasPrevalence ? `observed share ${percent(labels.prevalence[own[i]][k])}` : null,
      hasEffects ? expectedShare(own[i], k) : null] };
}

/** The expected share of a topic in the documents of a label, with its interval; null if it is not known. */
function expectedShare(j, k) {
  const [mean, low, high] = ["proportion", "proportion_low", "proportion_high"].map((name) => labels[name][j][k]);
  if (mean === null) return null;
  return `expected share ${percent(mean)} ${low === null ? "(no interval)" : `(${percent(low)} to ${percent(high)})`}`;
}

// The expected share over a number, for all documents or for the most frequent labels of a column.
function numberTrend(number) {
  const groups = number.groups.map((group) => ({ ...group, names: group.lines,
    lines: (k) => group.mean.map((means, i) => ({ name: group.column === null ? "" : group.lines[i], values: means[k],
      low: group.low.length ? group.low[i][k] : null, high: group.high.length ? group.high[i][k] : null,
      style: group.column === null ? { stroke: topicColor(k) } : lineStyle(i) })) }));
  return { title: number.name, x: number.points, groups, left_out: number.left_out };
}

// The sentence on the bands, and what is left out.
function bandText(trend, group) {
  if (trend.text) return trend.text;
  const given = overview.n_chains > 1 ? `the number of topics, over the matched topics of ${overview.n_chains} chains`
    : "the number of topics and one chain";
  const texts = [group.low.length
    ? `Bands are ${level()} posterior intervals of the expected proportion, given ${given}.`
    : "There are no intervals: see the notes in the overview.", "Curves are averages over the training documents, "
    + "which keep their labels and numbers of other columns."];
  if (!group.is_identified) texts.push("No training documents have such labels, so the prior decides some curves.");
  if (group.n_labels > group.names.length) texts.push(
    `The ${group.names.length} most frequent of ${group.n_labels.toLocaleString("en")} labels.`);
  if (trend.left_out) texts.push(`${count(trend.left_out, "label column")} would make the file too large.`);
  return texts.join(" ");
}

const present = (values) => values.filter((y) => y !== null);
function trendChart(trend, group, k, open = null) {
  const lines = group.lines(k), { own } = trend;
  const most = Math.max(...lines.flatMap(({ values, high }) => present([...values, ...(high || [])])), 0.001);
  return lineChart(`Share of ${plain(shortName(k), 60)} over ${plain(trend.title, 40)}`, { x: trend.x, lines,
    xTitle: plain(trend.title), showX: shownNumber, showY: shownShare, range: [0, most * 1.05], height: 170,
    isTitled: false, names: trend.names, describe: own ? (i) => trend.describe(i, k) : null,
    open: own && open ? (i) => open(own[i], k) : null });
}

// Topics in the order of their center of mass, of the range of their shares, or of their numbers.
function trendOrder(trend, order) {
  const values = topics.map((_, k) => trend.groups[0].lines(k)[0].values);
  const center = (own) => { const sum = own.reduce((a, y) => a + (y ?? 0), 0);
    return sum ? own.reduce((a, y, i) => a + trend.x[i] * (y ?? 0), 0) / sum : Infinity; };
  const key = { center: (k) => center(values[k]),
    change: (k) => { const own = present(values[k]);
      return own.length ? Math.min(...own) - Math.max(...own) : 0; },
    number: (k) => k }[order];
  const keys = topics.map((_, k) => key(k));
  return topics.map((_, k) => k).sort((a, b) => topics[a].background - topics[b].background || keys[a] - keys[b]
    || a - b);
}

if (trends.length) addView("trends", trends.length === 1 ? `Over ${plain(trends[0].title, 14)}` : "Trends", 35, () => {
  const place = el("div", { class: "stack" }), lines = el("span"), drawer = el("div", { class: "drawer" });
  const usual = topics.length > 2 * PANELS ? "change" : "center";
  const read = () => {
    const trend = trends[Number(option("over", 0))] || trends[0];
    return { trend, group: trend.groups[Number(option("lines", 0))] || trend.groups[0],
      order: oneOf("order", ["center", "change", "number"], usual) };
  };
  const open = (j, k) => { const from = document.activeElement;
    setOption("cell", `${j}.${k}`);
    drawer.replaceChildren(cellPanel(j, k, () => { setOption("cell", ""); drawer.replaceChildren();
      if (from) from.focus(); })); };
  const show = () => {
    const { trend, group, order } = read();
    const key = group.column === null ? null : el("ul", { class: "chips", "aria-label": "Colors" },
      group.names.map((line, i) => el("li", { class: "chip" },
        el("span", { class: "dot", style: { background: lineStyle(i).stroke } }), name(line))));
    const own = trendOrder(trend, order);
    place.replaceChildren(el("p", { class: "muted small" }, bandText(trend, group)), ...(key ? [key] : []),
      pages(own.length, PANELS, (first, last) => el("div", { class: "multiples" }, own.slice(first, last).map((k) =>
        el("section", {}, el("h3", {}, topicLink(k), inChains(k)), trendChart(trend, group, k, open))))));
  };
  const keep = (key, value, standard, then) => { setOption(key, value, standard); setOption("page", 0, 0);
    if (then) then(); show(); };
  const offer = () => {
    const { trend, group } = read();
    lines.replaceChildren(...(trend.groups.length > 1 ? [choice("Lines", trend.groups.map((each, i) =>
      [i, each.column === null ? "all documents" : `by ${plain(each.column || "label", 40)}`]),
    trend.groups.indexOf(group), (value) => keep("lines", value, 0))] : []));
  };
  offer();
  show();
  const [j, k] = option("cell", "").split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : -1));
  if (labels && labels.names[j] !== undefined && topics[k]) open(j, k);
  return {
    title: trends.length === 1 ? ["Topics over ", name(trends[0].title)] : ["Trends"],
    lead: "How the share of each topic changes along an order.",
    body: [caution(hasEffects || numbers.length > 0), card(null, el("h2", { class: "visually-hidden" }, "Panels"),
      el("div", { class: "controls" },
        trends.length > 1 ? choice("Over", trends.map((each, i) => [i, plain(each.title, 40)]),
          trends.indexOf(read().trend), (value) => { setOption("lines", 0, 0); keep("over", value, 0, offer); }) : null,
        lines,
        choice("Order by", [["center", "center of mass"], ["change", "largest change"], ["number", "topic number"]],
          read().order, (value) => keep("order", value, usual))), place, drawer)],
  };
});
