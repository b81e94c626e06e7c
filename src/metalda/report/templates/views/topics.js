// All topics, and one topic.
const TOPIC_ORDERS = [["number", "number"], ["share", "share, largest first"],
  ["coherence", "coherence, highest first"]];

const chainsText = (t) => `Found in ${t.chains} of ${overview.n_chains} chains`
  + `${t.chains === 1 ? ": not matched" : ""}`;

addView("topics", "Topics", 20, () => {
  const place = el("ul", { class: "cards" });
  const most = Math.max(...topics.map((t) => t.share));
  const show = () => {
    const topicOrder = oneOf("order", TOPIC_ORDERS.map(([key]) => key), "number");
    const key = { number: (t) => t.number, share: (t) => -t.share, coherence: (t) => -(t.coherence ?? -2) }[topicOrder];
    place.replaceChildren(
      ...[...topics].sort(backgroundLast(key)).map((t) => el("li", {}, el("article", { class: "card" },
      el("div", { class: "title" }, el("h2", {}, dot(t.number), el("a", { href: `#/topic/${t.number}` },
        topicTitle(t.number))), el("span", { class: "muted number" }, percent(t.share)), renameButton(t.number)),
      el("p", {}, bar(t.share, most)), el("p", {}, named(topWords(t.number, 10))),
      t.coherence === null ? null : el("p", { class: "muted small" }, `coherence ${t.coherence.toFixed(2)}`),
      inChains(t.number) ? el("p", { class: "muted small" }, chainsText(t)) : null))));
  };
  show();
  const orders = TOPIC_ORDERS.filter(([key]) => key !== "coherence" || topics.some((t) => t.coherence !== null));
  return {
    title: ["Topics"], lead: "Every topic with its share of the words and its most probable words.",
    body: [caution(), namesCard(), el("div", { class: "controls" },
      choice("Order by", orders, oneOf("order", orders.map(([key]) => key), "number"),
        (value) => { setOption("order", value, "number"); show(); say(`Ordered by ${value}`); })),
      place],
  };
});

let lambda = 1; // stays when the topic changes
// The order of words by relevance: `show` is called with lambda, now and when it changes.
function lambdaControls(show) {
  lambda = Math.round(10 * Math.max(0, Math.min(Number(option("lambda", lambda)) || 0, 1))) / 10;
  const shown = el("output", { class: "number" });
  const slider = el("input",
    { type: "range", id: "lambda", min: 0, max: 1, step: 0.1, value: lambda,
    oninput: () => set(Number(slider.value)) });
  const buttons = [["Probability", 1], ["Relevance", 0.6],
    ["Lift", 0]].map(([text, value]) =>
    [value, el("button", { type: "button", onclick: () => { slider.value = value; set(value); } }, text)]);
  const set = (value) => {
    lambda = value;
    setOption("lambda", value, 1);
    shown.textContent = `λ = ${value.toFixed(1)}`;
    for (const [own, button] of buttons) button.setAttribute("aria-pressed", String(own === value));
    show(value);
  };
  set(lambda);
  return el("div", { class: "controls" },
    el("div", { class: "group", role: "group", "aria-label": "Order words by" }, buttons.map(([, button]) => button)),
    el("label", { for: "lambda" }, "Relevance", slider, shown));
}

function topicWords(topic) {
  const place = el("div");
  const controls = lambdaControls((value) => {
    const rows = byRelevance(topic, value), most = Math.max(...rows.map((row) => Math.max(row.p, row.overall)));
    place.replaceChildren(table([
      ["word", (row) => wordLink(row.word)], ["", (row) => bar(row.p, most, row.overall), "bar"],
      ["probability", (row) => percent(row.p, 2), "number"],
        ["lift", (row) => row.lift.toFixed(row.lift < 10 ? 1 : 0), "number"],
    ], rows));
  });
  return card("Words", controls,
    el("p", { class: "muted small" },
      "λ = 1 orders by probability, λ = 0 by lift: the probability in this topic divided by that in the whole model. "
        + "The line marks the probability in the whole model."),
    place);
}

