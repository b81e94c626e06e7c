// The map of documents: a canvas with a point for each, where its topics are on the map of topics. The list of
// documents and the facets give the same to the keyboard and to screen readers.
const isInside = ([left, bottom, right, top], place) => place !== null && place[0] >= left && place[0] <= right
  && place[1] >= bottom && place[1] <= top;

// [x, y] of each document: the average of the places of its topics by their shares; null for one without topics. Two
// topics are on a line, and documents are spread across it.
let allPlaces = null;
function mapPlaces() {
  const isLine = topics.every((t) => t.y === topics[0].y), wide = Math.max(...topics.map((t) => Math.abs(t.x)));
  return (allPlaces ??= docs.topics.map((own, i) => {
    const shares = docs.shares[i], total = shares.reduce((a, b) => a + b, 0);
    if (!total) return null;
    const mean = (key) => own.reduce((sum, k, rank) => sum + shares[rank] * topics[k][key], 0) / total;
    return [mean("x"), isLine ? (((i * 0.618034) % 1) - 0.5) * wide : mean("y")];
  }));
}

// The colors of documents: { of: document -> [color, shape] or null, legend: [[color, shape, text]] }. A color is the
// name of a style, or two of them and the weight of the second.
function mapColors(by) {
  if (by === "topic") return { legend: [],
    of: (i) => { const [k] = docs.topics[i]; return [`topic-${(k % COLORS) + 1}`, topicShape(k)]; } };
  const facet = facets().find(({ key }) => key === by), { values } = facet;
  const colors = new Map();
  if (facet.isOrdered) values.forEach((value, i) =>
    colors.set(value, [["cool", "warm", i / (values.length - 1)], 0]));
  else values.slice(0, COLORS).forEach((value, i) => colors.set(value, [`topic-${i + 1}`, 0]));
  const rarest = (i) => facet.of(i).filter((value) => colors.has(value)).sort((a, b) => facet.sizes.get(a)
    - facet.sizes.get(b))[0];
  const ends = values.length > COLORS && colors.size === values.length
    ? [values[0], values[Math.floor(values.length / 2)], values.at(-1)] : [...colors.keys()];
  const legend = ends.map((value) => [...colors.get(value), plain(facet.text(value), 30)]);
  if (colors.size < values.length) legend.push(["rest", 0, "others"]);
  return { of: (i) => colors.get(rarest(i)) || null, legend };
}

// The value of a style; on paper that of the light theme.
function readStyles() {
  const root = document.documentElement, { theme } = root.dataset;
  if (onPaper) root.dataset.theme = "light";
  const styles = getComputedStyle(root), found = (key) => styles.getPropertyValue(`--${key}`).trim();
  const keys = ["rest", "surface", "ink", "cool", "warm", "accent", ...Array.from({ length: COLORS }, (_, i) =>
    `topic-${i + 1}`)];
  const values = new Map(keys.map((key) => [key, found(key)]));
  if (onPaper) root.dataset.theme = theme;
  const parts = (key) => [1, 3, 5].map((at) => parseInt(values.get(key).slice(at, at + 2), 16));
  return (key) => { if (typeof key === "string") return values.get(key);
    const [a, b] = [parts(key[0]), parts(key[1])];
    return `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * key[2])).join(", ")})`; };
}

