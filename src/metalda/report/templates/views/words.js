// Words: search, and one word with its topics.
const wordKeys = words.names.map((text) => text.toLowerCase());

function findWords(query) {
  const key = query.trim().toLowerCase(), found = [[], [], []];
  wordKeys.forEach((text, place) => {
    const at = key ? text.indexOf(key) : 1;
    if (at >= 0 && words.probabilities[place] > 0) found[text === key ? 0 : at === 0 ? 1 : 2].push(place);
  });
  return found.flat();
}

const wordTopics = (place) =>
  el("ul", { class: "chips" },
  words.topics[place].map((k, i) => el("li", {}, el("a", { class: "chip", href: `#/topic/${k}` },
  dot(k), name(plain(shortName(k), 26)), el("span", { class: "muted number" }, percent(words.shares[place][i], 0))))));

addView("words", "Words", 40, () => {
  const place = el("div"), status = el("p", { class: "muted small" });
  const show = () => {
    const found = findWords(option("search", ""));
    status.textContent = found.length ? `${count(found.length, "word")}` : "No word of this report matches.";
    say(status.textContent);
    place.replaceChildren(longTable([
      ["word", (word) => wordLink(word)],
        ["per million", (word) => (1e6 * words.probabilities[word]).toLocaleString("en", { maximumFractionDigits: 0 }),
        "number"],
      ["most likely topics", wordTopics, "words"],
    ], found, 25));
  };
  const input = el("input",
    { type: "search", id: "word-search", value: option("search", ""), placeholder: "Search a word",
    "aria-label": "Search a word", oninput: () => { setOption("search", input.value); setOption("page", 0, 0);
      show(); } });
  show();
  return { title: ["Words"], lead: "Search a word to see its most likely topics.",
    body: [card(null, el("div", { class: "controls" }, input), status, place)] };
});

addDetail("word", (place) => {
  if (words.names[place] === undefined) return missing("There is no such word.");
  const body = [];
  if (words.topics[place].length) {
    const rows = words.topics[place].map((k, i) => ({ k, share: words.shares[place][i] }));
    body.push(card("Topics", table([
      ["topic", (row) => topicLink(row.k)], ["", (row) => bar(row.share, 1), "bar slim"],
        ["share", (row) => percent(row.share, 0), "number"], ["words", (row) => named(topWords(row.k, 6)), "words"],
    ], rows)));
  }
  if (docs) {
    const own = docs.ids.map((_, i) => i).filter((i) => docs.words[i].includes(place));
    body.push(card("Documents",
      own.length ? documentList(own, (word) => word === place)
      : el("p", { class: "muted" }, "No document in this report has the word.")));
  }
  const rate = (1e6 * words.probabilities[place]).toLocaleString("en", { maximumFractionDigits: 0 });
  return { title: ["Word ", name(words.names[place])], nav: "words",
    lead: words.probabilities[place] ? `${rate} in a million words, in the whole model.`
    : "An out-of-vocabulary word.", body };
});
