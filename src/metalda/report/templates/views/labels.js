// Labels: all labels, one label, and the contrast of two sets.
const effectRow = (k, row) =>
  ({ ...row, title: `${shortName(k)} (${topicName(k)})`, note: inChains(k).trim(), href: `#/topic/${k}`,
    link: () => [topicLink(k), `${inChains(k)} `, named(topWords(k, 4))] });

// Two sets of labels, each a row of choices; the last of a row adds a label.
function pickContrast(first, second) {
  const sides = [[...first], [...second]];
  const go = () => { location.hash = `#/contrast/${sides.map((own) => own.join("+")).join("/")}`; };
  const options = labels.names.map((title, j) => [j, plain(title, 40)]);
  const side = (own, title) => el("div", { class: "group" }, [...own, null].map((j, i) =>
    (i && own.length >= labels.names.length ? null
    : choice(i ? "and" : title, i ? [["", j === null ? "…" : "(remove)"], ...options] : options, j ?? "", (value) => {
      if (value === "") own.splice(i, 1); else own[i] = Number(value);
      own.splice(0, own.length, ...new Set(own));
      go();
    }))));
  return el("div", { class: "controls" }, side(sides[0], "What sets"), side(sides[1], "apart from"),
    el("button", { type: "button", onclick: go }, "Compare"));
}

function poolingTable() {
  const columns = [["column", (row) => name(row[0] || "(all labels)")],
    ["labels", (row) => row[1].toLocaleString("en"), "number"],
    ["scale", (row) => `${row[2].toFixed(2)} (${row[3].toFixed(2)} to ${row[4].toFixed(2)})`, "number"]];
  return [el("p", { class: "muted small" }, "The learned standard deviation of log weights, with a 90% interval. At 0.7"
    + " a typical label doubles or halves the weight of a topic. Near 0 the labels of the column do not matter."),
  table(columns, labels.pooling)];
}

// The options of the heat map, which are part of the address; `show` draws it, `enter` shows the topics of a group.
function heatControls(show, enter) {
  const options = heatOptions();
  const keep = (key, usual) => (value) => { setOption(key, value, usual); show(); };
  const shown = el("output", { class: "number" }, String(options.groups)), inside = el("span");
  const slider = el("input", { type: "range", id: "groups", min: 1, max: Math.min(topics.length, 60), step: 1,
    value: options.groups, oninput: () => { shown.textContent = slider.value;
      setOption("branch", ""); keep("groups", usualGroups())(slider.value); offer(); } });
  // The groups of the cut, to look into one of them.
  const offer = () => {
    const { groups, branch, columns } = heatOptions();
    const own = heatGroups(groups).filter(({ size }) => size > 1).map(({ node, text }) => [String(node), text]);
    const under = branch === "" ? null : topicsUnder(branch); // a group of another cut
    if (under && !own.some(([node]) => node === branch)) own.push([branch, count(under.length, "topic")]);
    inside.replaceChildren(...((groups > 1 || under) && columns === "words" ? [choice("Look into",
      [["", "all topics"], ...own], branch, enter)] : []));
  };
  offer();
  const certain = el("input", { type: "checkbox", checked: options.certain,
    onchange: () => keep("certain", "")(certain.checked ? "yes" : "") });
  return { offer, node: el("div", { class: "controls" }, hasEffects ? pickScale(show) : null,
    labels.names.length > MANY_LABELS ? choice("Show", [["", `the ${MANY_LABELS} largest`],
      ["all", `all ${labels.names.length}`]], options.all ? "all" : "", keep("show", "")) : null,
    choice("Order by", [["topic", "strongest topic"], ["size", "size"], ["name", "name"]], options.order,
      keep("order", "topic")),
    choice("Topics by", [["words", "similar words"], ["number", "number"], ["share", "share"]], options.columns,
      (value) => { keep("columns", "words")(value); offer(); }),
    topics.length > 2 ? el("label", { for: "groups" }, "Groups", slider, shown) : null, inside,
    hasEffects ? el("label", {}, certain, "only certain effects") : null) };
}

