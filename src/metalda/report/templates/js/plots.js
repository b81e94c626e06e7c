// Colors of topics, and the charts that several views have: effects with intervals, and lines.
const COLORS = 8, SHAPES = 4;
// A topic has one color everywhere, and one of four shapes, so that 32 topics look different.
const topicColor = (k) => `var(--topic-${(k % COLORS) + 1})`;
const topicShape = (k) => Math.floor(k / COLORS) % SHAPES;
const dot = (k) => el("span", { class: `dot own shape-${topicShape(k)}`, style: { background: topicColor(k) },
  "aria-hidden": "true" });
const DASHES = [null, "6 3", "2 2", "8 2 2 2"];
const lineStyle = (i) => ({ stroke: `var(--topic-${(i % COLORS) + 1})`,
  strokeDasharray: DASHES[Math.floor(i / COLORS) % DASHES.length] || "none" });

// Effects with intervals, a row each: [{ title, note, effect, low, high, link, href }], with a line at "no effect".
function forest(description, all, kind, { axis, show, marks }) {
  const rows = all.filter((row) => row.effect !== null); // not identified
  const shorten = kind === "topic" ? (text, n) => brief(plain(text, 200), n) : plain; // words lose their end
  const interval = (row) => (row.low === null ? "no interval" : `${show(row.low)} to ${show(row.high)}`);
  const draw = (place, width) => {
    const narrow = width < 520, step = 24, titles = rows.map((row) => shorten(row.title, narrow ? 22 : 44));
    const left = Math.min(Math.max(...titles.map((title) => textWidth(title))) + 14, width * 0.55);
    const values = rows.flatMap((row) => [row.effect, row.low ?? row.effect, row.high ?? row.effect, 0]);
    const [low, high] = [Math.min(...values), Math.max(...values)], room = 0.06 * (high - low) || 0.1;
    const x = linear([low - room, high + room], [left, width - 10]), bottom = 8 + step * rows.length;
    const points = rows.map((row, i) => {
      const y = 8 + step * (i + 0.5), certain = row.low > 0 || row.high < 0;
      const tone = !certain ? "unsure" : row.effect > 0 ? "more" : "less";
      const node = svg("a", { href: row.href, class: `effect ${tone}`,
        "aria-label": `${plain(row.title, 80)} ${row.note || ""}: ${show(row.effect)}, interval ${interval(row)}` },
      svg("rect", { class: "hit", x: 0, y: y - step / 2, width, height: step }),
      textAt(titles[i], left - 10, y, { class: "tick end" }),
      row.low === null ? null : svg("line", { class: "interval", x1: x(row.low), x2: x(row.high), y1: y, y2: y }),
      svg("circle", { cx: x(row.effect), cy: y, r: 4.5 }));
      return { node, x: x(row.effect), y, lines: [plain(row.title, 80), row.note, show(row.effect),
        `${level()} interval ${interval(row)}`] };
    });
    reach(place, points);
    const round = marks(low - room, high + room, narrow ? 4 : 7);
    const grid = [round.map((value) => svg("line", { class: value === 0 ? "zero" : "grid", x1: x(value), x2: x(value),
      y1: 4, y2: bottom })), apart(round.map((value) => ({ at: x(value), text: show(value, true) })), width)
      .map(({ at, text }) => textAt(text, at, bottom + 16, { class: "tick middle" }))];
    return { height: bottom + 42, parts: [grid, points.map(({ node }) => node),
      textAt(axis, (left + width - 10) / 2, bottom + 34, { class: "title middle" })] };
  };
  return chart(description, draw, () => [[kind, (row) => row.link()], ["effect", (row) => show(row.effect), "number"],
    [`${level()} interval`, (row) => interval(row), "number"]], () => rows);
}

// Marks of an axis that do not touch each other.
function apart(marks, width) {
  let end = -Infinity;
  return marks.filter(({ at, text }) => { const half = textWidth(text, 11) / 2;
    if (at - half < end + 6 || at + half > width) return false;
    end = at + half;
    return true; });
}

// Lines over one axis: [{ name, values, low, high, style }], a value for each x; `from` is a vertical line, `names`
// stand for the values of x, `tell(i)` are the lines of a hint, and `open(i)` is called for a chosen place.
function lineChart(description, { x: xs, lines, xTitle, showX, showY, range, height = 230, from = null,
  isTitled = true, names = null, describe: tell = null, open = null }) {
  const draw = (place, width) => {
    const marksY = ticks(...range, 5), left = Math.max(...marksY.map((y) => textWidth(showY(y)))) + 12;
    const bottom = height - (isTitled ? 44 : 24); // of the lines
    const x = linear([xs[0], xs.at(-1)], [left, width - 12]), y = linear(range, [bottom, 8]);
    // A picture in the picture cuts off what is outside the range.
    const frame = { x: left, y: 4, width: width - left - 8, height: bottom - 2 };
    const inside = svg("svg", { ...frame, viewBox: Object.values(frame).join(" ") });
    const marksX = names ? apart(xs.map((at, i) => ({ at: x(at), text: names[i] })), width)
      : ticks(xs[0], xs.at(-1), Math.max(2, Math.floor((width - left) / 80)))
        .map((value) => ({ at: x(value), text: showX(value) }));
    const parts = [
      marksY.map((value) => [svg("line", { class: "grid", x1: left, x2: width - 12, y1: y(value), y2: y(value) }),
        textAt(showY(value), left - 6, y(value), { class: "tick end" })]),
      marksX.map(({ at, text }) => textAt(text, at, bottom + 16, { class: "tick middle" })),
      from === null ? null : svg("line", { class: "from", x1: x(from), x2: x(from), y1: 8, y2: bottom }),
      isTitled ? textAt(xTitle, (left + width - 12) / 2, height - 8, { class: "title middle" }) : null,
    ];
    const path = (values) => values.map((value, i) => (value === null ? null
      : `${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean);
    for (const { low, high, style } of lines) if (low && low.some((y) => y !== null)) inside.append(svg("path",
      { class: "band", d: `M${[...path(high), ...path(low).reverse()].join("L")}Z`, style: { fill: style.stroke } }));
    for (const { values, style } of lines) inside.append(svg("path", { class: "line", d: `M${path(values).join("L")}`,
      style }));
    parts.push(inside);
    const describe = (i) => ({ x: x(xs[i]) - 1, y: 8, width: 2, height: bottom - 8,
      lines: tell ? tell(i) : [`${plain(xTitle)} ${showX(xs[i])}`, ...lines.map(({ name: title, values, low, high }) =>
        `${title ? `${plain(title)}: ` : ""}${showY(values[i])}`
        + (low && low[i] !== null ? ` (${showY(low[i])} to ${showY(high[i])})` : ""))] });
    const nearest = (at) => xs.reduce((best, each, i) => (Math.abs(x(each) - at) < Math.abs(x(xs[best]) - at) ? i
      : best), 0);
    const area = svg("g", {}, svg("rect", { class: "hit", x: left, y: 0, width: width - left, height: bottom + 4 }));
    parts.push(follow(place, area, [xs.length, 1], [xs.length - 1, 0], describe, (at) => [nearest(at), 0],
      open));
    return { height, parts };
  };
  const columns = () => [[xTitle, (i) => (names ? names[i] : showX(xs[i]))],
    ...lines.map(({ name: title, values, low, high }) =>
    [title || "value", (i) => (values[i] === undefined ? "" : showY(values[i])
      + (low && low[i] !== null ? ` (${showY(low[i])} to ${showY(high[i])})` : "")), "number"])];
  return chart(description, draw, columns, () => xs.map((_, i) => i));
}
