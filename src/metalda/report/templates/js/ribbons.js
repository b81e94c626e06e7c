// Ribbons between the topics of two models: which recur, and which are similar.
const MOST_ALONE = 60; // topics of a model; larger ones have no room for topics without a ribbon
const recurs = (model, i, j) => model.recurring.some(([a, b]) => a === i && b === j);
const otherTitle = (model, j) => `${visible(model.topics[j].title)} (${model.topics[j].name})`;
const recurText = (model) => `${model.recurring.length.toLocaleString("en")} of ${count(topics.length, "topic")} `
  + `recur${topics.length === 1 && model.recurring.length === 1 ? "s" : ""}`;

// The ribbons [topic, other topic, similarity] of a topic of the first model (side 0), or of the other (1).
const ribbonsOf = (model, side, k) => model.links.filter((link) => link[side] === k);
const isDrawn = (model, side, k) => [topics, model.topics][side].length <= MOST_ALONE
  || ribbonsOf(model, side, k).length > 0;

// The topics of both sides from above: similar ones next to each other, and opposite those to which ribbons lead.
function ribbonOrder(model) {
  const left = tree.order.filter((k) => isDrawn(model, 0, k));
  const opposite = (k) => { const own = ribbonsOf(model, 1, k), total = own.reduce((sum, link) => sum + link[2], 0);
    return own.reduce((sum, [i, , similarity]) => sum + similarity * left.indexOf(i), 0) / total; };
  const place = new Map(model.topics.map((t) => [t.number, ribbonsOf(model, 1, t.number).length ? opposite(t.number)
    : left.length]));
  const right = model.topics.map((t) => t.number).filter((k) => isDrawn(model, 1, k));
  return [left, right.sort((a, b) => place.get(a) - place.get(b) || a - b)];
}

// The blocks { y, high } of topics below each other; each has room for its name, and the rest is given by shares.
function ribbonBlocks(order, own, height) {
  const least = 9, gap = 3, room = height - (least + gap) * order.length, blocks = new Map();
  const total = order.reduce((sum, k) => sum + own[k].share, 0) || 1;
  let y = 0;
  for (const k of order) {
    const high = least + (room * own[k].share) / total;
    blocks.set(k, { y, high });
    y += high + gap;
  }
  return blocks;
}

// Where a ribbon ends at a block: a more similar topic has a larger part, and ribbons come in the order of their other
// ends.
function ribbonEnd(model, side, link, block, others) {
  const own = ribbonsOf(model, side, link[side]), weight = (each) => each[2] ** 4;
  const total = own.reduce((sum, each) => sum + weight(each), 0), place = others.indexOf(link[1 - side]);
  const above = own.filter((each) => others.indexOf(each[1 - side]) < place)
    .reduce((sum, each) => sum + weight(each), 0);
  return [block.y + (block.high * above) / total, (block.high * weight(link)) / total];
}

function ribbons(first, model) {
  const order = ribbonOrder(model), sides = [topics, model.topics];
  const draw = (place, width) => {
    const most = width < 520 ? 14 : 34, n = Math.max(...order.map((own) => own.length)), wide = 10;
    const height = 12 * n + Math.max(120, 6 * n);
    const titles = [order[0].map((k) => plain(shortName(k), most)),
      order[1].map((k) => plain(visible(model.topics[k].title), most))];
    const margins = titles.map((own) => Math.min(width * 0.36, 12 + Math.max(...own.map((title) =>
      textWidth(title, 11)))));
    const blocks = order.map((own, side) => ribbonBlocks(own, sides[side], height));
    const starts = [margins[0], width - margins[1] - wide], [x1, x2] = [starts[0] + wide, starts[1]];
    const middle = (x1 + x2) / 2;
    const marks = model.links.map((link) => {
      const [i, j, similarity] = link, isSame = recurs(model, i, j);
      const [[y1, h1], [y2, h2]] = [0, 1].map((side) => ribbonEnd(model, side, link, blocks[side].get(link[side]),
        order[1 - side]));
      const lines = [`${plain(shortName(i), 60)} – ${plain(otherTitle(model, j), 60)}`,
        `similarity ${similarity.toFixed(2)}${isSame ? ": recurs" : ""}`];
      const node = svg("a", { href: `#/topic/${i}`, class: "ribbon-link", "aria-label": lines.join(", ") },
        svg("path", { class: `ribbon ${isSame ? "same" : ""}`, style: { fill: topicColor(i) },
          d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}v${h2}C${middle} ${y2 + h2} ${middle} ${y1 + h1} `
            + `${x1} ${y1 + h1}z` }));
      return { node, x: middle, y: (y1 + h1 / 2 + y2 + h2 / 2) / 2, lines, isSame };
    });
    reach(place, marks);
    const colors = [(k) => (ribbonsOf(model, 0, k).length ? topicColor(k) : "var(--rest)"), (k) => {
      const same = model.recurring.find((pair) => pair[1] === k);
      return same ? topicColor(same[0]) : "var(--rest)"; }];
    const ends = order.map((own, side) => own.map((k, at) => {
      const { y, high } = blocks[side].get(k), x = starts[side];
      const text = textAt(titles[side][at], side ? x + wide + 6 : x - 6, y + high / 2,
        { class: side ? "tick" : "tick end" });
      return [svg("rect", { x, y, width: wide, height: high, style: { fill: colors[side](k) } }),
        side ? text : svg("a", { href: `#/topic/${k}`, tabindex: -1 }, text)];
    }));
    const nodes = [...marks].sort((a, b) => a.isSame - b.isSame).map(({ node }) => node);
    return { height: height + 4, parts: [nodes, ends] };
  };
  const columns = [[plain(first.name), ([i]) => topicLink(i)],
    [plain(model.name), ([, j]) => name(otherTitle(model, j))],
    ["similarity", ([, , similarity]) => similarity.toFixed(2), "number"],
    ["recurs", ([i, j]) => (recurs(model, i, j) ? "yes" : "no")]];
  return chart(`Ribbons between the topics of two models: ${recurText(model)}`, draw, () => columns,
    () => [...model.links].sort((a, b) => b[2] - a[2]));
}

// The topics that recur in each other model, and ribbons to one of them.
function ribbonCard(first, others) {
  const place = el("div"), which = () => Number(oneOf("with", others.map((_, i) => String(i)), "0"));
  const show = () => {
    const model = others[which()];
    const left = [topics, model.topics].map((own, side) => own.filter((t) => !isDrawn(model, side, t.number)).length);
    const those = [first, model].map((own, side) => `${count(left[side], "topic")} of ${visible(own.name)}`);
    place.replaceChildren(model.links.length ? ribbons(first, model)
      : el("p", {}, "No topics are similar enough for a ribbon."),
    left[0] + left[1] ? el("p", { class: "muted small" }, "Not drawn, because they have no ribbon: ",
      those.join(" and "), ".") : "");
  };
  show();
  return card("Topics that recur",
    others.map((model) => el("p", {}, el("b", {}, `${recurText(model)} in `, name(model.name)), ".")),
    el("p", { class: "muted small" }, "A topic recurs if each of the two is the most similar to the other, with a "
      + "similarity of 0.8 or more (Bhattacharyya coefficient of the words). Strong ribbons join topics that recur, "
      + "faint ones topics with a similarity of 0.6 or more. Gray topics have none like them in the other model. "
      + "Topics with a larger share are higher."),
    others.length > 1 ? el("div", { class: "controls" }, choice("Compare with", others.map((model, i) =>
      [i, plain(model.name, 40)]), which(), (value) => { setOption("with", value, "0"); show(); })) : null, place);
}
