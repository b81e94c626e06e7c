// Convergence of training.
const TRACES = { log_likelihood: "Log-likelihood per word", seconds: "Seconds per iteration",
  moved: "Words that changed topic", doc_tables: "Tables of documents", word_tables: "Tables of words" };

function traceChart(key) {
  const title = TRACES[key] || key.replaceAll("_", " ");
  const own = diagnostics.chains.map((chain) =>
    ({ chain, values: new Map(chain.traces).get(key) })).filter(({ values }) => values);
  // The range leaves out the first iterations, which are far below.
  const settled = own.flatMap(({ values }) => values.slice(Math.floor(values.length / 20))).sort((a, b) => a - b);
  const room = 0.05 * (settled.at(-1) - settled[0]) || Math.abs(settled[0]) * 0.1 || 1;
  const several = own.length > 1;
  const longest = own.reduce((a, b) => (b.values.length > a.values.length ? b : a)).chain.iterations;
  const lines = own.map(({ chain, values }, i) => ({ name: several ? chain.name : "", values, low: null, high: null,
    style: lineStyle(i) }));
  const legend = several ? el("ul", { class: "chips", "aria-label": "Colors" }, own.map(({ chain }, i) =>
    el("li", { class: "chip" }, el("span", { class: "dot", style: { background: lineStyle(i).stroke } }), chain.name)))
    : null;
  const showY = (y) => (y === undefined ? "–" : y.toLocaleString("en", { maximumSignificantDigits: 5 }));
  return card(title, legend, lineChart(`${title}, by iteration`, { x: longest, lines, xTitle: "iteration",
    showX: (x) => x.toLocaleString("en"), showY, range: [settled[0] - room, settled.at(-1) + room], height: 260,
    from: diagnostics.burn_in }));
}

addView("diagnostics", "Diagnostics", 60, () => {
  const keys = [...new Set(diagnostics.chains.flatMap((chain) => chain.traces.map(([key]) => key)))];
  const several = diagnostics.chains.length > 1;
  const verdict = (r) =>
    (r < 1.01 ? "converged" : r < 1.1 ? "nearly converged: train for more iterations to be sure"
    : "not converged: train for more iterations");
  const rest = diagnostics.r_hat === null ? "The chain is too short for R-hat."
    : [el("b", {}, diagnostics.r_hat.toFixed(3)), ` — ${verdict(diagnostics.r_hat)}.`];
  return {
    title: ["Diagnostics"],
      lead: "Has training converged? The dotted line is the end of the burn-in; draws are kept after it.",
    body: [
      caution(false, false),
      card("R-hat of the log-likelihood", el("p", {}, rest), el("p", { class: "muted small" }, several
        ? `${diagnostics.chains.length} chains, each split in halves, after the burn-in. It measures only the `
          + `likelihood: different chains number their topics differently.`
        : "The two halves of one chain after the burn-in. Several chains (other seeds) give a stronger test.")),
      el("div", { class: "columns" }, keys.map(traceChart)),
    ],
  };
});
