// Wording: the words that set a group of documents apart from all others, topic by topic.
const worded = { group: 0, order: "different" };
const readWorded = () => { worded.group = Math.min(Number(option("group", 0)) || 0, wording.groups.length - 1);
  worded.order = oneOf("order", ["different", "number"], "different"); };
const keepWorded = () => { setOption("group", worded.group, 0); setOption("order", worded.order, "different");
  setOption("page", 0, 0); };

function wordingCard(k) {
  const own = wording.contrasts[k][worded.group];
  const rows = own.words.map((word, i) => ({ word, effect: own.effect[i], low: own.low[i], high: own.high[i],
    own: own.own[i], others: own.others[i] }));
  const side = (title, chosen) => el("div", {}, el("h3", {}, title), chosen.length ? table([
    ["word", (row) => name(row.word)],
    ["times", (row) => times(row.effect), "number"],
    [`${level()} interval`, (row) => `${times(row.low)} to ${times(row.high)}`, "number"],
    ["in the group", (row) => percent(row.own, 2), "number"],
    ["in all others", (row) => percent(row.others, 2), "number"],
  ], chosen) : el("p", { class: "muted" }, "No words."));
  const link = topicLink(k);
  return card([link, `${inChains(k)} `, el("span", { class: "muted small" }, named(topWords(k, 6)))],
    el("p", { class: "muted small" }, `Concentration ${wording.concentration[k].toLocaleString("en")} `
      + `(90% interval ${wording.low[k].toLocaleString("en")} to ${wording.high[k].toLocaleString("en")}): a word with `
      + `1% of the topic typically differs between two groups by a factor of ${wording.factor[k]}.`),
    el("div", { class: "columns" }, side("Used more", rows.filter((row) => row.effect > 0)),
      side("Used less", rows.filter((row) => row.effect <= 0))));
}

if (wording) addView("wording", "Wording", 37, () => {
  readWorded();
  const place = el("div", { class: "stack" });
  const show = () => {
    const own = topics.map((_, k) => k).sort((a, b) => topics[a].background - topics[b].background
      || (worded.order === "different" ? wording.concentration[a] - wording.concentration[b] : 0) || a - b);
    place.replaceChildren(pages(own.length, 8, (first, last) => el("div", { class: "stack" },
      own.slice(first, last).map(wordingCard))));
  };
  show();
  const left_out = wording.n_groups - wording.groups.length;
  return {
    title: ["Wording by ", name(wording.column)],
    lead: "The words that a group uses more, or less, than all other groups when it writes about a topic: 2× is twice "
      + "as often. The most certain differences come first."
      + (left_out ? ` The ${wording.groups.length} largest of ${wording.n_groups} groups are shown.` : ""),
    body: [caution(), card(null, el("div", { class: "controls" },
      choice("Group", wording.groups.map((group, i) => [i, brief(visible(group), 40)]), worded.group,
        (value) => { worded.group = Number(value); keepWorded(); show(); }),
      choice("Order by", [["different", "most different wording"], ["number", "topic number"]], worded.order,
        (value) => { worded.order = value; keepWorded(); show(); }))), place],
  };
});
