// The linked overview: a map of the topics, the words of one of them, and labels.
// A topic is active while it is pointed at or has the focus, or else if it is pinned, or else the largest one.
const SIDE_WORDS = 15, SIDE_DOCUMENTS = 3, KIND_CHIPS = 16;

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

// The positions of circles. Their area is the share: all cover an eighth of the map, unless the largest were too large.
function placeTopics(width, top, height) {
  const most = Math.max(...topics.map((t) => t.share)) || 1, large = Math.min(width, height) / 9;
  const unit = Math.min(Math.sqrt((width * height) / 8 / Math.PI), large / Math.sqrt(most));
  const room = unit * Math.sqrt(most) + 20;
  const span = (values) => { const [a, b] = [Math.min(...values), Math.max(...values)];
    return a === b ? [a - 1, b + 1] : [a, b]; };
  const across = linear(span(topics.map((t) => t.x)), [room, width - room]);
  const down = linear(span(topics.map((t) => t.y)), [top + height - room, top + room]);
  return { unit, large, spots: topics.map((t) => ({ t, x: across(t.x), y: down(t.y), r: unit * Math.sqrt(t.share) }))
    .sort((a, b) => b.r - a.r) };
}

function linkedTopics() {
  const known = (key, size) => { const found = option(key, "");
    return /^\d+$/.test(found) && Number(found) < size ? Number(found) : null; };
  const largest = [...topics].sort(backgroundLast((t) => -t.share))[0].number;
  const colors = labels && (hasEffects || hasPrevalence);
  let pinned = known("topic", topics.length), label = colors ? known("label", labels.names.length) : null;
  let pointed = null, focused = null, word = null, drawn = null;
  const active = () => pointed ?? focused ?? pinned ?? largest;
  const side = el("section", { class: "side", "aria-label": "Words of the topic" });
  const explanation = el("p", { class: "muted small" }), chips = colors ? labelButtons(choose) : null;

  const pin = (k) => { pinned = pinned === k ? null : k; setOption("topic", pinned ?? ""); update();
    say(pinned === null ? "Not pinned" : `Pinned ${shortName(k)}`); };
  function choose(j) { label = label === j ? null : j; setOption("label", label ?? ""); update(); }
  const follows = (node, set) => { // a value that lasts while the pointer is on a node, or the focus in it
    node.addEventListener("pointerenter", () => set(true));
    node.addEventListener("pointerleave", () => set(false));
  };

  const effectText = (k) => (label === null ? null : `${plain(labels.names[label], 40)}: ${cellText(label, k)[0]}`);
  const draw = (place, width) => {
    const top = colors ? 26 : 0, height = width < 520 ? 340 : 480;
    const { unit, large, spots } = placeTopics(width, top, height);
    const points = spots.map(({ t, x, y, r }) => {
      const k = t.number, lines = [`${shortName(k)} (${t.name})`, `${percent(t.share)} of the words`,
        topWords(k, 6).map((each) => plain(each, 20)).join(", ")].map((line) => plain(line, 120));
      const spot = svg("circle", { class: `spot outline-${topicShape(k)}`, cx: x, cy: y, r });
      const node = svg("g", { role: "button", class: "topic", "data-topic": k, "aria-label": lines.join(", ") },
        svg("circle", { class: "hit", cx: x, cy: y, r: Math.max(r, 10) }), spot);
      follows(node, (on) => { pointed = on ? k : null; update(); });
      node.addEventListener("click", () => pin(k));
      node.addEventListener("focus", () => { focused = k; update(); });
      node.addEventListener("blur", (event) => { if (side.contains(event.relatedTarget)) return;
        focused = null; update(); });
      node.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && pinned !== null) pin(pinned);
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pin(k);
      });
      const shown = lines.slice(0, width < 520 ? 3 : 2); // wide, the words stand beside the map
      return { node, spot, k, r, x, y, get lines() { return [...shown, effectText(k)]; } };
    });
    reach(place, points);
    const numbers = spots.filter(({ r }) => r > 9 || topics.length < 60).map(({ t, x, y }) =>
      textAt(topicNumber(t.number), x, y, { class: "inside middle" }));
    const legend = svg("g");
    drawn = { points, unit, large, legend, numbers };
    paint();
    return { height: top + height, parts: [legend, points.map(({ node }) => node), numbers,
      captions(spots, width, top + height)] };
  };

  // Circles show p(topic | word) instead of shares, and effects of a label instead of the colors of topics.
  function paint() {
    if (!drawn) return;
    const { points, unit, large, legend, numbers } = drawn, limit = label === null ? null : heatLimit();
    const shares = word === null ? null : new Map(words.topics[word].map((k, i) => [k, words.shares[word][i]]));
    const most = shares ? Math.max(0.01, ...shares.values()) : 1;
    points.forEach(({ node, spot, k, r }) => {
      const tone = label === null ? topicColor(k) : cellColor(label, k, limit);
      spot.setAttribute("r", shares ? Math.max(1.5, Math.min(unit, large / Math.sqrt(most))
        * Math.sqrt(shares.get(k) || 0)) : r);
      Object.assign(spot.style, { fill: tone, stroke: label === null ? tone : "var(--muted)" });
      node.setAttribute("aria-pressed", String(k === pinned));
      node.classList.toggle("active", k === active());
      node.classList.toggle("toned", label !== null || shares !== null);
    });
    numbers.forEach((node) => { node.style.opacity = shares ? 0 : 1; });
    legend.replaceChildren(...(label === null ? [] : heatLegend(limit).flat()));
  }

  let listed = null;
  function update() {
    paint();
    const k = side.querySelector(".renaming") ? listed : active();
    if (listed !== k) { listed = k; word = null;
      side.replaceChildren(...topicSide(k, (place) => { word = place; paint(); explain(); })); }
    side.querySelector(".pin").setAttribute("aria-pressed", String(k === pinned));
    side.querySelector(".pin").onclick = () => pin(k);
    if (chips) chips.show(label, k);
    explain();
  }
  function explain() {
    const area = word === null ? "the topic's share of the words" : ["the probability of the topic, given the word ",
      name(wordName(word))];
    const color = label === null ? "A topic has the same color in all views." : ["The color is the ",
      hasEffects ? "effect" : "share", " of the label ", name(labels.names[label]),
      hasEffects ? "; gray where its interval contains no effect." : "."];
    explanation.replaceChildren(...[
      "Topics with similar words are close (Jensen–Shannon distance, classical scaling). The area of a circle is ",
      area, ". ", color].flat());
  }
  const map = chart(`Map of ${count(topics.length, "topic")} by the distance of their words`, draw, () => [
    ["topic", (t) => topicLink(t.number)], ["share", (t) => percent(t.share), "number"],
    ["nearest topics (distance)",
      (t) => t.nearest.map((k, i) => `${shortName(k)} (${t.distances[i].toFixed(2)})`).join(", ") || "none"],
  ], () => topics);
  update();
  return card("Map of topics", explanation, el("div", { class: "linked" }, map, side, chips?.node));
}

