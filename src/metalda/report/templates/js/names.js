// Names of topics that the reader gives. They are kept in the browser, and saved as a file for metalda and Python.
const NAMES_KEY = `metalda names ${overview.key}`, LONGEST_NAME = 200;
const givenTitles = topics.map((t) => t.title); // those of the report
let isKept = true; // not in some frames, and where the reader forbids it

// What is wrong with a name, as metalda would say; null for a good one. `others` are the names of other topics.
function nameProblem(text, others) {
  if (!text) return "A name is not empty.";
  if ([...text].length > LONGEST_NAME) return `A name has at most ${LONGEST_NAME} characters.`;
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(text.replace(/[\u200c\u200d]/g, ""))) return "A name has only printable characters.";
  if (/^(topic ?)?[0-9]+$/i.test(text)) return "This could be the number of a topic.";
  return others.includes(text) ? "Another topic has this name." : null;
}
const otherTitles = (k) => topics.filter((t) => t.number !== k).map((t) => t.title);
const oneSpaced = (text) => text.replace(/\s+/g, " ").trim();

// The names that differ from those of the report, by the number of the topic in the model.
const changedNames = () => Object.fromEntries(topics.filter((t, k) => t.title !== givenTitles[k])
  .map((t) => [topicNumber(t.number), t.title]));

function keepNames() {
  const names = changedNames();
  try {
    if (Object.keys(names).length) localStorage.setItem(NAMES_KEY, JSON.stringify(names));
    else localStorage.removeItem(NAMES_KEY);
  } catch { isKept = false; }
}

// Other pages may have written what is kept, so it is checked like any text.
function readNames() {
  let found = null;
  try { found = JSON.parse(localStorage.getItem(NAMES_KEY) || "{}"); } catch { isKept = false; }
  if (typeof found !== "object" || found === null) return;
  for (const t of topics) {
    const text = Object.hasOwn(found, topicNumber(t.number)) ? found[topicNumber(t.number)] : null;
    if (typeof text === "string" && text === oneSpaced(text) && !nameProblem(text, [])) t.title = text;
  }
  const twice = (k) => otherTitles(k).includes(topics[k].title);
  while (topics.some((t, k) => t.title !== givenTitles[k] && twice(k)))
    topics.forEach((t, k) => { if (twice(k)) t.title = givenTitles[k]; });
}
readNames();

function setTitle(k, text) {
  topics[k].title = text;
  keepNames();
  redraw();
  const button = document.querySelector(`[data-rename="${k}"]`);
  if (button) button.focus();
  say(`Named ${text}`);
}

// The pencil, which opens a field in its place.
function renameButton(k, title = null) {
  const place = el("span", { class: "rename screen" });
  const close = () => { place.classList.remove("renaming"); place.replaceChildren(button); };
  const button = el("button", { type: "button", class: "quiet pencil", "data-rename": k,
    "aria-label": `Rename ${plain(shortName(k), 60)}`, onclick: () => {
      const problem = el("span", { role: "alert", class: "warning small" });
      const save = () => {
        const text = oneSpaced(input.value) || givenTitles[k];
        problem.textContent = text === givenTitles[k] ? "" : nameProblem(text, otherTitles(k)) || "";
        if (problem.textContent) input.focus(); else setTitle(k, text);
      };
      const input = el("input", { type: "text", value: topics[k].title, "aria-label": "Name of the topic",
        onkeydown: (event) => {
          if (event.key === "Enter") { event.preventDefault(); save(); } // and not the pencil that gets the focus
          if (event.key === "Escape") { close(); button.focus(); }
        } });
      place.classList.add("renaming");
      place.replaceChildren(input, el("button", { type: "button", onclick: save }, "Save"),
        topics[k].title === givenTitles[k] ? "" : el("button", { type: "button",
          onclick: () => setTitle(k, givenTitles[k]) }, "Original name"),
        el("button", { type: "button", onclick: () => { close(); button.focus(); } }, "Cancel"), problem);
      input.focus();
      input.select();
    } }, title ? `✎ ${title}` : "✎");
  close();
  return place;
}

// What was renamed, with the file; null if nothing was.
function namesCard() {
  const names = changedNames(), n = Object.keys(names).length;
  if (!n) return null;
  return el("section", { class: "card screen", "aria-label": "Names" },
    el("p", {}, `${count(n, "topic")} ${n === 1 ? "has" : "have"} a name that was given here. `, isKept
      ? "This browser keeps it for this report." : "This browser does not keep it: save the file before you leave.",
    " The file of names is read by ", el("code", {}, "metalda report --names"), ", ",
    el("code", {}, "metalda curate --names"), " and in Python by ", el("code", {}, "read_names"), "."),
    el("div", { class: "group" },
      el("button", { type: "button", onclick: () => saveFile(`${JSON.stringify(names, null, 1)}\n`, "application/json",
        "-names.json") }, "Save the names as a file"),
      el("button", { type: "button", onclick: () => {
        topics.forEach((t, k) => { t.title = givenTitles[k]; });
        keepNames();
        redraw();
        document.querySelector("h1").focus();
      } }, "Take them back")));
}
