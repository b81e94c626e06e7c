// Numbers and names as text.
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const percent = (share, digits = 1) => (share === null ? "–" : `${(100 * share).toFixed(digits)}%`);
const signed = (x, digits = 2) => (x === null ? "–" : `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`);
// The factor of a log weight, as in 2.4×; marks of an axis are fractions, as in ½×.
const FRACTIONS = { 2: "½", 4: "¼" };
function times(effect, mark = false) {
  if (effect === null) return "–";
  const t = Math.exp(Math.max(-50, Math.min(effect, 50)));
  if (mark) return `${markText(t)}×`;
  return `${t < 0.0095 ? t.toExponential(1) : t < 0.095 ? t.toFixed(3) : t < 9.95 ? t.toFixed(2)
    : Math.round(t).toLocaleString("en")}×`;
}
// A mark of an axis is exact: 1.5 and 1/10, but 0.67 for 1/1.5.
function markText(t) {
  if (t > 1 - 1e-9) return t >= 100 ? Math.round(t).toLocaleString("en") : String(Number(t.toPrecision(4)));
  const inverse = Math.round(1 / t);
  if (Math.abs(t * inverse - 1) > 1e-6) return String(Number(t.toPrecision(2)));
  return FRACTIONS[inverse] || `1/${inverse.toLocaleString("en")}`;
}
const brief = (text, n = 28) => { const letters = [...text];
  return letters.length <= n ? text : `${letters.slice(0, n - 1).join("")}…`; };
// Remove marks that change the direction of writing; show the code points of invisible names.
const straight = (text) => text.replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "");
const visible = (text) =>
  (straight(text).replace(/[\s\p{Cc}\p{Cf}]+/gu, "") ? text
  : [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ") || "(empty)");
