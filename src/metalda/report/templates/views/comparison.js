// The comparison of models.
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
      lead: "Which topics of the first model the others have too.",
    body: [
      card("Models", table(measures, comparison),
        el("p", { class: "muted small" },
        "The log-likelihood is that of the last iteration, on the training words; it does not measure how well new "
          + "documents are predicted.")),
      ribbonCard(first, others),
      card("Matched topics", el("p", { class: "muted small" }, "Matched one to one by their words (smallest sum of "
        + "Jensen–Shannon distances); the most similar pairs first."), table(columns, rows)),
      alone.length ? card("Topics without a partner",
        table([["model", ([model]) => name(model.name)],
        ["topic", ([, t]) => [name(t.title), " ", el("span", { class: "second" }, t.name)]],
        ["share", ([, t]) => percent(t.share), "number"], ["words", ([, t]) => named(t.words)]], alone)) : null,
    ],
  };
});
