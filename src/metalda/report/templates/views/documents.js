// Documents: search and order, and one document.
// A word of a document, and what stands before it: as written if the corpus has texts.
const shownWord = (i, at) => (docs.written ? docs.written[i][2 * at + 1] : wordName(docs.words[i][at]));
const before = (i, at, most = Infinity) => {
  if (!docs.written) return at < docs.words[i].length ? " " : "";
  const text = straight(docs.written[i][2 * at]), letters = text.length > most ? [...text] : [];
  return letters.length > most
    ? `${letters.slice(0, most / 2).join("")} … ${letters.slice(-most / 2).join("")}` : text;
};

const shownLabels = (i) => docs.labels[i].filter((at) => docs.kind_of[at] >= 0); // without numbers
const labelChips = (i) => (shownLabels(i).length ? el("ul", { class: "chips" }, shownLabels(i).map((at) => {
  const place = docs.label_places[at], text = name(docs.label_names[at]);
  return el("li", {}, place >= 0 ? el("a", { class: "chip", href: `#/label/${place}` }, text)
    : el("span", { class: "chip" }, text));
})) : null);

// Words of a document, some of them marked; consecutive unmarked words share a text node.
function marked(i, isMarked, from, to) {
  const parts = [], longest = 300;
  let run = "";
  for (let at = from; at < to; at++) {
    run += from && at === from ? "" : before(i, at, longest);
    if (isMarked(docs.words[i][at], at, i)) { parts.push(run, el("mark", {}, name(shownWord(i, at)))); run = "";
      } else run += straight(shownWord(i, at));
  }
  return [...parts, run, to === docs.words[i].length ? before(i, to, longest) : ""];
}

// A piece of a document around its first marked word.
function snippet(i, isMarked, length = docs.written ? 25 : 45) {
  const n = docs.words[i].length, found = docs.words[i].findIndex((word, at) => isMarked(word, at, i));
  const from = Math.max(0, Math.min(found - 8, n - length)), to = Math.min(n, from + length);
  return el("p", { class: "snippet", dir: "auto" }, from ? "… " : "", marked(i, isMarked, from, to),
    to < n || docs.is_cut[i] ? " …" : "");
}

const mixture = (i) =>
  el("div", { class: "mixture", role: "img",
  "aria-label": docs.topics[i].slice(0, 4)
    .map((k, r) => `${shortName(k)} ${percent(docs.shares[i][r], 0)}`).join(", ") },
  docs.topics[i].map((k, rank) =>
    el("span", { title: `${shortName(k)} (${topicName(k)}): ${percent(docs.shares[i][rank])}`,
    style: { width: `${100 * docs.shares[i][rank]}%`, background: topicColor(k) } })));

const documentList = (own, isMarked = () => false) =>
  pages(own.length, 10, (first, last) => el("ul", { class: "list" }, own.slice(first, last).map((i) =>
  el("li", {}, el("h3", {}, documentLink(i)), labelChips(i), mixture(i),
    el("p", { class: "small muted" },
      docs.topics[i].slice(0, 3).map((k, rank) => el("span", { class: "entry" },
        topicLink(k), ` ${percent(docs.shares[i][rank], 0)}`))),
    snippet(i, isMarked)))));

// The columns of the file of documents.
const docColumns = () => [["document", (i) => docs.ids[i]], ["number", (i) => String(docs.numbers[i])],
  ...docs.kinds.map((kind, of) => [kind || "labels", (i) => docs.labels[i].filter((at) => docs.kind_of[at] === of)
    .map(docLabel).join("; ")]),
  ["topic", (i) => (docs.topics[i].length ? `${shortName(docs.topics[i][0])} (${topicName(docs.topics[i][0])})` : "")],
  ["share", (i) => String(docs.shares[i][0] ?? "")],
  ...[0, 1].map((at) => ["xy"[at], (i) => (mapPlaces()[i] ? mapPlaces()[i][at].toFixed(4) : "")])];

