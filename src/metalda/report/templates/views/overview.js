// The overview with the map of topics.
// Names of topics on the map, the largest topics first; left out where one would cover another or a circle.
function captions(spots, width, height) {
  const taken = [];
  return [...spots].sort((a, b) => b.t.share - a.t.share).flatMap(({ t, x, y, r }) => {
    const text = plain(shortName(t.number), 26), half = textWidth(text, 11) / 2 + 3;
    const places = [[x, y + r + 10], [x, y - r - 7], [x + r + half + 2, y], [x - r - half - 2, y]];
    const free = places.find(([u, v]) => u - half > 0 && u + half < width && v > 8 && v < height - 8
      && !taken.some(([p, q, h]) => Math.abs(u - p) < half + h && Math.abs(v - q) < 14)
      && !spots.some((other) => other.t !== t && Math.abs(v - other.y) < other.r + 6
        && Math.abs(u - other.x) < other.r + half - 2));
    if (!free) return [];
    taken.push([...free, half]);
    return [textAt(text, ...free, { class: "caption middle" })];
  });
}

function topicMap() {
  const draw = (place, width) => {
    const height = width < 520 ? 360 : 480;
    const most = Math.max(...topics.map((t) => t.share)) || 1;
    // The area of a circle is the share: all circles cover an eighth of the map, unless the largest were too large.
    const unit = Math.min(Math.sqrt((width * height) / 8 / Math.PI), Math.min(width, height) / 9 / Math.sqrt(most));
    const room = unit * Math.sqrt(most) + 20;
    const span = (values) => { const [a, b] = [Math.min(...values), Math.max(...values)];
      return a === b ? [a - 1, b + 1] : [a, b]; };
    const across = linear(span(topics.map((t) => t.x)), [room, width - room]);
    const down = linear(span(topics.map((t) => t.y)), [height - room, room]);
    const spots = topics.map((t) => ({ t, x: across(t.x), y: down(t.y), r: unit * Math.sqrt(t.share) }))
      .sort((a, b) => b.r - a.r);
    const points = spots.map(({ t, x, y, r }) => {
      const k = t.number, lines = [`${shortName(k)} (${t.name})`, `${percent(t.share)} of the words`,
        topWords(k, 6).map((word) => plain(word, 20)).join(", ")].map((line) => plain(line, 120));
      const node = svg("a", { href: `#/topic/${k}`, class: "topic", "aria-label": lines.join(", ") },
        svg("circle", { class: "hit", cx: x, cy: y, r: Math.max(r, 10) }),
        svg("circle", { class: `spot outline-${topicShape(k)}`, cx: x, cy: y, r, style: { fill: topicColor(k),
          stroke: topicColor(k) } }));
      return { node, x, y, lines };
    });
    reach(place, points);
    const numbers = spots.filter(({ r }) => r > 9 || topics.length < 60).map(({ t, x, y }) =>
      textAt(topicNumber(t.number), x, y, { class: "inside middle" }));
    return { height, parts: [points.map(({ node }) => node), numbers, captions(spots, width, height)] };
  };
  return chart(`Map of ${count(topics.length, "topic")} by the distance of their words`, draw, () => [
    ["topic", (t) => topicLink(t.number)], ["share", (t) => percent(t.share), "number"],
    ["nearest topics (distance)",
      (t) => t.nearest.map((k, i) => `${shortName(k)} (${t.distances[i].toFixed(2)})`).join(", ") || "none"],
  ], () => topics);
}

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
      card("Map of topics",
        el("p", { class: "muted small" },
        "Topics with similar words are close (Jensen–Shannon distance, classical scaling). The area of a circle is "
          + "the topic's share of the words. A topic has the same color in all views."), topicMap()),
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
