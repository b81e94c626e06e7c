// Elements. Text of the data always becomes a text node, never HTML.
function fill(element, properties, children) {
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
const el = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;
const svg = (tag, properties = {}, ...children) => fill(document.createElementNS(SVG, tag), properties, children);
// A name of the data, isolated so that its direction of writing does not affect the text around it.
const name = (text) => el("bdi", { dir: "auto" }, visible(text));
let onPaper = false; // while the page is printed
const say = (text) => { document.getElementById("status").textContent = text; };
const named = (texts) => texts.flatMap((text, i) => (i ? [", ", name(text)] : [name(text)]));

const card = (title, ...children) => el("section", { class: "card" }, title ? el("h2", {}, title) : null, children);
const bar = (share, most, mark = null, color = "") => el("span", { class: "track", "aria-hidden": "true" },
  el("span", { class: "fill", style: { width: `${Math.min(100, (100 * share) / (most || 1))}%`, background: color } }),
  mark === null ? null : el("span",
    { class: "mark", style: { left: `${Math.min(99.5, (100 * mark) / (most || 1))}%` } }));

// columns: [title, row -> content, class]
function plainTable(columns, rows, caption = null) {
  const header = el("tr", {}, columns.map(([title, , kind]) => (title === "" ? el("td", { class: kind })
    : el("th", { scope: "col", class: kind }, title))));
  const body = rows.map((row) => el("tr", {}, columns.map(([, content, kind], j) =>
    el(j ? "td" : "th", { scope: j ? null : "row", class: kind }, content(row)))));
  const alone = body.length && !body[0].querySelector("a, button"); // nothing else in it scrolls it by keyboard
  return el("div", { class: "scroll", ...(alone ? { tabindex: 0, role: "group", "aria-label": "Table" } : {}) },
    el("table", {}, caption ? el("caption", {}, caption) : null,
    el("thead", {}, header), el("tbody", {}, body)));
}
const table = (columns, rows, caption = null) => el("div", {}, plainTable(columns, rows, caption),
  downloads(columns, rows));
// A long table, one page at a time; its file has all rows.
const longTable = (columns, rows, size) => el("div", {}, pages(rows.length, size,
  (first, last) => plainTable(columns, rows.slice(first, last))), downloads(columns, rows));
const pairs = (rows) => el("div", {}, el("table", { class: "pairs" }, el("tbody", {}, rows.map(([key, value]) =>
  el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, name(String(value))))))),
downloads([["name", ([key]) => key], ["value", ([, value]) => name(String(value))]], rows));

// Files that the page offers, made when asked for.
const fileName = (ending) => `${document.title} ${document.querySelector("h1").textContent}`
  .replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80) + ending;
function saveFile(text, type, ending) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: fileName(ending) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
// An apostrophe before text that a spreadsheet could run as a formula, as metalda export writes it.
const FORMULA = /^(?:[\t\r\n]|[\s\x1c-\x1f\x85]*[=+\-@＝＋－＠])/;
const VALUE = String.raw`[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[×%]?`; // also an interval, as in -0.5 to 0.2
const NUMBER = new RegExp(String.raw`^${VALUE}(?: to ${VALUE})?(?: \(${VALUE} to ${VALUE}\))?$`);
const guarded = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const shownText = (content) => el("span", {}, content).textContent.replaceAll("−", "-").trim();
function csv(columns, rows) {
  const own = columns.filter(([title]) => title !== "");
  const lines = [own.map(([title]) => shownText([title])), ...rows.map((row) => own.map(([, content]) =>
    shownText([content(row)])))];
  return lines.map((line) => line.map((text) => quoted(guarded(text))).join(",")).join("\r\n") + "\r\n";
}
const fileButton = (text, title, onclick) => el("button",
  { type: "button", class: "file", title, "aria-label": title, onclick }, text);
const downloads = (columns, rows) => el("p", { class: "files" },
  fileButton("CSV", "Download the table as CSV", () => saveFile(csv(columns, rows), "text/csv", ".csv")));

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

// A long list, one page at a time. On paper it is whole, unless it is very long.
const MOST_ON_PAPER = 500;
function pages(n, size, show) {
  if (onPaper && n <= MOST_ON_PAPER) return el("div", {}, n ? show(0, n) : null);
  const place = el("div"), position = el("span", { class: "muted small position" });
  let first = (Math.floor(Number(option("page", 0))) || 0) * size;
  const turn = (step, focus) => {
    first = Math.max(0, Math.min(first + step * size, Math.floor((n - 1) / size) * size));
    place.replaceChildren(show(first, Math.min(first + size, n)));
    position.textContent = `${(first + 1).toLocaleString("en")}–${Math.min(first + size, n).toLocaleString("en")} `
      + `of ${n.toLocaleString("en")}`;
    back.disabled = first === 0;
    forth.disabled = first + size >= n;
    setOption("page", first / size, 0);
    if (focus) { place.scrollIntoView({ block: "nearest" }); say(position.textContent); }
  };
  const back = el("button", { type: "button", onclick: () => turn(-1, true) }, "Previous");
  const forth = el("button", { type: "button", onclick: () => turn(1, true) }, "Next");
  if (n) turn(0, false);
  return el("div", {}, place, n > size ? el("div", { class: "pager" }, back, forth, position) : null);
}
