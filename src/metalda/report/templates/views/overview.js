// The overview: sizes, the linked map of topics, notes and settings.
addView("overview", "Overview", 10, () => {
  const tiles = [
    [overview.n_topics, "topics"], [overview.documents, "documents"], [overview.tokens, "words"],
    [overview.n_words, "vocabulary"], [overview.n_labels || null, "labels"],
    [overview.n_numbers || null, "numbers"], [overview.n_features || null, "features"],
    [overview.n_chains > 1 ? overview.n_chains : null, "chains"], [overview.n_iterations, "iterations"],
    [overview.n_draws, overview.n_chains > 1 ? "draws of each chain" : "draws kept"],
  ].filter(([n]) => n !== null);
  const largest = [...topics].sort(backgroundLast((t) => -t.share)).slice(0, 12);
  const most = Math.max(...largest.map((t) => t.share));
  return {
    title: [name(overview.title)],
    lead: `A ${overview.model} trained in `
      + `${overview.seconds < 90 ? `${overview.seconds.toFixed(1)} s` : `${(overview.seconds / 60).toFixed(1)} min`}.`,
    body: [
      caution(true),
      el("ul", { class: "tiles" },
        tiles.map(([n, text]) => el("li", {}, el("b", {}, n.toLocaleString("en")), el("span", {}, text)))),
      linkedTopics(),
      el("div", { class: "columns" },
        el("div", { class: "stack" }, card(topics.length > 12 ? "Largest topics" : "Topics", table([
          ["topic", (t) => topicLink(t.number)], ["share", (t) => percent(t.share), "number"],
            ["", (t) => bar(t.share, most), "bar slim"],
          ["words", (t) => named(topWords(t.number, 5)), "words"],
        ], largest), topics.length > 12
          ? el("p", { class: "small" }, el("a", { href: "#/topics" }, `All ${topics.length} topics`)) : null),
          card("Versions", pairs(overview.versions))),
        el("div", { class: "stack" },
          overview.notes.length
            ? el("section", { class: "card notes" }, el("h2", {}, "Notes"),
            el("ul", {}, overview.notes.map((note) => el("li", {}, note)))) : null,
          card("Settings", pairs(
            [["model", overview.model], ["seed", overview.seed], ["intervals", level()],
            ...overview.settings])))),
    ],
  };
});
