// The address: a view, its numbers, and the options that differ from the usual, as in #/documents?search=rain&sort=3.
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [key, ...rest] = path.split("/");
  return { key: key || "overview", rest, options: new URLSearchParams(query) };
}
const option = (key, usual) => readAddress().options.get(key) ?? usual;
// A choice among known values; any other value in the address is ignored.
const oneOf = (key, values, usual) => { const found = option(key, usual);
  return values.includes(found) ? found : usual; };

function setOption(key, value, usual = "") {
  const { options } = readAddress(), path = location.hash.split("?")[0] || "#/";
  if (String(value) === String(usual)) options.delete(key); else options.set(key, value);
  const query = options.toString();
  try { // some frames do not allow it
    history.replaceState(history.state, "", query ? `${path}?${query}` : path);
  } catch { return; }
  document.getElementById("main").dataset.shown = location.hash;
}

// Every entry of the history has a number, so that Back finds its place on the page.
const placeOf = new Map();
let entry = null, entries = 0;
const leaveEntry = () => { if (entry !== null) placeOf.set(entry, window.scrollY); };
// Return where a view was left, or null for one that is new.
function enterEntry() {
  const known = history.state && placeOf.has(history.state.entry);
  entry = known ? history.state.entry : entries++;
  if (!known) try { history.replaceState({ entry }, "", location.hash || "#/"); } catch { return null; }
  return known ? placeOf.get(entry) : null;
}