// A circle, square, diamond or triangle as a path.
function markPath(shape, x, y, r) {
  const [u, v] = [x.toFixed(1), y.toFixed(1)];
  if (shape === 0) return `M${(x - r).toFixed(1)} ${v}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  if (shape === 1) return `M${(x - r).toFixed(1)} ${(y - r).toFixed(1)}h${2 * r}v${2 * r}h${-2 * r}z`;
  if (shape === 2) return `M${u} ${(y - 1.3 * r).toFixed(1)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}`
    + `l${-1.3 * r} ${-1.3 * r}z`;
  return `M${u} ${(y - 1.2 * r).toFixed(1)}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`;
}

// What is drawn at a width: points of one color as a path, the names of topics, and scales.
function layMap(width, found, by) {
  const height = width < 520 ? 320 : 440, places = mapPlaces(), drawn = places.filter(Boolean), room = 26;
  const span = (at) => { const values = [...drawn.map((place) => place[at]), ...topics.map((t) => (at ? t.y : t.x))];
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    return high > low ? [low, high] : [low - 1, high + 1]; };
  const x = linear(span(0), [room, width - room]), y = linear(span(1), [height - room, room]);
  const r = docs.ids.length > 1000 ? 2.5 : docs.ids.length > 200 ? 3.5 : 5;
  const isFound = new Set(found), colors = mapColors(by), read = readStyles(), paths = new Map();
  const taken = new Map(); // documents at one place are spread around it
  const spots = places.map((place) => {
    if (!place) return null;
    const [u, v] = [x(place[0]), y(place[1])], key = `${Math.round(u)} ${Math.round(v)}`, n = taken.get(key) || 0;
    taken.set(key, n + 1);
    const away = Math.min(1.6 * r * Math.sqrt(n), 24), angle = 2.4 * n;
    return [u + away * Math.cos(angle), v + away * Math.sin(angle)];
  });
  const add = (key, i, shape) => paths.set(key, (paths.get(key) || "") + markPath(shape, ...spots[i], r));
  spots.forEach((spot, i) => { if (spot && !isFound.has(i)) add("out", i, 0); });
  spots.forEach((spot, i) => { if (spot && isFound.has(i) && !colors.of(i)) add(JSON.stringify("rest"), i, 0); });
  spots.forEach((spot, i) => { const tone = spot && isFound.has(i) ? colors.of(i) : null;
    if (tone) add(JSON.stringify(tone[0]), i, tone[1]); });
  const points = [...paths].map(([key, d]) => ({ d, fill: read(key === "out" ? "rest" : JSON.parse(key)),
    opacity: key === "out" ? 0.3 : 0.8 }));
  const texts = [];
  for (const t of [...topics].sort((a, b) => b.share - a.share)) {
    const text = plain(shortName(t.number), 26), half = textWidth(text, 11) / 2 + 4;
    const at = { text, half, x: Math.max(half, Math.min(x(t.x), width - half)), y: y(t.y) };
    const near = width < 520 ? 22 : 15;
    if (!texts.some((other) => Math.abs(other.x - at.x) < other.half + half && Math.abs(other.y - at.y) < near))
      texts.push(at);
  }
  return { width, height, x, y, spots, points, texts, read };
}

function paintMap(canvas, { width, height, points, texts, read }) {
  const ratio = onPaper ? 3 : window.devicePixelRatio || 1, pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  pen.scale(ratio, ratio);
  for (const { d, fill: color, opacity } of points) {
    Object.assign(pen, { fillStyle: color, globalAlpha: opacity });
    pen.fill(new Path2D(d));
  }
  Object.assign(pen, { globalAlpha: 1, font: `11px ${getComputedStyle(document.body).fontFamily}`, textAlign: "center",
    textBaseline: "middle", lineJoin: "round", lineWidth: 4, strokeStyle: read("surface"), fillStyle: read("ink") });
  for (const { text, x, y } of texts) { pen.strokeText(text, x, y); pen.fillText(text, x, y); }
}

function saveMap({ width, height, points, texts, read }) {
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    svg("rect", { width, height, fill: read("surface") }),
    points.map(({ d, fill: color, opacity }) => svg("path", { d, fill: color, "fill-opacity": opacity })),
    texts.map(({ text, x, y }) => textAt(text, x, y, { "text-anchor": "middle", "dominant-baseline": "central",
      "font-family": "sans-serif", "font-size": 11, fill: read("ink"), stroke: read("surface"), "stroke-width": 3,
      "paint-order": "stroke" })));
  saveFile(new XMLSerializer().serializeToString(picture), "image/svg+xml", ".svg");
}

// A drag chooses an area, a click opens a document. `area(corners)` tells the choice, or null.
function brush(place, canvas, map, area) {
  const frame = el("div", { class: "brush", hidden: true }), tip = tipOf(place);
  let start = null;
  const at = (event) => { const box = canvas.getBoundingClientRect(); // a map of another width until it is drawn again
    const scale = map().width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale]; };
  const nearest = ([x, y]) => { let best = null, least = 12 ** 2;
    map().spots.forEach((spot, i) => { if (!spot) return;
      const away = (spot[0] - x) ** 2 + (spot[1] - y) ** 2;
      if (away < least) [best, least] = [i, away]; });
    return best; };
  const corners = (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
  canvas.addEventListener("pointerdown", (event) => { if (event.button === 0) { start = at(event);
    canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    if (start) {
      const [left, top, right, bottom] = corners(start, now);
      Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`,
        height: `${bottom - top}px` });
      frame.hidden = Math.hypot(right - left, bottom - top) < 5;
    }
    const i = start ? null : nearest(now);
    canvas.style.cursor = i === null ? "crosshair" : "pointer";
    tip.hidden = i === null;
    if (i !== null) putTip(place, [plain(docs.ids[i], 60), ...docs.topics[i].slice(0, 2).map((k, rank) =>
      `${plain(shortName(k), 40)} ${percent(docs.shares[i][rank], 0)}`),
    docs.labels[i].slice(0, 4).map((label) => plain(docs.label_names[label], 30)).join(", ")], ...map().spots[i]);
  });
  const end = (event, isDone) => {
    if (!start) return;
    const [from, to] = [start, at(event)], { x, y } = map();
    start = null;
    frame.hidden = true;
    if (!isDone) return;
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) >= 5) {
      const [left, top, right, bottom] = corners(from, to);
      area([x.back(left), y.back(bottom), x.back(right), y.back(top)].map((value) => value.toFixed(3)));
    } else if (nearest(to) !== null) location.hash = `#/document/${nearest(to)}`;
    else area(null);
  };
  canvas.addEventListener("pointerup", (event) => end(event, true));
  canvas.addEventListener("pointercancel", (event) => end(event, false));
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  place.append(frame);
  // The chosen area, in the units of the map.
  return (chosen) => { frame.hidden = !chosen;
    if (!chosen) return;
    const { x, y } = map(), [left, bottom, right, top] = chosen;
    Object.assign(frame.style, { left: `${x(left)}px`, top: `${y(top)}px`, width: `${x(right) - x(left)}px`,
      height: `${y(bottom) - y(top)}px` }); };
}

