// The frame: navigation, and the current view.
const missing = (text) =>
  ({ title: ["Not found"], lead: text, body: [el("p", {}, el("a", { href: "#/" }, "Back to the overview"))] });
menu.sort((a, b) => a.order - b.order);

function currentView() {
  const [key, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const build = views.get(key || "overview");
  if (!build) return [missing("There is no such view."), ""];
  const view = build(...rest.map((part) => (/^\d+$/.test(part) ? Number(part) : -1)));
  return [view, view.nav || key || "overview"];
}

function show(moved) {
  if (location.hash === "#main") return;
  forgetCharts();
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
  if (moved) { window.scrollTo(0, 0); heading.focus({ preventScroll: true }); }
  document.getElementById("main").dataset.shown = location.hash;
}

const redraw = () => { const at = window.scrollY; show(false); window.scrollTo(0, at); };

document.getElementById("nav").append(el("ul", {}, menu.map(({ key, href, title }) => {
  const link = el("a", { href }, title);
  link.dataset.view = key;
  return el("li", {}, link);
})));
// Charts are drawn in light colors for paper.
let themeBefore = null;
window.addEventListener("beforeprint",
  () => { themeBefore = document.documentElement.dataset.theme; setTheme("light"); show(false); drawCharts(); });
window.addEventListener("afterprint", () => { setTheme(themeBefore); redraw(); });
window.addEventListener("hashchange", () => show(true));
startPage(redraw);
show(false);