if (docs) addView("documents", "Documents", 50, () => {
  const place = el("div"), chosen = el("div"), status = el("p", { class: "muted small" });
  const columns = docColumns();
  const show = () => {
    const { state, parts, found, counts } = findDocuments();
    status.textContent = !found.length ? "No document of this report matches."
      : found.length === docs.ids.length ? count(found.length, "document")
      : `${found.length.toLocaleString("en")} of ${count(docs.ids.length, "document")}`;
    say(status.textContent);
    const k = state.sort === "" ? null : Number(state.sort);
    const isMarked = parts.length ? (word) => parts.some((part) => wordKeys[word].includes(part))
      : (_, at, i) => docs.word_topics[i][at] === k;
    chosen.replaceChildren(chosenChips(state, show) || "");
    boxes.forEach(({ update }) => update(counts));
    if (map) map.update(found);
    place.replaceChildren(documentList(found, isMarked), found.length ? downloads(columns, found) : "");
  };
  const input = el("input",
    { type: "search", id: "document-search", value: docState().query, placeholder: "Search words, names and labels",
    "aria-label": "Search documents", oninput: () => { setOption("search", input.value); setOption("page", 0, 0);
      show(); } });
  const orders = [["", "their order in the corpus"],
    ...topics.map((t) => [t.number, `${plain(shortName(t.number), 40)} (${t.name})`])];
  const boxes = facets().map((facet) => facetBox(facet, show));
  const map = topics.length > 1 && docs.ids.length > 1 ? documentMap(show, columns) : null;
  show();
  const sampled = docs.ids.length < docs.n_all;
  const all = boxes.map(({ box }) => box), isWide = window.innerWidth > 1000;
  const filters = !boxes.length ? null : isWide ? el("section", { class: "card facets" }, el("h2", {}, "Filters"), all)
    : el("details", { class: "card facets" }, el("summary", {}, "Filters"), all);
  return {
    title: ["Documents"],
      lead: sampled ? `${docs.ids.length.toLocaleString("en")} of ${docs.n_all.toLocaleString("en")} documents: the `
        + `most typical ones of each topic, and a random sample.` : `All ${docs.n_all.toLocaleString("en")} `
        + `documents, as ${docs.written ? "written" : "the model reads them"}.`,
    body: [el("div", { class: "explore" }, filters, el("div", { class: "stack" }, map ? map.card : null,
      card(null, el("h2", { class: "visually-hidden" }, "Found"), el("div", { class: "controls" }, input,
        choice("Sort by", orders, docState().sort, (value) => { setOption("sort", value); setOption("page", 0, 0);
          show(); })), chosen, status, place)))],
  };
});

addDetail("document", (i) => {
  if (!docs || docs.ids[i] === undefined) return missing("There is no such document.");
  const text = el("p", { class: "text", dir: "auto", style: docs.written ? { whiteSpace: "pre-line" } : {} });
  const show = (only) => text.replaceChildren(...docs.words[i].flatMap((_, at) => {
    const k = docs.word_topics[i][at], tone = docs.topics[i].includes(k) && (only === null || only === k);
    const style = tone ? { borderBottomColor: topicColor(k),
      background: `color-mix(in srgb, ${topicColor(k)} 16%, transparent)` } : {};
    const kind = k < 0 ? "toned unknown" : "toned";
    return [before(i, at), el("span", { class: kind, style, title: k < 0 ? "out-of-vocabulary word" : shortName(k) },
      name(shownWord(i, at)))];
  }), before(i, docs.words[i].length));
  let only = null;
  const buttons = docs.topics[i].map((k) => [k, el("button", { type: "button", "aria-pressed": "false", onclick: () => {
    only = only === k ? null : k;
    for (const [own, button] of buttons) button.setAttribute("aria-pressed", String(own === only));
    show(only);
  } }, dot(k), " ", name(plain(shortName(k), 40)))]);
  show(null);
  const n = docs.words[i].length, rows = docs.topics[i].map((k, r) => ({ k, share: docs.shares[i][r] }));
  return {
    title: [name(docs.ids[i])], nav: "documents",
      lead: `Document ${docs.numbers[i].toLocaleString("en")}, ${count(docs.lengths[i], "word")}.`,
    body: [
      labelChips(i),
      el("div", { class: "columns" },
        card("Words by topic",
          el("div", { class: "controls group", role: "group", "aria-label": "Highlight one topic" },
          buttons.map(([, button]) => button)),
          n || docs.written?.[i][0].trim() ? text : el("p", { class: "muted" }, "The document is empty."),
            docs.is_cut[i] ? el("p", { class: "muted small" }, docs.written ? "The text goes on."
            : `Cut after ${n.toLocaleString("en")} of ${docs.lengths[i].toLocaleString("en")} words.`) : null),
        card("Mixture", mixture(i), table([
          ["topic", (row) => topicLink(row.k)], ["share", (row) => percent(row.share), "number"],
            ["words", (row) => named(topWords(row.k, 5)), "words"],
        ], rows))),
      el("p", {}, el("a", { href: "#/documents" }, "All documents")),
    ],
  };
});
