// Elements. Text of the data always becomes a text node, never HTML.
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined
    && child !== false));
  return element;
}
// A name of the data, isolated so that its direction of writing does not affect the text around it.
const name = (text) => el("bdi", { dir: "auto" }, visible(text));
const say = (text) => { document.getElementById("status").textContent = text; };
const named = (texts) => texts.flatMap((text, i) => (i ? [", ", name(text)] : [name(text)]));

const card = (title, ...children) => el("section", { class: "card" }, title ? el("h2", {}, title) : null, children);
const bar = (share, most, mark = null) => el("span", { class: "track", "aria-hidden": "true" },
  el("span", { class: "fill", style: { width: `${Math.min(100, (100 * share) / (most || 1))}%` } }),
  mark === null ? null : el("span",
    { class: "mark", style: { left: `${Math.min(99.5, (100 * mark) / (most || 1))}%` } }));

// columns: [title, row -> content, class]
function table(columns, rows, caption = null) {
  const header = el("tr", {}, columns.map(([title, , kind]) => el("th", { scope: "col", class: kind }, title)));
  const body = rows.map((row) => el("tr", {}, columns.map(([, content, kind], j) =>
    el(j ? "td" : "th", { scope: j ? null : "row", class: kind }, content(row)))));
  return el("div", { class: "scroll" }, el("table", {}, caption ? el("caption", {}, caption) : null,
    el("thead", {}, header), el("tbody", {}, body)));
}
const pairs = (rows) => el("table", { class: "pairs" }, el("tbody", {}, rows.map(([key, value]) =>
  el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, name(String(value)))))));

// Built when opened: tables of charts can be long.
function disclosure(title, build) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle",
    () => { if (details.open && details.children.length === 1) details.append(build()); });
  return details;
}

function choice(title, options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value) },
    options.map(([key, text]) => el("option", { value: key, selected: String(key) === String(value) }, text)));
  return el("label", {}, title, select);
}

// A long list, one page at a time.
function pages(n, size, show) {
  const place = el("div"), position = el("span", { class: "muted small" });
  let first = 0;
  const turn = (step, focus) => {
    first = Math.max(0, Math.min(first + step * size, Math.floor((n - 1) / size) * size));
    place.replaceChildren(show(first, Math.min(first + size, n)));
    position.textContent = `${(first + 1).toLocaleString("en")}–${Math.min(first + size, n).toLocaleString("en")} `
      + `of ${n.toLocaleString("en")}`;
    back.disabled = first === 0;
    forth.disabled = first + size >= n;
    if (focus) { place.scrollIntoView({ block: "nearest" }); say(position.textContent); }
  };
  const back = el("button", { type: "button", onclick: () => turn(-1, true) }, "Previous");
  const forth = el("button", { type: "button", onclick: () => turn(1, true) }, "Next");
  if (n) turn(0, false);
  return el("div", {}, place, n > size ? el("div", { class: "pager" }, back, forth, position) : null);
}