if (labels) addView("labels", "Labels", 30, () => {
  const place = el("div"), panel = el("div", { class: "drawer" });
  const open = (j, k) => { setOption("cell", `${j}.${k}`);
    panel.replaceChildren(cellPanel(j, k, () => { setOption("cell", ""); panel.replaceChildren();
      place.querySelector(".cursor").focus(); })); };
  const show = () => place.replaceChildren(heatMap(open, enter));
  const hasHeat = hasEffects || hasPrevalence;
  const enter = (node) => { setOption("branch", node); show(); controls.offer(); };
  const controls = hasHeat ? heatControls(show, enter) : null;
  if (hasHeat) show();
  const [j, k] = option("cell", "").split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : -1));
  if (hasHeat && labels.names[j] !== undefined && topics[k]) open(j, k);
  const bySize = labels.names.map((_, at) => at).sort((a, b) => labels.sizes[b] - labels.sizes[a]);
  const largest = bySize.find((at) => kindOf(at) !== "numbers") ?? bySize[0];
  const strongest = (at) => { const row = labels.prevalence[at], known = row.filter((x) => x !== null);
    return known.length ? row.indexOf(Math.max(...known)) : null; };
  const topicOf = (at) => [topicLink(at), " ", el("span", { class: "muted" }, named(topWords(at, 4)))];
  const columns = [["label", (at) => labelLink(at)],
    ["documents", (at) => labels.sizes[at].toLocaleString("en"), "number"]];
  if (hasEffects) columns.push(["certainly raises most", (at) => (raises(at) === null
    ? el("span", { class: "muted" }, "nothing certain") : topicOf(raises(at))), "words"]);
  else if (hasPrevalence) columns.push(["largest share",
    (at) => (strongest(at) === null ? "unknown" : topicOf(strongest(at))), "words"]);
  return {
    title: ["Labels"],
    lead: hasEffects ? "The effect of each label on each topic, compared with other labels of its kind, or with "
      + "documents without it: warm colors increase, cool colors decrease, and faint cells are uncertain, because "
      + "their interval contains no effect. Choose a cell for its interval and documents."
      : "The topics of the documents of each label.",
    body: [
      hasEffects ? caution(true) : null,
      hasHeat ? card(hasEffects ? "Effects" : "Mean share of topics", controls.node, place, panel) : null,
      drawn && labels.names.length > 1 ? contrastCard([largest], [otherOf(largest)]) : null,
      labels.pooling.length ? card("How much each column matters", poolingTable()) : null,
      card("All labels", longTable(columns, bySize, 25)),
    ],
  };
});
const contrastCard = (first, second) => el("section", { class: "card screen" }, el("h2", {}, "Contrast"),
  pickContrast(first, second));

// The largest other label of the same kind, to compare with.
const otherOf = (j) => labels.names.map((_, other) => other).filter((other) => other !== j).sort((a, b) =>
  (kindOf(b) === kindOf(j)) - (kindOf(a) === kindOf(j)) || labels.sizes[b] - labels.sizes[a])[0];