function topicLabels(topic) {
  const k = topic.number, parts = [];
  if (hasEffects) {
    const place = el("div");
    const show = () => {
      const rows = labels.names.map((title, j) => ({ title, ...cell(j, k), href: `#/label/${j}`,
        link: () => labelLink(j) }))
        .filter((row) => row.effect !== null);
      rows.sort((a, b) => (b.low ?? b.effect) - (a.low ?? a.effect));
      const certain = rows.filter((row) => row.low > 0).length;
      place.replaceChildren(el("p", { class: "muted small" },
        `${certain ? `${count(certain, "label")} certainly increase${certain === 1 ? "s" : ""} the topic.`
          : "No label certainly increases the topic."} The largest lower ends of ${level()} intervals come first. `
        + `${scales[scale].means}; gray where the interval contains no effect.`),
      forest(`Effects of labels on ${shortName(k)}`, rows.slice(0, 10), "label", scales[scale]));
    };
    const controls = el("div", { class: "controls" }, pickScale(show));
    show();
    parts.push(...overview.effect_warnings.map((text) => el("p", { class: "warning small" }, text)), controls, place);
  }
  if (hasPrevalence) {
    const rows = labels.names.map((_, j) => j).filter((j) => labels.prevalence[j][k] !== null).sort((a, b) =>
      labels.prevalence[b][k] - labels.prevalence[a][k]).slice(0, 10);
    const most = rows.length ? labels.prevalence[rows[0]][k] : 0;
    parts.push(el("h3", {}, "Share of the topic in documents by label"), table([
      ["label", (j) => labelLink(j)], ["", (j) => bar(labels.prevalence[j][k], most), "bar"],
        ["mean share", (j) => percent(labels.prevalence[j][k]), "number"],
    ], rows));
  }
  return parts.length ? card("Labels", parts) : null;
}

const topicTrends = (k) => trends.slice(0, 2).map((trend) => card(["Over ", name(trend.title)],
  trendChart(trend, trend.groups[0], k), el("p", { class: "small" }, el("a", { href: "#/trends" }, "All topics"))));

function topicDocuments(topic) {
  if (!docs || !topic.documents.length) return null;
  return card("Most typical documents", el("ul", { class: "list" }, topic.documents.map((i, at) => el("li", {},
    el("h3", {}, documentLink(i), " ", el("span", { class: "muted number small" }, percent(topic.document_shares[at]))),
    labelChips(i), snippet(i, (_, place) => docs.word_topics[i][place] === topic.number)))));
}

const topicFeatures = (topic) => topic.features.length ? card("Word features",
  el("p", { class: "muted small" }, "How many times a word feature multiplies the weight of its words, where "
    + "that is certain; the strongest first."),
  table([["feature", (f) => name(f.name)], ["effect", (f) => times(f.effect), "number"],
    [`${level()} interval`, (f) => `${times(f.low)} to ${times(f.high)}`, "number"]], topic.features)) : null;

addDetail("topic", (k) => {
  const topic = topics[k];
  if (!topic) return missing(`There is no topic ${k}.`);
  const step = (to, text) => (topics[to] ? el("a", { href: `#/topic/${to}` }, text(plain(shortName(to)))) : el("span"));
  const near = topic.nearest.length
    ? el("p", {}, "Nearest: ",
    topic.nearest.map((other, i) =>
    [i ? ", " : "", el("a", { href: `#/topic/${other}` }, name(shortName(other))),
    el("span", { class: "muted" }, ` (${topic.distances[i].toFixed(2)})`)])) : null;
  return {
    title: [dot(k), topicTitle(k)], nav: "topics",
    lead: [`${percent(topic.share)} of the words`,
      topic.coherence === null ? ""
      : `; coherence ${topic.coherence.toFixed(2)} (mean NPMI of its ten top words in these documents)`, ".",
      topic.background ? " A background topic: it is spread over more different words than as many words drawn at "
        + "random from the documents. It has no theme and no coherence, and its top words are arbitrary. To avoid it, "
        + "raise min_df, lower max_df or fix word_prior at 0.01." : "",
      inChains(k) ? ` ${chainsText(topic)}. Another seed may not find it, and its numbers come from `
        + `${topic.chains === 1 ? "one chain" : "these chains"} alone.` : ""],
    body: [
      caution(),
      el("div", { class: "step" }, step(k - 1, (other) => `← ${other}`), el("a", { href: "#/topics" }, "All topics"),
        step(k + 1, (other) => `${other} →`)),
      renameButton(k, "Rename"), namesCard(),
      el("div", { class: "columns" }, topicWords(topic),
        el("div", { class: "stack" }, topicTrends(k), topicLabels(topic), topicFeatures(topic),
        near ? card("On the map", near) : null)),
      topicDocuments(topic),
    ],
  };
});
