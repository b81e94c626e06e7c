// The documents that are found: by a search, by facets (their largest topic, and each kind of label) and by an area of
// the map. All choices are in the address.
const MOST_VALUES = 100; // of a facet that are listed at a time; a search finds the others
const MANY_VALUES = 12; // from here on a facet has a search
const numbersIn = (key) => new Set(option(key, "").split(".").filter((part) => /^\d+$/.test(part)).map(Number));
const docState = () => {
  const corners = option("area", "").split("_").map(Number);
  return { query: option("search", ""), sort: oneOf("sort", topics.map((t) => String(t.number)), ""),
    topic: numbersIn("topic"), label: numbersIn("label"),
    area: corners.length === 4 && corners.every(Number.isFinite) ? corners : null };
};
function setChosen(key, values) {
  setOption(key, [...values].sort((a, b) => a - b).join("."));
  setOption("page", 0, 0);
}

// A label of a document without the name of its kind.
const docLabel = (at) => { const kind = docs.kinds[docs.kind_of[at]], own = docs.label_names[at];
  return kind && own.startsWith(`${kind}=`) ? own.slice(kind.length + 1) : own; };

// { key, option, title, of, values }: `of` are the values of a document, and `values` those of all, the most frequent
// first unless they have an order.
let allFacets = null;
function facets() {
  if (allFacets) return allFacets;
  const found = [{ key: "topic", option: "topic", title: "Largest topic", of: (i) => docs.topics[i].slice(0, 1),
    text: shortName, show: (k) => [dot(k), name(shortName(k))], rank: () => null }];
  docs.kinds.forEach((kind, of) => found.push({ key: `label ${of}`, option: "label", title: kind || "Label",
    of: (i) => docs.labels[i].filter((at) => docs.kind_of[at] === of), text: docLabel, show: (at) => name(docLabel(at)),
    rank: (at) => (docs.label_places[at] < 0 ? null : labels.ranks[docs.label_places[at]]) }));
  for (const facet of found) {
    const sizes = new Map();
    docs.ids.forEach((_, i) => facet.of(i).forEach((value) => sizes.set(value, (sizes.get(value) || 0) + 1)));
    facet.sizes = sizes;
    facet.isOrdered = [...sizes.keys()].every((value) => facet.rank(value) !== null);
    facet.values = [...sizes.keys()].sort((a, b) => (facet.isOrdered ? facet.rank(a) - facet.rank(b)
      : sizes.get(b) - sizes.get(a) || a - b));
  }
  return (allFacets = found.filter((facet) => facet.values.length > 1));
}
const chosenOf = (facet, state) => facet.values.filter((value) => state[facet.option].has(value));

let docTexts = null;
const docText = (i) =>
  [docs.ids[i], ...docs.labels[i].map((at) => docs.label_names[at]),
  ...(docs.written ? [docs.written[i].join("")] : docs.words[i].map(wordName))].join(" ").toLowerCase();

// The documents that pass all tests, in their order; and for each facet how many there would be of each value if
// nothing were chosen in it.
function findDocuments() {
  const state = docState(), parts = state.query.toLowerCase().split(/\s+/).filter(Boolean), tests = [];
  if (parts.length) {
    docTexts ??= docs.ids.map((_, i) => docText(i));
    tests.push({ key: "search", passes: (i) => parts.every((part) => docTexts[i].includes(part)) });
  }
  if (state.area) tests.push({ key: "area", passes: (i) => isInside(state.area, mapPlaces()[i]) });
  for (const facet of facets()) {
    const chosen = new Set(chosenOf(facet, state));
    if (chosen.size) tests.push({ key: facet.key, passes: (i) => facet.of(i).some((value) => chosen.has(value)) });
  }
  const found = [], counts = new Map(facets().map(({ key }) => [key, new Map()]));
  docs.ids.forEach((_, i) => {
    const failed = tests.filter(({ passes }) => !passes(i));
    if (!failed.length) found.push(i);
    if (failed.length < 2) for (const { key, of } of facets()) if (failed.every((test) => test.key === key))
      for (const value of of(i)) counts.get(key).set(value, (counts.get(key).get(value) || 0) + 1);
  });
  if (state.sort !== "") {
    const k = Number(state.sort),
      share = (i) => { const at = docs.topics[i].indexOf(k); return at < 0 ? 0 : docs.shares[i][at]; };
    found.sort((a, b) => share(b) - share(a) || a - b);
  }
  return { state, parts, found, counts };
}

// The choices of a facet, with counts that `update` changes.
function facetBox(facet, changed) {
  const list = el("ul"), shown = new Map();
  let counts = new Map();
  const tell = (value) => { const { box, number } = shown.get(value), n = counts.get(value) || 0;
    box.checked = docState()[facet.option].has(value);
    number.textContent = n.toLocaleString("en");
    box.parentElement.classList.toggle("none", !n && !box.checked); };
  const toggle = (value, isChosen) => { const chosen = docState()[facet.option];
    if (isChosen) chosen.add(value); else chosen.delete(value);
    setChosen(facet.option, chosen);
    changed(); };
  const fill = (query) => {
    const own = facet.values.filter((value) => facet.text(value).toLowerCase().includes(query));
    shown.clear();
    list.replaceChildren(...own.slice(0, MOST_VALUES).map((value) => {
      const box = el("input", { type: "checkbox", onchange: () => toggle(value, box.checked) });
      const number = el("span", { class: "number muted" });
      shown.set(value, { box, number });
      return el("li", {}, el("label", {}, box, el("span", { class: "value" }, facet.show(value)), number));
    }), own.length > MOST_VALUES ? el("li", { class: "muted small" }, `and ${own.length - MOST_VALUES} more`)
      : own.length ? "" : el("li", { class: "muted small" }, "No value matches."));
    shown.forEach((_, value) => tell(value));
  };
  const search = facet.values.length > MANY_VALUES ? el("input", { type: "search", class: "find",
    placeholder: `Find among ${facet.values.length.toLocaleString("en")}`, "aria-label": `Find: ${plain(facet.title)}`,
    oninput: () => fill(search.value.toLowerCase()) }) : null;
  fill("");
  return { box: el("fieldset", { class: "facet" }, el("legend", {}, name(facet.title)), search, list),
    update: (found) => { counts = found.get(facet.key); shown.forEach((_, value) => tell(value)); } };
}

// What is chosen, each with a button that removes it.
function chosenChips(state, changed) {
  const chip = (text, remove) => el("li", {}, el("button", { type: "button", class: "chip remove",
    onclick: () => { remove(); changed(); } }, el("span", { class: "visually-hidden" }, "Remove "), text, " ",
  el("span", { "aria-hidden": "true" }, "×")));
  const of = facets().flatMap((facet) => chosenOf(facet, state).map((value) => chip(facet.show(value), () => {
    const chosen = docState()[facet.option];
    chosen.delete(value);
    setChosen(facet.option, chosen);
  })));
  if (state.area) of.push(chip("area of the map", () => setChosen("area", [])));
  return of.length ? el("ul", { class: "chips", "aria-label": "Chosen" }, of) : null;
}