addDetail("label", (j) => {
  if (!labels || labels.names[j] === undefined) return missing("There is no such label.");
  const body = [];
  if (hasEffects) {
    const place = el("div");
    const show = () => {
      const rows = topics.map((_, k) => effectRow(k, cell(j, k))).filter((row) => row.effect !== null);
      rows.sort((a, b) => sure(b) - sure(a));
      const own = rows.slice(0, 20).sort((a, b) => b.effect - a.effect);
      place.replaceChildren(el("p", { class: "muted small" }, rows.length
        ? `${rows.length > 20 ? "The 20 topics with the clearest effects. " : ""}${scales[scale].means}, with `
          + `${level()} intervals; gray where they contain no effect.`
        : "The documents do not identify these effects: the label is in every document, or only occurs together with "
          + "others."),
      rows.length ? forest("Effects of this label on topics", own, "topic", scales[scale]) : "");
    };
    const controls = el("div", { class: "controls" }, pickScale(show));
    show();
    body.push(caution(true), card("Effects on topics", controls, place));
  }
  const expects = hasEffects && labels.proportion[j][0] !== null; // numeric columns have no documents of their own
  const shares = expects ? labels.proportion[j] : labels.prevalence[j];
  if (shares && shares[0] !== null) {
    const rows = topics.map((_, k) => k).sort((a, b) => shares[b] - shares[a]).slice(0, 12), most = shares[rows[0]];
    const columns = [["topic", (k) => [topicLink(k), inChains(k)]], ["", (k) => bar(shares[k], most), "bar slim"]];
    if (expects) columns.push(["expected", (k) => percent(shares[k]), "number"],
      [`${level()} interval`,
      (k) => `${percent(labels.proportion_low[j][k])} to ${percent(labels.proportion_high[j][k])}`, "number"]);
    if (hasPrevalence) columns.push(["observed", (k) => percent(labels.prevalence[j][k]), "number"]);
    columns.push(["words", (k) => named(topWords(k, 5)), "words"]);
    const text = [expects ? "Expected: by the prior, in documents with the label." : "",
      hasPrevalence ? "Observed: mean over the documents with the label." : ""].join(" ");
    body.push(
      card("Topics of the documents with this label", el("p", { class: "muted small" }, text), table(columns, rows)));
  }
  if (drawn && labels.names.length > 1) body.push(contrastCard([j], [otherOf(j)]));
  if (docs) {
    const own = docs.ids.map((_, i) => i).filter((i) => docs.labels[i].some((at) => docs.label_places[at] === j));
    if (own.length) body.push(
      card("Documents", el("p", { class: "muted small" }, `${count(own.length, "document")} of those in this report.`),
      documentList(own)));
  }
  return { title: ["Label ", name(labels.names[j])], nav: "labels", lead: `In ${count(labels.sizes[j], "document")}.`,
    body };
});

const setName = (own) => own.flatMap((j, i) => (i ? [" + ", name(labels.names[j])] : [name(labels.names[j])]));
addDetail("contrast", (a, b) => {
  const [first, second] = [[a].flat(), [b].flat()];
  if (!drawn || ![...first, ...second].every((j) => labels.names[j] !== undefined))
    return missing("There is no such contrast.");
  const alone = [first.filter((j) => !second.includes(j)), second.filter((j) => !first.includes(j))];
  const rows = contrast(...alone).map((row) => effectRow(row.topic, row));
  rows.sort((x, y) => sure(y) - sure(x));
  const shown = rows.slice(0, 20).sort((x, y) => y.effect - x.effect);
  const unlike = alone.flat().length ? null : "Choose two different sets of labels.";
  const unknown = isIdentified(...alone) ? null : "The training documents do not identify this contrast. Compare sets "
    + "that differ in labels of one kind.";
  return {
    title: ["What sets ", setName(first), " apart from ", setName(second), "?"], nav: "labels",
    lead: [`How many times the weight of each topic is larger with the first labels than with the second, draw by `
      + `draw, with ${level()} intervals. To the right: more with `, setName(first), "."],
    body: [caution(true), card(null, pickContrast(first, second), unlike || unknown ? el("p", {}, unlike || unknown)
      : forest("Difference of the effects of two sets of labels on topics", shown, "topic",
        { ...scales.times, axis: "the topic's weight is larger by a factor of" }),
      labels.is_approximate
        ? el("p", {}, "Contrasts of merged topics are approximate here; label_contrasts is exact.") : null),
    el("p", {}, [...first, ...second].map((j, i) => [i ? " · " : "", labelLink(j)]))],
  };
});

// The documents of a label that have a topic.
addDetail("cell", (j, k) => {
  if (!labels || labels.names[j] === undefined || !topics[k]) return missing("There is no such label or topic.");
  const found = cellDocuments(j, k).map(([i]) => i), text = cellText(j, k).join("; ");
  const isMarked = (_, at, i) => docs.word_topics[i][at] === k;
  return { title: [dot(k), topicTitle(k), " in ", name(labels.names[j])], nav: "labels", lead: text ? `${text}.` : null,
    body: [hasEffects ? caution(true) : null, el("p", {}, labelLink(j), " · ", topicLink(k)), card("Documents",
      el("p", { class: "muted small" }, `${count(found.length, "document")} of this report with the label and the `
        + "topic; the largest shares come first."), documentList(found, isMarked))] };
});
