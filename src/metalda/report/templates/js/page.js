// What every page has: the link that skips the header, and the theme.
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  document.getElementById("theme").setAttribute("aria-label",
    `Switch to the ${theme === "dark" ? "light" : "dark"} theme`);
}
const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");

function startPage() {
  document.querySelector(".skip").addEventListener("click",
    (event) => { event.preventDefault(); document.getElementById("main").focus(); });
  document.getElementById("theme").addEventListener("click",
    () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  wantsDark.addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  setTheme(wantsDark.matches ? "dark" : "light");
}