// The words of a topic beside the map, and documents; `point` is called with the word that is pointed at, or null.
function topicSide(k, point) {
  const topic = topics[k], place = el("div");
  const show = (own) => {
    const rows = byRelevance(topic, own, SIDE_WORDS), most = Math.max(...rows.map((row) => Math.max(row.p,
      row.overall)));
    place.replaceChildren(table([["word", (row) => wordLink(row.word)],
      ["", (row) => bar(row.p, most, row.overall, topicColor(k)), "bar"],
      ["probability", (row) => percent(row.p, row.p < 0.0095 ? 2 : 1), "number"]], rows));
    place.querySelectorAll("tbody tr").forEach((row, i) => {
      for (const [event, found] of [["pointerenter", rows[i].word], ["pointerleave", null], ["focusin", rows[i].word],
        ["focusout", null]]) row.addEventListener(event, () => point(found));
    });
  };
  const controls = lambdaControls(show);
  return [
    el("div", { class: "title" }, el("h3", {}, topicLink(k)),
      el("span", { class: "group" }, renameButton(k),
        el("button", { type: "button", class: "pin quiet", "aria-label": "Pin this topic" }, "Pin"))),
    el("p", { class: "muted small" }, `${percent(topic.share)} of the words${inChains(k)}. The line marks the `
      + "probability in the whole model. Point to a word to see its topics on the map."),
    controls, place,
    docs && topic.documents.length ? el("div", {}, el("h3", {}, "Most typical documents"), el("ul", { class: "list" },
      topic.documents.slice(0, SIDE_DOCUMENTS).map((i, at) => el("li", {}, documentLink(i), " ",
        el("span", { class: "muted number small" }, percent(topic.document_shares[at], 0)),
        snippet(i, (_, spot) => docs.word_topics[i][spot] === k, 12))))) : null].filter(Boolean);
}

// Labels as buttons, the largest of each kind, with a dot that shows the effect on a topic; others in a list.
function labelButtons(choose) {
  const size = (a, b) => labels.sizes[b] - labels.sizes[a];
  const blocks = heatBlocks({ order: "size", all: true }, new Map(topics.map((_, k) => [k, k])));
  const shown = blocks.map(({ kind, own }) => { const kept = new Set([...own].sort(size).slice(0, KIND_CHIPS));
    return { kind, own: own.filter((j) => kept.has(j)) }; });
  const buttons = new Map(shown.flatMap(({ own }) => own.map((j) => [j, el("button", { type: "button", class: "chip",
    onclick: () => choose(j) }, el("span", { class: "dot", "aria-hidden": "true" }),
  name(plain(labelShort(j), 30)))])));
  const others = ALL_LABELS.filter((j) => !buttons.has(j)).map((j) => [j, plain(labels.names[j], 40)]);
  const rest = others.length ? choice("Another label", [["", "…"], ...others], "",
    (value) => choose(value === "" ? null : Number(value))) : null;
  const node = el("div", { class: "labels screen" }, el("h3", {}, "Labels"), el("p", { class: "muted small" },
    hasEffects ? "A label colors the map by its effects. Its dot is its effect on the topic whose words are shown."
      : "A label colors the map by the shares of topics in its documents."),
  shown.map(({ kind, own }) => el("div", { class: "chips", role: "group", "aria-label": kind || "Labels" },
    kind && blocks.length > 1 ? el("span", { class: "small muted" }, name(plain(kind, 40))) : null,
    own.map((j) => buttons.get(j)))), rest ? el("div", { class: "controls" }, rest) : null);
  const show = (label, k) => {
    const limit = heatLimit();
    for (const [j, button] of buttons) {
      button.setAttribute("aria-pressed", String(j === label));
      button.querySelector(".dot").style.background = cellColor(j, k, limit);
    }
    if (rest) rest.querySelector("select").value = label === null || buttons.has(label) ? "" : label;
  };
  return { node, show };
}