// The map with its files; `update` draws the documents that are found.
let repaint = () => {};
const mapSizes = new ResizeObserver(() => repaint());
new MutationObserver(() => { if (!onPaper) repaint(); }).observe(document.documentElement,
  { attributes: true, attributeFilter: ["data-theme"] });
function documentMap(changed, columns) {
  const label = () => `Map of ${count(docs.ids.length, "document")}; ${found.length.toLocaleString("en")} found`;
  const canvas = el("canvas", { role: "img", "aria-describedby": "map-text" }), legend = el("div");
  const place = el("div", { class: "map" }, canvas, el("div", { class: "tip", "aria-hidden": "true", hidden: true }));
  let found = [], map = null;
  const showArea = brush(place, canvas, () => map, (corners) => {
    setOption("area", corners ? corners.join("_") : "");
    setOption("page", 0, 0);
    changed();
  });
  const by = () => oneOf("color", facets().map(({ key }) => key), "topic");
  const paint = () => {
    const width = onPaper ? PAPER : place.clientWidth;
    if (!width) return;
    map = layMap(width, found, by());
    paintMap(canvas, map);
    canvas.setAttribute("aria-label", label());
    showArea(docState().area);
  };
  const background = (color) => (typeof color === "string" ? `var(--${color})`
    : `color-mix(in srgb, var(--${color[1]}) ${100 * color[2]}%, var(--${color[0]}))`);
  const showLegend = () => {
    const own = mapColors(by()).legend.map(([color, , text]) => el("li", { class: "chip" },
      el("span", { class: "dot", style: { background: background(color) } }), name(text)));
    legend.replaceChildren(own.length ? el("ul", { class: "chips", "aria-label": "Colors" }, own) : "");
  };
  const kinds = facets().filter((facet) => facet.option === "label");
  const choose = choice("Color by", [["topic", "largest topic"], ...kinds.map(({ key, title }) => [key,
    plain(title, 40)])], by(), (value) => { setOption("color", value, "topic"); showLegend(); paint(); });
  mapSizes.disconnect();
  mapSizes.observe(place);
  repaint = paint;
  showLegend();
  return {
    card: card("Map", el("p", { class: "muted small", id: "map-text" }, "A document lies between its topics on the map "
      + "of topics, nearer to those with larger shares. Drag to choose an area, or click a document. The filters and "
      + "the list of documents give the same by keyboard."),
    kinds.length ? el("div", { class: "controls" }, choose) : null, place, legend, el("div", { class: "files" },
      fileButton("SVG", "Download the map as SVG", () => saveMap(map)),
      fileButton("CSV", "Download the data of the map as CSV",
        () => saveFile(csv(columns, found), "text/csv", ".csv")))),
    update: (own) => { found = own; paint(); },
  };
}
