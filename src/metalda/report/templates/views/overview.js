// The overview with the map of topics.
// The most relevant word below each topic, the largest topics first; left out where it would cover another.
function captions({ height, xaxis, yaxis }, size) {
  const width = Math.min(window.innerWidth - 300, 1100), taken = [];
  if (width < 560) return [];
  const across = (t) => (width * (t.x - xaxis.range[0])) / (xaxis.range[1] - xaxis.range[0]);
  const down = (t) => (height * (yaxis.range[1] - t.y)) / (yaxis.range[1] - yaxis.range[0]);
  return [...topics].sort((a, b) => b.share - a.share).flatMap((t) => {
    const text = t.background ? "(background)" : safe(wordName(byRelevance(t, 0.6, 1)[0].word), 16);
    const below = size(t) / 2 + 8, x = across(t),
      y = down(t) + below;
    const onText = taken.some(([u, v, n]) => Math.abs(x - u) < 3.6 * (n + text.length) && Math.abs(y - v) < 14);
    const onTopic = topics.some((other) => other !== t
      && Math.hypot(x - across(other), y - down(other)) < size(other) / 2 + 4);
    if (onText || onTopic) return [];
    taken.push([x, y, text.length]);
    return [{ x: t.x, y: t.y, yshift: -below, text, showarrow: false, font: { size: 11, color: color("muted") } }];
  });
}

function topicMap() {
  const biggest = Math.max(...topics.map((topic) => topic.share)) || 1;
  const size = (topic) => 13 + 37 * Math.sqrt(topic.share / biggest);
  const trace = {
    type: "scatter", mode: "markers+text", x: topics.map((t) => t.x), y: topics.map((t) => t.y),
      text: topics.map((t) => String(t.number)),
    textfont: { size: 12, color: color("ink") },
    marker: { size: topics.map(size), color: faint(color("accent"), 0.22), opacity: 1,
      line: { color: color("accent"), width: 1.2 } },
    hoverinfo: "text",
    hovertext: topics.map((t) =>
      `${t.name}${t.label === null ? "" : `: ${safe(t.label)}`}, `
        + `${percent(t.share)}<br>${topWords(t.number, 6).map((w) => safe(w, 20)).join(", ")}`),
    cliponaxis: false,
  };
  const hidden = { showgrid: false, zeroline: false, showticklabels: false, showline: false };
  const span = (values) => { const [a, b] = [Math.min(...values), Math.max(...values)], room = 0.12 * (b - a) || 1;
    return [a - room, b + room]; };
  const layout = {
    height: window.innerWidth < 600 ? 360 : 470, margin: { l: 5, r: 5, t: 5, b: 5 },
    xaxis: { ...hidden, range: span(topics.map((t) => t.x)) },
      yaxis: { ...hidden, range: span(topics.map((t) => t.y)) },
  };
  layout.annotations = captions(layout, size);
  const behind = () => table([
    ["topic", (t) => topicLink(t.number)], ["share", (t) => percent(t.share), "number"],
    ["nearest topics (distance)",
      (t) => t.nearest.map((k, i) => `${topicName(k)} (${t.distances[i].toFixed(2)})`).join(", ") || "none"],
  ], topics);
  return chart(`Map of ${count(topics.length, "topic")} by the distance of their words`, [trace], layout, behind,
    (point) => { location.hash = `#/topic/${point.pointIndex}`; });
}

addView("overview", "Overview", 10, () => {
  const tiles = [
    [overview.n_topics, "topics"], [overview.documents, "documents"], [overview.tokens, "words"],
    [overview.n_words, "vocabulary"], [overview.n_labels || null, "labels"], [overview.n_features || null, "features"],
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
      el("ul", { class: "tiles" },
        tiles.map(([n, text]) => el("li", {}, el("b", {}, n.toLocaleString("en")), el("span", {}, text)))),
      card("Map of topics",
        el("p", { class: "muted small" },
        "Topics with similar words are close (Jensen–Shannon distance, classical scaling). The area of a circle is "
          + "the topic's share of the words."), topicMap()),
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
            [["model", overview.model], ["sampler's seed", overview.seed], ["intervals", level()],
            ...overview.settings])))),
    ],
  };
});
