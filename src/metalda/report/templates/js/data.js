// The summary, and helpers that read it.
const summary = JSON.parse(document.getElementById("summary").textContent);
const { overview, topics, tree, correlations, words, labels, numbers, wording, documents: docs, diagnostics,
  comparison } = summary;

const level = () => `${Math.round(100 * overview.interval)}%`;

const wordName = (place) => words.names[place];
const topicName = (k) => topics[k].name;
const topicNumber = (k) => topicName(k).replace(/^topic/, ""); // that it has in the model
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

// The name of a topic: as given, or from its most relevant words.
const shortName = (k) => visible(topics[k].title);

// The end of an interval nearest to 0; negative if the interval contains 0.
const sure = ({ effect, low, high }) => (low === null ? Math.abs(effect) : Math.max(low, -high));

// Factors that are round numbers, as log weights.
function timesTicks(low, high, n) {
  const decades = Math.max(high, -low) / Math.log(10);
  const steps = decades > n / 2 ? [10 ** Math.ceil(decades / n)] : decades > 0.75 ? [2, 5, 10]
    : decades > 0.35 ? [1.5, 2, 3, 4, 5] : decades > 0.1 ? [1.25, 1.5, 2] : [1.05, 1.1, 1.2];
  const factors = steps.length === 1 ? Array.from({ length: n }, (_, i) => steps[0] ** (i + 1))
    : steps.flatMap((step) => [1, 10, 100, 1000].map((power) => step * power));
  const logs = factors.map(Math.log).sort((a, b) => a - b);
  return [...logs.map((x) => -x).reverse(), 0, ...logs].filter((x, i, all) => x >= low && x <= high
    && all.indexOf(x) === i);
}

// The two scales of an effect: `show` writes a value, `marks` are those of an axis. A cell is { effect, low, high } of
// label j and topic k on the chosen scale.
const scales = {
  times: { name: "times", axis: "the topic's weight is multiplied by", show: times, marks: timesTicks,
    means: "How many times the label multiplies the topic's weight, compared with other labels of its kind, or with "
      + "its absence" },
  difference: { name: "percentage points", axis: "change of the expected share (percentage points)",
    show: (x) => signed(x, 1), marks: ticks,
    means: "Change of the topic's expected share in documents with the label, in percentage points, compared with the "
      + "same documents without its effect" },
};
let scale = "times";
const cellOn = (own, j, k) => (own === "times"
  ? { effect: labels.effect[j][k], low: labels.low[j][k], high: labels.high[j][k] }
  : Object.fromEntries(["", "_low", "_high"].map((end) => {
    const value = labels[`difference${end}`][j][k];
    return [end.slice(1) || "effect", value === null ? null : 100 * value];
  })));
const cell = (j, k) => cellOn(scale, j, k);
const inScale = (x) => scales[scale].show(x);
const isClear = ({ low, high }) => low > 0 || high < 0;
const ends = (row, show = inScale) => (row.low === null ? "no interval" : `${show(row.low)} to ${show(row.high)}`);
// The chosen scale stays when the view changes, and is part of the address.
function pickScale(redraw) {
  scale = oneOf("scale", Object.keys(scales), scale);
  setOption("scale", scale, "times");
  return choice("Scale", Object.keys(scales).map((key) => [key, scales[key].name]), scale,
    (value) => { scale = value; setOption("scale", scale, "times"); redraw(); });
}

// The topic that a label certainly raises most: with the largest lower end above 0; null if there is none.
function raises(j) {
  const rows = topics.map((_, k) => ({ k, ...cell(j, k) })).filter(({ low }) => low !== null && low > 0);
  return rows.length ? rows.reduce((a, b) => (b.low > a.low ? b : a)).k : null;
}

// Draws of log weights around their mean, as signed bytes by [label][topic][draw].
const drawn = labels && labels.draws ? Int8Array.from(atob(labels.draws), (c) => c.charCodeAt(0)) : null;

// Quantile at Weibull's plotting position, as for all intervals.
function quantile(sorted, q) {
  const at = Math.min(Math.max(q * (sorted.length + 1) - 1, 0), sorted.length - 1), i = Math.floor(at);
  return sorted[i] + (at - i) * (sorted[Math.min(i + 1, sorted.length - 1)] - sorted[i]);
}

// Difference of the summed log weights of two sets of labels on each topic, draw by draw; labels in both cancel.
function contrast(first, second) {
  const n = labels.n_draws, tail = (1 - overview.interval) / 2;
  const parts = [...first.map((j) => [j, 1]), ...second.map((j) => [j, -1])];
  return topics.map((_, k) => {
    const effect = parts.reduce((sum, [j, sign]) => sum + sign * labels.weight[j][k], 0), differences = [];
    for (let s = 0; s < n; s++) {
      const step = parts.reduce((sum, [j, sign]) => sum + sign * drawn[(j * topics.length + k) * n + s], 0);
      differences.push(effect + step * labels.draw_scale);
    }
    differences.sort((x, y) => x - y);
    const held = tail * (n + 1) >= 1 - 1e-9; // otherwise the draws do not have the quantile
    return { topic: k, effect, low: held ? quantile(differences, tail) : null,
      high: held ? quantile(differences, 1 - tail) : null };
  });
}
// Whether the training documents identify a contrast; else the prior decides it.
const isIdentified = (first, second) => Math.abs(first.reduce((sum, j) => sum + labels.reference[j], 0)
  - second.reduce((sum, j) => sum + labels.reference[j], 0)) < 1e-5;
