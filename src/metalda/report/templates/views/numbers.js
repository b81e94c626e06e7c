// Topics over a number: a panel for each topic, a curve for all documents or for each label of a column.
const over = { number: 0, group: 0, order: "change" };
const readOver = () => { over.number = Math.min(Number(option("number", 0)) || 0, numbers.length - 1);
  over.group = Number(option("lines", 0)) || 0; over.order = oneOf("order", ["change", "number"], "change"); };
const keepOver = () => { setOption("number", over.number, 0); setOption("lines", over.group, 0);
  setOption("order", over.order, "change"); setOption("page", 0, 0); };

const extent = (rows) => { const all = rows.flat().filter((x) => x !== null);
  return all.length ? Math.max(...all) - Math.min(...all) : 0; };
const lineName = (group, i) => (group.column === null ? "all documents" : group.lines[i]);
const shownNumber = (x) => String(Number(x.toPrecision(6)));

function prevalenceChart(number, group, k) {
  const ends = [...group.mean, ...group.high].flatMap((rows) => rows[k]).filter((value) => value !== null);
  const lines = group.mean.map((means, i) => ({ name: group.column === null ? "" : lineName(group, i), values: means[k],
    low: group.low.length ? group.low[i][k] : null, high: group.high.length ? group.high[i][k] : null,
    style: group.column === null ? { stroke: topicColor(k) } : lineStyle(i) }));
  return card([topicLink(k), `${inChains(k)} `, el("span", { class: "muted small" }, named(topWords(k, 4)))],
    lineChart(`Expected proportion of ${shortName(k)} over a number`, { x: number.points, lines,
      xTitle: plain(number.name), showX: shownNumber,
      showY: (y) => (y === null ? "–" : `${Number((100 * y).toFixed(1))}%`),
      range: [0, Math.max(...ends, 0.001) * 1.05] }));
}

// The sentence on the bands, and what is left out.
function bandText(number, group) {
  const given = overview.n_chains > 1 ? `the number of topics, over the matched topics of ${overview.n_chains} chains`
    : "the number of topics and one chain";
  const texts = [group.low.length
    ? `Bands are ${level()} posterior intervals of the expected proportion, given ${given}.`
    : "There are no intervals: see the notes in the overview."];
  if (!group.is_identified) texts.push("No training documents have such labels, so the prior decides some curves.");
  if (group.n_labels > group.lines.length) texts.push(
    `The ${group.lines.length} most frequent of ${group.n_labels.toLocaleString("en")} labels.`);
  if (number.left_out) texts.push(`${count(number.left_out, "label column")} would make the file too large.`);
  return texts.join(" ");
}

if (numbers.length) addView("numbers", "Topics over a number", 35, () => {
  readOver();
  const place = el("div", { class: "stack" }), columns = el("span");
  const show = () => {
    const number = numbers[over.number], group = number.groups[over.group] || number.groups[0];
    const change = topics.map((_, k) => extent(number.groups[0].mean.map((means) => means[k])));
    const own = topics.map((_, k) => k).sort((a, b) => topics[a].background - topics[b].background
      || (over.order === "change" ? change[b] - change[a] : 0) || a - b);
    const key = group.column === null ? null : el("ul", { class: "chips", "aria-label": "Colors" },
      group.lines.map((line, i) => el("li", { class: "chip" },
        el("span", { class: "dot", style: { background: lineStyle(i).stroke } }), name(line))));
    place.replaceChildren(el("p", { class: "muted small" }, bandText(number, group)), ...(key ? [key] : []),
      pages(own.length, 12, (first, last) => el("div", { class: "columns" },
        own.slice(first, last).map((k) => prevalenceChart(number, group, k)))));
  };
  const offer = () => {
    const { groups } = numbers[over.number];
    over.group = Math.min(over.group, groups.length - 1);
    columns.replaceChildren(...(groups.length > 1 ? [choice("Lines", groups.map((group, i) =>
      [i, group.column === null ? "all documents" : `by ${brief(visible(group.column || "label"), 40)}`]), over.group,
    (value) => { over.group = Number(value); keepOver(); show(); })] : []));
  };
  offer();
  show();
  return {
    title: ["Topics over a number"],
    lead: "The proportion of each topic that the model expects in documents with this number. Labels that are not "
      + "shown have their shares in the training documents, and other numbers are average.",
    body: [caution(true), card(null, el("div", { class: "controls" },
      numbers.length > 1 ? choice("Number", numbers.map((number, i) => [i, brief(visible(number.name), 40)]),
        over.number, (value) => { over.number = Number(value); offer(); keepOver(); show(); }) : null,
      columns,
      choice("Order by", [["change", "largest change"], ["number", "topic number"]], over.order,
        (value) => { over.order = value; keepOver(); show(); })), place)],
  };
});
