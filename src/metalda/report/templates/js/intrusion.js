// Intrusion tasks: a start, one task at a time, and an end that saves the answers.
const { words, topics, blank } = JSON.parse(document.getElementById("tasks").textContent);
const title = document.title;
const tasks = [
  ...words.map((options, i) => ({ part: "Words", number: i + 1, of: words.length, options, text: null,
    question: "Which word does not belong to the others?" })),
  ...topics.map(({ text, options }, i) => ({ part: "Document", number: i + 1, of: topics.length, options, text,
    question: "Which group of words fits the document least?" })),
];

// The answers so far: in this page, and in the browser if it keeps data.
const place = `metalda-${blank.document.tasks}`;
const isChoice = (choice, i) => choice === null
  || (Number.isInteger(choice) && choice >= 0 && choice < tasks[i].options.length);
const empty = () => ({ coder: "", answers: [...blank.document.answers] });

function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(place));
    const whole = kept && typeof kept.coder === "string" && Array.isArray(kept.answers)
      && kept.answers.length === tasks.length && kept.answers.every(isChoice);
    return whole ? { coder: kept.coder, answers: kept.answers } : empty();
  } catch { return empty(); }
}
let state = restore(), keeps = false, saved = true;
function keep() {
  try {
    localStorage.setItem(place, JSON.stringify(state));
    keeps = localStorage.getItem(place) !== null;
  } catch { keeps = false; }
}
keep();
const answered = () => state.answers.filter((choice) => choice !== null).length;

// Views: -1 is the start, tasks follow by number, and the last is the end.
let current = -1;
function show(view, focus = true) {
  current = Math.max(-1, Math.min(view, tasks.length));
  const build = current < 0 ? start : current < tasks.length ? task : end;
  const [heading, ...body] = build();
  const first = el("h1", { tabindex: -1 }, heading);
  document.getElementById("main").replaceChildren(el("div", { class: "stack" }, first, body));
  document.title = `${heading} – ${title}`;
  if (focus) { window.scrollTo(0, 0); first.focus({ preventScroll: true }); }
  document.getElementById("main").dataset.shown = current;
}

const button = (text, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, text);
const progress = () => el("div", {},
  el("progress", { max: tasks.length, value: answered(), "aria-label": "Answered tasks" }),
  el("p", { class: "muted small" }, `${answered()} of ${count(tasks.length, "task")} answered. `,
    keeps ? "Your answers stay in this browser until you delete them."
      : "This browser keeps no data: download your answers before you close the page."));

function coderField(id) {
  const input = el("input", { type: "text", id, maxlength: 100, autocomplete: "name", value: state.coder,
    oninput: () => { state.coder = input.value; saved = false; keep(); } });
  return el("label", { class: "field", for: id }, el("span", {}, "Your name or code"), input);
}

function start() {
  const asked = [
    words.length ? `For ${count(words.length, "group")} of words, choose the word that does not belong.` : "",
    topics.length ? `For ${count(topics.length, "document")}, choose the group of words that fits least.` : "",
    "If you are not sure, choose the most likely one. You can stop at any time and continue later.",
  ];
  return [
    title,
    el("p", {}, asked.filter(Boolean).join(" ")),
    el("p", {}, "At the end, download your answers as a file and send it to the person who gave you this page. "
      + "Nothing is sent by itself."),
    el("p", { class: "muted small" },
      "Keyboard: a number chooses, Enter goes on, Tab reaches everything else."),
    el("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); show(firstOpen()); } },
      coderField("coder"), progress(),
      el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" },
        answered() ? "Continue" : "Start"))),
  ];
}
const firstOpen = () => { const i = state.answers.indexOf(null); return i < 0 ? tasks.length : i; };

function choose(choice) {
  state.answers[current] = choice;
  saved = false;
  keep();
  const bar = document.querySelector("progress");
  bar.value = answered();
  bar.nextElementSibling.firstChild.data = `${answered()} of ${count(tasks.length, "task")} answered. `;
}

function task() {
  const { part, number, of, options, text, question } = tasks[current], chosen = state.answers[current];
  const radios = options.map((option, i) => el("label", { class: "option" },
    el("input", { type: "radio", name: "choice", value: i, checked: chosen === i, onchange: () => choose(i) }),
    el("span", { class: "muted number", "aria-hidden": "true" }, String(i + 1)),
    Array.isArray(option) ? el("span", {}, named(option)) : name(option)));
  return [
    `${part} ${number} of ${of}`,
    text === null ? null : el("section", { class: "card", "aria-label": "Document" },
      el("p", { class: "document", dir: "auto", tabindex: 0 }, visible(text))),
    el("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); show(current + 1); } },
      el("fieldset", {}, el("legend", {}, question),
        el("div", { class: text === null ? "options short" : "options" }, radios)),
      el("div", { class: "actions" }, button("Back", () => show(current - 1)),
        el("button", { type: "submit", class: "primary" }, "Next"),
        button("Finish", () => show(tasks.length), { class: "last" }))),
    progress(),
  ];
}

function end() {
  const open = tasks.map((_, i) => i).filter((i) => state.answers[i] === null);
  const message = el("p", { id: "message", role: "alert" });
  const field = coderField("coder");
  const download = () => {
    state.coder = state.coder.trim();
    message.textContent = state.coder ? "" : "Please enter your name or code first.";
    if (state.coder) save(message); else field.querySelector("input").focus();
  };
  return [
    open.length ? "Not all tasks are answered" : "All tasks are answered",
    open.length ? el("div", {},
      el("p", {}, `${count(open.length, "task")} without an answer. You can answer now, or leave them out.`),
      el("div", { class: "group" }, open.map((i) =>
        button(`${tasks[i].part} ${tasks[i].number}`, () => show(i))))) : null,
    el("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); download(); } }, field,
      el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Download answers"),
        button("Back to the tasks", () => show(firstOpen() % tasks.length)))),
    message,
    progress(),
    disclosure("Delete my answers", () => el("div", {},
      el("p", {}, "This deletes your name and all answers from this browser, for example for another person."),
      button("Delete them", () => {
        state = empty();
        saved = true;
        keep();
        show(-1);
        say("The answers are deleted.");
      }))),
  ];
}

function save(message) {
  const { coder, answers } = state, document_ = { ...blank.document, coder, answers };
  const content = new Blob([JSON.stringify({ ...blank, document: document_ })], { type: "application/json" });
  const address = URL.createObjectURL(content);
  const file = coder.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "coder";
  el("a", { href: address, download: `answers-${file}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  saved = true;
  message.textContent = "The file is saved by your browser. Please send it back.";
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input[type=text]") || event.ctrlKey || event.metaKey || event.altKey;
  if (/^[1-9]$/.test(event.key) && !typing) {
    const radio = document.querySelectorAll("input[name=choice]")[Number(event.key) - 1];
    if (radio) { radio.click(); radio.focus(); }
  } else if (event.key === "Enter" && event.target.matches("h1") && current >= 0 && current < tasks.length) {
    show(current + 1);
  }
});
window.addEventListener("beforeunload", (event) => { if (!keeps && !saved) event.preventDefault(); });
startPage();
show(-1, false);
