// Convergence of training.
const TRACES = { log_likelihood: "Log-likelihood per word", seconds: "Seconds per iteration",
  moved: "Words that changed topic", doc_tables: "Tables of documents", word_tables: "Tables of words" };

function traceChart(key) {
  const title = TRACES[key] || key.replaceAll("_", " ");
  const own = diagnostics.chains.map((chain) =>
    ({ chain, values: new Map(chain.traces).get(key) })).filter(({ values }) => values);
  const traces = own.map(({ chain, values }, i) => ({
    type: "scatter", mode: "lines", x: chain.iterations, y: values, name: safe(chain.name),
      line: { width: 1.6, color: color(`mix-${(i % mixColors) + 1}`) },
    hovertemplate: "iteration %{x}: %{y}<extra></extra>",
  }));
  // The range leaves out the first iterations, which are far below.
  const settled = own.flatMap(({ values }) => values.slice(Math.floor(values.length / 20))).sort((a, b) => a - b);
  const room = 0.05 * (settled.at(-1) - settled[0]) || Math.abs(settled[0]) * 0.1 || 1;
  const layout = {
    height: 280, showlegend: own.length > 1, legend: { orientation: "h", y: 1.12 },
    xaxis: { title: { text: "iteration", font: { size: 12 } }, zeroline: false },
    yaxis: { zeroline: false, range: [settled[0] - room, settled.at(-1) + room] },
    shapes: [{ type: "line", x0: diagnostics.burn_in, x1: diagnostics.burn_in, yref: "paper", y0: 0, y1: 1,
      line: { color: color("muted"), width: 1, dash: "dot" } }],
  };
  const behind = () => table(
    [["iteration", ([iteration]) => String(iteration)],
    ...own.map(({ chain }, i) => [chain.name, (row) => String(row[i + 1] ?? ""), "number"])],
    own[0].chain.iterations.map((iteration, at) => [iteration, ...own.map(({ values }) => values[at])])
      .filter((_, at, all) => at % Math.ceil(all.length / 50) === 0 || at === all.length - 1));
  return card(title, chart(`${title}, by iteration`, traces, layout, behind));
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
      card("R-hat of the log-likelihood", el("p", {}, rest), el("p", { class: "muted small" }, several
        ? `${diagnostics.chains.length} chains, each split in halves, after the burn-in. It measures only the `
          + `likelihood: different chains number their topics differently.`
        : "The two halves of one chain after the burn-in. Several chains (other seeds) give a stronger test.")),
      el("div", { class: "columns" }, keys.map(traceChart)),
    ],
  };
});
