// The heat map of labels and topics: a block for each kind of label, topics clustered by their words.
const MANY_LABELS = 80, STEPS = 10; // labels that are shown at first; shades of a color
const heatOptions = () => ({
  order: oneOf("order", ["topic", "size", "name"], "topic"), all: option("show", "") === "all",
  certain: option("certain", "") === "yes", columns: oneOf("columns", ["words", "number", "share"], "words"),
  groups: Math.max(1, Math.min(Math.round(Number(option("groups", usualGroups()))) || 1, topics.length)),
  branch: option("columns", "words") === "words" && /^\d+$/.test(option("branch", "")) ? option("branch", "") : "",
});
const usualGroups = () => (topics.length > 40 ? 20 : 1);
const heatValue = (j, k) => (hasEffects ? cell(j, k).effect : labels.prevalence[j][k]);

// A label without the name of its kind; numbers, one to a kind, share a block.
const kindOf = (j) => { const kind = labels.kinds[labels.kind_of[j]];
  return kind === labels.names[j] ? "numbers" : kind; };
const labelShort = (j) => { const kind = kindOf(j), own = labels.names[j];
  return own.startsWith(`${kind}=`) ? own.slice(kind.length + 1) : own; };

// Blocks [{ kind, own }] in the order of kinds; years, decades and bins in their order.
function heatBlocks({ order, all }, position) {
  let own = labels.names.map((_, j) => j);
  if (!all && own.length > MANY_LABELS) own = own.sort((a, b) => labels.sizes[b] - labels.sizes[a])
    .slice(0, MANY_LABELS).sort((a, b) => a - b);
  const strongest = new Map(own.map((j) => { const row = topics.map((_, k) => heatValue(j, k) ?? -Infinity);
    const k = row.indexOf(Math.max(...row));
    return [j, { place: position.get(k) ?? topics.length, value: row[k] }]; }));
  const by = {
    topic: (a, b) => strongest.get(a).place - strongest.get(b).place || strongest.get(b).value - strongest.get(a).value,
    size: (a, b) => labels.sizes[b] - labels.sizes[a],
    name: (a, b) => labels.names[a].localeCompare(labels.names[b]),
  }[order];
  return [...new Set(own.map(kindOf))].map((kind) => ({ kind, own: own.filter((j) => kindOf(j) === kind)
    .sort((a, b) => (labels.ranks[a] !== null && labels.ranks[b] !== null ? labels.ranks[a] - labels.ranks[b]
      : by(a, b))) }));
}

// The group of each topic when the tree is cut into so many groups.
function cutTree(n) {
  const parent = topics.map((_, k) => k);
  tree.merges.forEach(([a, b], i) => { parent.push(topics.length + i);
    if (i < topics.length - n) { parent[a] = topics.length + i; parent[b] = topics.length + i; } });
  const root = (node) => { while (parent[node] !== node) node = parent[node]; return node; };
  return topics.map((_, k) => root(k));
}

// The topics of a node of the tree; null for none.
function topicsUnder(node) {
  const parts = Number(node) < topics.length ? null : tree.merges[node - topics.length];
  return parts ? [...topicsUnder(parts[0]), ...topicsUnder(parts[1])] : topics[node] ? [Number(node)] : null;
}

// The groups of a cut, in the order of the tree: [{ node, size, text }], named after their largest topics.
function heatGroups(n) {
  const group = cutTree(n);
  return [...new Set(tree.order.map((k) => group[k]))].map((node) => {
    const inside = tree.order.filter((k) => group[k] === node);
    const largest = inside.reduce((a, b) => (topics[b].share > topics[a].share ? b : a));
    const others = inside.length > 1 ? ` +${inside.length - 1}` : "";
    return { node, size: inside.length, middle: inside[Math.floor(inside.length / 2)],
      text: plain(shortName(largest), 26) + others };
  });
}

