// The frame: navigation, and the current view.
const missing = (text) =>
  ({ title: ["Not found"], lead: text, body: [el("p", {}, el("a", { href: "#/" }, "Back to the overview"))] });
menu.sort((a, b) => a.order - b.order);

// A part of an address is a number, or a set of numbers: 3+5.
const NUMBERS = /^\d+(\+\d+)*$/;
const numbersOf = (part) => { const found = NUMBERS.test(part) ? part.split("+").map(Number) : [-1];
  return found.length > 1 ? found : found[0]; };

function currentView() {
  const { key, rest } = readAddress(), build = views.get(key);
  if (!build) return [missing("There is no such view."), ""];
  const view = build(...rest.map(numbersOf));
  return [view, view.nav || key];
}

function show(moved) {
  if (location.hash === "#main") return;
  forgetCharts();
  if (moved) leaveEntry();
  const left = moved === null ? null : enterEntry();
  const [view, current] = currentView();
  const heading = el("h1", { tabindex: -1 }, view.title);
  document.getElementById("main").replaceChildren(
    el("div", { class: "stack" }, el("div", {}, heading, view.lead ? el("p", { class: "lead" }, view.lead) : null),
    view.body.filter(Boolean)));
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === current) {
      const bar = document.getElementById("nav"); // scrollIntoView would also move the starting point of Tab
      link.setAttribute("aria-current", "page");
      bar.scrollLeft = link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  document.title = current === "overview" ? overview.title : `${heading.textContent} – ${overview.title}`;
  drawCharts();
  if (moved) { heading.focus({ preventScroll: true }); scrollAtOnce(left ?? 0); }
  document.getElementById("main").dataset.shown = location.hash;
}

const scrollAtOnce = (top) => window.scrollTo({ top, behavior: "instant" });
const redraw = () => { const at = window.scrollY; show(null); scrollAtOnce(at); };

document.getElementById("nav").append(el("ul", {}, menu.map(({ key, href, title }) => {
  const link = el("a", { href }, title);
  link.dataset.view = key;
  return el("li", {}, link);
})));
// On paper charts have the width of a page, and lists are whole.
window.addEventListener("beforeprint", () => { onPaper = true; show(null); });
window.addEventListener("afterprint", () => { onPaper = false; redraw(); });
history.scrollRestoration = "manual";
window.addEventListener("hashchange", () => show(true));
startPage();
show(false);
