// Numbers and names as text.
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const percent = (share, digits = 1) => (share === null ? "–" : `${(100 * share).toFixed(digits)}%`);
const signed = (x, digits = 2) => (x === null ? "–" : `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`);
const times = (effect) => { const t = Math.exp(Math.min(effect, 50));
  return t < 10 ? t.toFixed(2) : Math.round(t).toLocaleString("en"); };
const brief = (text, n = 28) => { const letters = [...text];
  return letters.length <= n ? text : `${letters.slice(0, n - 1).join("")}…`; };
// Remove marks that change the direction of writing; show the code points of invisible names.
const straight = (text) => text.replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "");
const visible = (text) =>
  (straight(text).replace(/[\s\p{Cc}\p{Cf}]+/gu, "") ? text
  : [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ") || "(empty)");