function heatColumns({ columns, groups, branch }) {
  const under = branch === "" ? null : topicsUnder(branch);
  const order = columns === "words" ? tree.order.filter((k) => !under || under.includes(k))
    : topics.map((t) => t.number)
      .sort((a, b) => (columns === "share" ? topics[b].share - topics[a].share : 0) || a - b);
  const group = columns === "words" ? cutTree(groups) : topics.map(() => 0);
  let gaps = 0;
  return order.map((k, i) => { if (i && group[k] !== group[order[i - 1]]) gaps++;
    return { k, group: group[k], gaps }; });
}

// Rectangles of one color are one path: [[fill, faint], d].
function heatCells(blocks, columns, limit, certain, box) {
  const paths = new Map();
  for (const { rows } of blocks) for (const { j, y } of rows) columns.forEach(({ k }, c) => {
    const value = heatValue(j, k), faint = hasEffects && cell(j, k).low !== null && !isClear(cell(j, k));
    if (value === null || (certain && faint)) return;
    const step = Math.round(STEPS * Math.max(-1, Math.min(value / limit, 1)));
    const key = `${step} ${faint}`, { x, width, height } = box(c);
    paths.set(key, `${paths.get(key) || ""}M${x.toFixed(1)} ${y}h${width.toFixed(1)}v${height}h${-width.toFixed(1)}z`);
  });
  return [...paths].map(([key, d]) => { const [step, faint] = key.split(" ");
    return svg("path", { d, class: faint === "true" ? "faint" : null, style: { fill: heatColor(Number(step)) } }); });
}
// The color of one cell by itself: gray if its interval contains no effect.
function cellColor(j, k, limit) {
  const value = heatValue(j, k), own = hasEffects ? cell(j, k) : null;
  if (value === null || (own && own.low !== null && !isClear(own))) return "var(--rest)";
  return heatColor(Math.round(STEPS * Math.max(-1, Math.min(value / limit, 1))));
}
// The end of the scale of colors: few of the cells of these labels are beyond.
const ALL_LABELS = labels ? labels.names.map((_, j) => j) : [], limits = new Map();
function heatLimit(own = ALL_LABELS) {
  const key = own === ALL_LABELS ? scale : null;
  if (limits.has(key)) return limits.get(key);
  const all = own.flatMap((j) => topics.map((_, k) => Math.abs(heatValue(j, k) ?? 0))).sort((a, b) => a - b);
  const least = hasEffects && scale === "times" ? Math.log(2) : 0.01;
  const limit = roundUp(Math.max(all[Math.floor(0.99 * (all.length - 1))], least));
  if (key) limits.set(key, limit);
  return limit;
}
const heatColor = (step) => `color-mix(in srgb, var(--${hasEffects ? (step < 0 ? "cool" : "warm") : "accent"}) `
  + `${(100 * Math.abs(step)) / STEPS}%, var(--neutral))`;

// The scale of colors, above all.
function heatLegend(limit) {
  const from = hasEffects ? -STEPS : 0, n = STEPS - from + 1, wide = 150 / n;
  const marks = hasEffects ? [[from, -limit], [0, 0], [STEPS, limit]] : [[0, 0], [STEPS, limit]];
  const text = (value) => (!hasEffects ? percent(value, 0) : scale === "times" ? times(value, true)
    : inScale(value));
  return [Array.from({ length: n }, (_, i) => svg("rect", { x: 4 + i * wide, y: 4, width: wide + 0.5, height: 9,
    style: { fill: heatColor(from + i) } })),
  marks.map(([step, value], i) => textAt(text(value), 4 + (step - from + 0.5) * wide, 21,
    { class: `tick ${i === 0 ? "" : i === marks.length - 1 ? "end" : "middle"}` }))];
}

