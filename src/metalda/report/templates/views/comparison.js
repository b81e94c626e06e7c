// The comparison of models: ribbons between topics with similar words, and the topics matched one to one.
const recurs = (model, i, j) => model.recurring.some(([a, b]) => a === i && b === j);
const otherTitle = (model, j) => `${visible(model.topics[j].title)} (${model.topics[j].name})`;
const recurText = (model) => `${model.recurring.length.toLocaleString("en")} of ${count(topics.length, "topic")} `
  + `recur${topics.length === 1 && model.recurring.length === 1 ? "s" : ""}`;

// Topics of the first model left, of another right, higher with their shares. A ribbon joins topics with similar words;
// of the ribbons of a topic those to more similar topics are wider. Large models have no room for topics without one.
const MOST_ALONE = 60;
const isAlone = (model, key, k) => !model.links.some((link) => link[key] === k);
const isDrawn = (model, key, k) => [topics, model.topics][key].length <= MOST_ALONE || !isAlone(model, key, k);
function ribbons(first, model) {
  const left = tree.order.filter((k) => isDrawn(model, 0, k));
  const joined = (key, k) => model.links.filter((link) => link[key] === k);
  const linked = new Map(model.topics.map((t) => { const own = joined(1, t.number), total = own.reduce((sum, link) =>
    sum + link[2], 0);
  return [t.number, own.length ? own.reduce((sum, link) => sum + link[2] * left.indexOf(link[0]), 0) / total : Infinity]; }));
  const right = model.topics.map((t) => t.number).filter((k) => isDrawn(model, 1, k)).sort((a, b) => linked.get(a) - linked.get(b) || a - b);
  const draw = (place, width) => {
    const narrow = width < 520, gap = 3, wide = 10, n = Math.max(left.length, right.length), letters = narrow ? 14 : 34;
    const least = 9, height = (least + gap) * n + Math.max(120, 6 * n); // every name has room
    const side = (order, own, at) => {
      const sum = order.reduce((total, k) => total + own[k].share, 0);
      const room = height - gap * (order.length - 1) - least * order.length;
      const spots = new Map();
      let y = 0;
      for (const k of order) { const high = least + (room * own[k].share) / (sum || 1);
        spots.set(k, { x: at, y, high }); y += high + gap; }
      return spots;
    };
    const titles = [left.map((k) => plain(shortName(k), letters)), right.map((k) => plain(visible(model.topics[k].title),
      letters))];
    const margins = titles.map((own) => Math.min(Math.max(...own.map((title) => textWidth(title, 11))) + 12, width * 0.36));
    const from = side(left, topics, margins[0]), to = side(right, model.topics, width - margins[1] - wide);
    const part = ([i, j, similarity], key) => { const own = joined(key, [i, j][key]); // of the height at an end
      const total = own.reduce((sum, link) => sum + link[2] ** 4, 0);
      return [own.filter((link) => (key ? left.indexOf(link[0]) < left.indexOf(i) : right.indexOf(link[1])
        < right.indexOf(j))).reduce((sum, link) => sum + link[2] ** 4, 0) / total, similarity ** 4 / total]; };
    const marks = model.links.map((link) => {
      const [i, j, similarity] = link, [a, b] = [from.get(i), to.get(j)], [p, q] = [part(link, 0), part(link, 1)];
      const [x1, x2] = [a.x + wide, b.x], middle = (x1 + x2) / 2, isSame = recurs(model, i, j);
      const [y1, h1, y2, h2] = [a.y + p[0] * a.high, p[1] * a.high, b.y + q[0] * b.high, q[1] * b.high];
      const lines = [`${plain(shortName(i), 60)} – ${plain(otherTitle(model, j), 60)}`,
        `similarity ${similarity.toFixed(2)}${isSame ? ": recurs" : ""}`];
      const node = svg("a", { href: `#/topic/${i}`, class: "ribbon-link", "aria-label": lines.join(", ") },
        svg("path", { class: `ribbon ${isSame ? "same" : ""}`, style: { fill: topicColor(i) },
          d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}v${h2}C${middle} ${y2 + h2} ${middle} ${y1 + h1} `
            + `${x1} ${y1 + h1}z` }));
      return { node, x: middle, y: (y1 + h1 / 2 + y2 + h2 / 2) / 2, lines, isSame };
    });
    if (marks.length) reach(place, marks);
    const ends = (order, spots, own, texts, anchor) => order.map((k, at) => { const { x, y, high } = spots.get(k);
      const text = textAt(texts[at], anchor === "end" ? x - 6 : x + wide + 6, y + high / 2, { class: `tick ${anchor}` });
      return [svg("rect", { x, y, width: wide, height: high, style: { fill: own(k) } }), anchor === "end"
        ? svg("a", { href: `#/topic/${k}`, tabindex: -1 }, text) : text]; });
    const colorOf = (j) => { const own = model.recurring.find((pair) => pair[1] === j);
      return own ? topicColor(own[0]) : "var(--rest)"; };
    return { height: height + 4, parts: [[...marks].sort((a, b) => a.isSame - b.isSame).map(({ node }) => node),
      ends(left, from, (k) => (isAlone(model, 0, k) ? "var(--rest)" : topicColor(k)), titles[0], "end"),
      ends(right, to, colorOf, titles[1], "")] };
  };
  return chart(`Ribbons between the topics of two models: ${recurText(model)}`, draw, () => [
    [plain(first.name), ([i]) => topicLink(i)], [plain(model.name), ([, j]) => name(otherTitle(model, j))],
    ["similarity", ([, , similarity]) => similarity.toFixed(2), "number"],
    ["recurs", ([i, j]) => (recurs(model, i, j) ? "yes" : "no")]], () => [...model.links].sort((a, b) => b[2] - a[2]));
}

function ribbonCard(first, others) {
  const place = el("div");
  const at = () => Number(oneOf("with", others.map((_, i) => String(i)), "0"));
  const show = () => { const model = others[at()];
    const missing = [topics, model.topics].map((own, key) => own.filter((t) => !isDrawn(model, key, t.number)).length);
    place.replaceChildren(model.links.length ? ribbons(first, model)
      : el("p", {}, "No topics are similar enough for a ribbon."),
    missing[0] + missing[1] ? el("p", { class: "muted small" }, `Not drawn, because they have no ribbon: ${
      [first, model].map((own, key) => `${count(missing[key], "topic")} of ${visible(own.name)}`).join(" and ")}.`) : ""); };
  show();
  return card("Topics that recur", others.map((model) => el("p", {}, el("b", {}, `${recurText(model)} in `,
    name(model.name)), ".")),
  el("p", { class: "muted small" }, "A topic recurs if each of the two is the most similar to the other, with a similarity "
    + "of 0.8 or more (Bhattacharyya coefficient of the words). Strong ribbons join topics that recur, faint ones topics "
    + "with a similarity of 0.6 or more. Gray topics have none like them in the other model. Topics with a larger share are higher."),
  others.length > 1 ? el("div", { class: "controls" }, choice("Compare with", others.map((model, i) =>
    [i, plain(model.name, 40)]), at(), (value) => { setOption("with", value, "0"); show(); })) : null, place);
}

if (comparison.length) addView("compare", "Comparison", 70, () => {
  const [first, ...others] = comparison;
  const measures = [
    ["model", (m) => [name(m.name), m.name.startsWith(m.model) ? "" : ` (${m.model})`]],
      ["topics", (m) => String(m.n_topics), "number"],
    ["coherence", (m) => (m.coherence === null ? "–" : m.coherence.toFixed(3)), "number"],
      ["diversity", (m) => m.diversity.toFixed(3), "number"],
    ["log-likelihood per word", (m) => (m.log_likelihood === null ? "–" : m.log_likelihood.toFixed(3)), "number"],
      ["seconds", (m) => m.seconds.toFixed(1), "number"],
  ];
  const cell = (model, k) =>
    (k < 0 ? el("span", { class: "muted" }, "no partner")
    : [el("b", {}, name(model.topics[k].title)), " ", el("span", { class: "second" }, model.topics[k].name),
    el("span", { class: "muted" }, ` ${percent(model.topics[k].share)}`), el("br"),
    named(model.topics[k].words.slice(0, 8))]);
  const columns = [[name(first.name),
    (t) => [topicLink(t.number), el("span", { class: "muted" }, ` ${percent(t.share)}`), el("br"),
    named(t.words.slice(0, 8))], "words"]];
  for (const model of others) {
    columns.push([name(model.name), (t) => cell(model, model.matches[t.number]), "words"]);
    columns.push(["distance",
      (t) => { const d = model.distances[t.number];
      return d === null ? "" : [el("span", { class: "number" }, d.toFixed(2)), bar(d, 1)]; }, "number"]);
  }
  const nearest = (t) => Math.min(...others.map((model) => model.distances[t.number] ?? 2));
  const rows = [...first.topics].sort((a, b) => nearest(a) - nearest(b));
  const alone = others.flatMap((model) =>
    model.topics.filter((t) => !model.matches.includes(t.number)).map((t) => [model, t]));
  return {
    title: ["Comparison"],
      lead: "Topics of the models, matched one to one by their words (smallest sum of Jensen–Shannon distances); the "
        + "most similar pairs first.",
    body: [
      card("Models", table(measures, comparison),
        el("p", { class: "muted small" },
        "The log-likelihood is that of the last iteration, on the training words; it does not measure how well new "
          + "documents are predicted.")),
      ribbonCard(first, others),
      card("Matched topics", table(columns, rows)),
      alone.length ? card("Topics without a partner",
        table([["model", ([model]) => name(model.name)], ["topic", ([, t]) => [name(t.title), " ", el("span", { class: "second" }, t.name)]],
        ["share", ([, t]) => percent(t.share), "number"], ["words", ([, t]) => named(t.words)]], alone)) : null,
    ],
  };
});
