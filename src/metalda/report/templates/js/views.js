// The registry of views, and links to them.
// The name first, the number second.
const topicTitle = (k) => [name(shortName(k)), " ", el("span", { class: "second" }, topicName(k))];
const topicLink = (k) => el("a", { href: `#/topic/${k}` }, dot(k), topicTitle(k));
const labelLink = (j) => el("a", { href: `#/label/${j}` }, name(labels.names[j]));
const wordLink = (place) => el("a", { href: `#/word/${place}` }, name(wordName(place)));
const documentLink = (i) => el("a", { href: `#/document/${i}` }, name(docs.ids[i]));

// What limits the conclusions of a view, where they are drawn.
function caution(effects = false, link = true) {
  const texts = [...overview.warnings, ...(effects ? overview.effect_warnings : [])];
  return texts.length ? el("section", { class: "card notes", "aria-label": "Warnings" },
    texts.map((text) => el("p", {}, text)), link ? el("p", { class: "small" }, el("a", { href: "#/diagnostics" },
      "Diagnostics of training")) : null) : null;
}

// Views by the first part of their address. A main view is in the navigation, in ascending `order`; a detail view gets
// the numbers of its address as arguments. A view returns { title, lead, body } and, for details, the main view `nav`.
const views = new Map(), menu = [];
const addView = (key, title, order, build) => {
  views.set(key, build);
  menu.push({ key, title, order, href: key === "overview" ? "#/" : `#/${key}` });
};
const addDetail = (key, build) => { views.set(key, build); };