// The tree below the cells, from the most similar topics down to all, and the line that cuts it into groups.
function heatTree(columns, center, top, depth, groups) {
  const place = new Map(columns.map(({ k }, c) => [k, { x: center(c), y: top }])), steps = [];
  tree.merges.forEach(([a, b, height], i) => { if (place.has(a) && place.has(b)) {
    const x = (place.get(a).x + place.get(b).x) / 2;
    steps.push([place.get(a), place.get(b), height]);
    place.set(topics.length + i, { x, y: null, height });
  } });
  const least = 0.9 * steps[0][2], at = linear([least, steps.at(-1)[2] || 1], [top, top + depth]);
  const d = steps.map(([left, right, height]) => `M${left.x.toFixed(1)} ${(left.y ?? at(left.height)).toFixed(1)}`
    + `V${at(height).toFixed(1)}H${right.x.toFixed(1)}V${(right.y ?? at(right.height)).toFixed(1)}`).join("");
  const height = (i) => tree.merges[i]?.[2] ?? 0, last = topics.length - groups; // the merges that the cut leaves
  const cut = at((height(last - 1) + height(last)) / 2);
  const isCut = groups > 1 && groups < topics.length && columns.length === topics.length;
  return [svg("path", { class: "tree", d }), isCut ? svg("line", { class: "from", x1: center(0) - 6,
    x2: center(columns.length - 1) + 6, y1: cut, y2: cut }) : null];
}

function heatMap(open, enter) {
  const options = heatOptions(), columns = heatColumns(options);
  const blocks = heatBlocks(options, new Map(columns.map(({ k }, c) => [k, c])));
  const own = blocks.flatMap((block) => block.own);
  const limit = heatLimit(own);
  const draw = (place, width) => {
    const narrow = width < 520, high = 17, gap = 6;
    const titles = new Map(own.map((j) => [j, plain(labelShort(j), narrow ? 15 : 30)]));
    const left = Math.max(...own.map((j) => textWidth(titles.get(j), 11)), 60) + 10;
    const heads = columns.map(({ k }) => plain(shortName(k), 26)), lean = Math.max(...heads.map((head) =>
      textWidth(head, 11)));
    const room = width - left - Math.min(0.5 * lean, 80) - gap * columns.at(-1).gaps;
    const wide = Math.max(topics.length > 60 ? 4 : 11, Math.min(topics.length > 12 ? 32 : 60, room / columns.length));
    const startOf = (c) => left + c * wide + gap * columns[c].gaps, center = (c) => startOf(c) + wide / 2;
    const box = (c) => ({ x: startOf(c), width: wide - (wide > 6 ? 1 : 0), height: high - 1 });
    // Each topic has its name above, or each group that of its largest topic.
    const heading = wide >= 11 ? columns.map(({ k }, c) => ({ c, text: heads[c], href: `#/topic/${k}` }))
      : options.columns === "words" ? heatGroups(options.groups).map((own) => ({ ...own,
        c: columns.findIndex(({ k }) => k === own.middle) })).filter(({ c }) => c >= 0).sort((a, b) => b.size - a.size)
        .filter(({ c }, i, all) => !all.slice(0, i).some((other) => Math.abs(center(other.c) - center(c)) < 12)) : [];
    let y = Math.min(lean * 0.87, 190) + 34;
    const top = y;
    blocks.forEach((block) => {
      if (block.kind) { y += 20; block.titleAt = y - 6; }
      block.rows = block.own.map((j, i) => ({ j, y: y + i * high }));
      y += high * block.own.length + 6;
    });
    const rows = blocks.flatMap((block) => block.rows), end = startOf(columns.length - 1) + wide;
    const describe = (c, r) => { const { j } = rows[r], { k } = columns[c];
      return { ...box(c), y: rows[r].y, lines: [plain(labels.names[j], 60),
        `${plain(shortName(k), 60)} (${topicName(k)})${inChains(k)}`, ...cellText(j, k)] }; };
    const locate = (px, py) => { const c = columns.findIndex((_, i) => px >= startOf(i) && px < startOf(i) + wide);
      const r = rows.findIndex((row) => py >= row.y && py < row.y + high);
      return c < 0 || r < 0 ? null : [c, r]; };
    const area = svg("g", {}, svg("rect", { class: "hit", x: left, y: top, width: end - left, height: y - top }),
      heatCells(blocks, columns, limit, options.certain, box));
    const parts = [
      heading.map(({ c, text, href, node }) => svg("a", { href: href || "#/labels", tabindex: -1,
        onclick: href ? null : (event) => { event.preventDefault(); enter(node); } },
      textAt(text, center(c), top - 4 + (blocks[0].kind ? 16 : 0), { class: "tick head",
        transform: `rotate(-60 ${center(c)} ${top - 4 + (blocks[0].kind ? 16 : 0)})` }))),
      heatLegend(limit),
      blocks.map((block) => [block.kind ? textAt(plain(block.kind, narrow ? 24 : 50), 4, block.titleAt,
        { class: "kind" }) : null,
      svg("rect", { class: "block", x: left - 1, y: block.rows[0].y - 1, width: end - left + 1,
        height: high * block.rows.length + 1 }),
      block.rows.map(({ j, y: at }) => svg("a", { href: `#/label/${j}`, tabindex: -1 },
        textAt(titles.get(j), left - 6, at + high / 2, { class: "tick end" })))]),
      follow(place, area, [columns.length, rows.length], [0, 0], describe, locate,
        (c, r) => open(rows[r].j, columns[c].k)),
    ];
    if (options.columns === "words" && columns.length > 2) {
      parts.push(heatTree(columns, center, y, 60, options.groups));
      y += 64;
    }
    return { width: Math.max(width, end + Math.min(0.5 * lean, 80)), height: y + 4, parts };
  };
  return chart("Heat map of labels and topics", draw, () => [["label", (j) => labelLink(j)], ...columns.map(({ k }) =>
    [`${shortName(k)} (${topicName(k)})`, (j) => (hasEffects ? `${inScale(cell(j, k).effect)} (${ends(cell(j, k))})`
      : percent(labels.prevalence[j][k])), "number"])], () => own);
}

