// The summary, and helpers that read it.
const summary = JSON.parse(document.getElementById("summary").textContent);
const { overview, topics, words, labels, numbers, wording, documents: docs, diagnostics, comparison } = summary;

const level = () => `${Math.round(100 * overview.interval)}%`;

const wordName = (place) => words.names[place];
const topicName = (k) => topics[k].name;
// " (in 2 of 4 chains)" for a topic that some chains lack.
const inChains = (k) => (topics[k].chains === overview.n_chains ? ""
  : ` (in ${topics[k].chains} of ${overview.n_chains} chains)`);
// The top words of a background topic are arbitrary: it is named instead, and listed last.
const topWords = (k, n) => (topics[k].background ? ["(background)"] : topics[k].words.slice(0, n).map(wordName));
const backgroundLast = (key) => (a, b) => a.background - b.background || key(a) - key(b);
const hasEffects = Boolean(labels && labels.effect.length);
const hasPrevalence = Boolean(labels && labels.prevalence.length);

// relevance = lambda log p(word | topic) + (1 - lambda) log lift; lift = p(word | topic) / p(word)
function byRelevance(topic, lambda, n = 30) {
  const rows = topic.words.map((word, i) => {
    const p = topic.probabilities[i], overall = words.probabilities[word];
    const lift = p / Math.max(overall, Number.MIN_VALUE);
    return { word, p, overall, lift, score: lambda * Math.log(p) + (1 - lambda) * Math.log(lift) };
  });
  if (lambda < 1) rows.sort((a, b) => b.score - a.score); // at 1 they are already in order
  return rows.slice(0, n);
}

// The end of an interval nearest to 0; negative if the interval contains 0.
const sure = ({ effect, low, high }) => (low === null ? Math.abs(effect) : Math.max(low, -high));

// The two scales of an effect. A cell is { effect, low, high } of label j and topic k on the chosen scale.
const scales = {
  difference: { name: "percentage points", axis: "change of the expected share (percentage points)", digits: 1,
    means: "Change of the topic's expected share in documents with the label, in percentage points, compared with the "
      + "same documents without its effect" },
  effect: { name: "log weight", axis: "effect on the log weight (0.7 doubles)", digits: 2,
    means: "Log weight of the label compared with its kind, or with its absence: 0.7 doubles the topic's weight" },
};
let scale = "difference";
const cell = (j, k) => (scale === "effect"
  ? { effect: labels.effect[j][k], low: labels.low[j][k], high: labels.high[j][k] }
  : Object.fromEntries(["", "_low", "_high"].map((end) => {
    const value = labels[`difference${end}`][j][k];
    return [end.slice(1) || "effect", value === null ? null : 100 * value];
  })));
const inScale = (x) => signed(x, scales[scale].digits);
const ends = (row) => (row.low === null ? "no interval" : `${inScale(row.low)} to ${inScale(row.high)}`);
const pickScale = (redraw) => choice("Scale", Object.keys(scales).map((key) => [key, scales[key].name]), scale,
  (value) => { scale = value; redraw(); });

// Draws of log weights around their mean, as signed bytes by [label][topic][draw].
const drawn = labels && labels.draws ? Int8Array.from(atob(labels.draws), (c) => c.charCodeAt(0)) : null;

// Quantile at Weibull's plotting position, as for all intervals.
function quantile(sorted, q) {
  const at = Math.min(Math.max(q * (sorted.length + 1) - 1, 0), sorted.length - 1), i = Math.floor(at);
  return sorted[i] + (at - i) * (sorted[Math.min(i + 1, sorted.length - 1)] - sorted[i]);
}

// Difference of the log weights of labels a and b on each topic, draw by draw.
function contrast(a, b) {
  const n = labels.n_draws, tail = (1 - overview.interval) / 2;
  return topics.map((_, k) => {
    const effect = labels.weight[a][k] - labels.weight[b][k], differences = [];
    for (let s = 0; s < n; s++) {
      const step = drawn[(a * topics.length + k) * n + s] - drawn[(b * topics.length + k) * n + s];
      differences.push(effect + step * labels.draw_scale);
    }
    differences.sort((x, y) => x - y);
    const held = tail * (n + 1) >= 1 - 1e-9; // otherwise the draws do not have the quantile
    return { topic: k, effect, low: held ? quantile(differences, tail) : null,
      high: held ? quantile(differences, 1 - tail) : null };
  });
}