// The end of the scale of colors, as a round factor.
function roundUp(limit) {
  if (!hasEffects || scale !== "times") return limit;
  const power = 10 ** Math.floor(Math.log10(Math.exp(limit)) + 1e-9);
  return Math.log(power * [1, 2, 5, 10].find((step) => step * power >= Math.exp(limit) * 0.999));
}

// The numbers of a cell, a line each.
function cellText(j, k) {
  const written = (key, unit) => { const row = cellOn(key, j, k), { show } = scales[key];
    return row.effect === null ? null : `${show(row.effect)}${unit} (${ends(row, show)})`; };
  const found = hasEffects ? [written("times", ""), written("difference", " percentage points")].filter(Boolean) : [];
  if (hasEffects && !found.length) found.push("not identified by the documents");
  if (hasEffects && labels.proportion[j][k] !== null) found.push(`expected share ${percent(labels.proportion[j][k])}`);
  const observed = hasPrevalence ? labels.prevalence[j][k] : null;
  if (observed !== null) found.push(`observed share ${percent(observed)}`);
  return found;
}

// Documents of a label that have a topic, its largest share first.
function cellDocuments(j, k) {
  const own = docs ? docs.ids.map((_, i) => i).filter((i) => docs.labels[i].some((at) => docs.label_places[at] === j)
    && docs.topics[i].includes(k)) : [];
  const share = (i) => docs.shares[i][docs.topics[i].indexOf(k)];
  return own.map((i) => [i, share(i)]).sort((a, b) => b[1] - a[1]);
}

// What a click on a cell opens at the lower end of the window: the numbers, documents and links.
function cellPanel(j, k, close) {
  const found = cellDocuments(j, k);
  return el("section", { class: "panel", "aria-live": "polite" },
    el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: close }, "×"),
    el("h3", {}, labelLink(j), " × ", dot(k), el("a", { href: `#/topic/${k}` }, topicTitle(k)),
      " ", el("span", { class: "muted" }, named(topWords(k, 5)))),
    el("p", {}, cellText(j, k).join("; "), hasEffects && cell(j, k).low !== null && !isClear(cell(j, k))
      ? ". The interval contains no effect: nothing is certain." : "."),
    found.length ? el("ul", { class: "list" }, found.slice(0, 3).map(([i, share]) => el("li", {}, documentLink(i), " ",
      el("span", { class: "muted number small" }, percent(share, 0)),
      snippet(i, (_, at) => docs.word_topics[i][at] === k, 30)))) : null,
    found.length > 3 ? el("p", { class: "small" }, el("a", { href: `#/cell/${j}/${k}` },
      `All ${found.length.toLocaleString("en")} documents`)) : null);
}
