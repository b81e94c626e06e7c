// Whether training has come to rest.
const TRACES = { log_likelihood: "Log-likelihood per word", seconds: "Seconds per sweep",
  moved: "Words that changed their topic", doc_tables: "Tables of documents", word_tables: "Tables of words" };

function traceChart(key) {
  const title = TRACES[key] || key.replaceAll("_", " ");
  const own = diagnostics.chains.map((chain) =>
    ({ chain, values: new Map(chain.traces).get(key) })).filter(({ values }) => values);
  const traces = own.map(({ chain, values }, i) => ({
    type: "scatter", mode: "lines", x: chain.sweeps, y: values, name: safe(chain.name),
      line: { width: 1.6, color: colour(`mix-${(i % mixColours) + 1}`) },
    hovertemplate: "sweep %{x}: %{y}<extra></extra>",
  }));
  // The first sweeps are far below: the picture is of what comes after.
  const settled = own.flatMap(({ values }) => values.slice(Math.floor(values.length / 20))).sort((a, b) => a - b);
  const room = 0.05 * (settled.at(-1) - settled[0]) || Math.abs(settled[0]) * 0.1 || 1;
  const layout = {
    height: 280, showlegend: own.length > 1, legend: { orientation: "h", y: 1.12 },
    xaxis: { title: { text: "sweep", font: { size: 12 } }, zeroline: false },
    yaxis: { zeroline: false, range: [settled[0] - room, settled.at(-1) + room] },
    shapes: [{ type: "line", x0: diagnostics.burn_in, x1: diagnostics.burn_in, yref: "paper", y0: 0, y1: 1,
      line: { color: colour("muted"), width: 1, dash: "dot" } }],
  };
  const behind = () => table(
    [["sweep", ([sweep]) => String(sweep)],
    ...own.map(({ chain }, i) => [chain.name, (row) => String(row[i + 1] ?? ""), "number"])],
    own[0].chain.sweeps.map((sweep, at) => [sweep, ...own.map(({ values }) => values[at])]).filter((_, at, all) =>
      at % Math.ceil(all.length / 50) === 0 || at === all.length - 1));
  return card(title, chart(`${title}, by sweep`, traces, layout, behind));
}

views.diagnostics = () => {
  const keys = [...new Set(diagnostics.chains.flatMap((chain) => chain.traces.map(([key]) => key)))];
  const several = diagnostics.chains.length > 1;
  const verdict = (r) =>
    (r < 1.01 ? "at rest" : r < 1.1 ? "nearly at rest: more sweeps would do no harm"
    : "not at rest: train for more sweeps");
  const rest = diagnostics.r_hat === null ? "The chain is too short for R-hat."
    : [el("b", {}, diagnostics.r_hat.toFixed(3)), ` — ${verdict(diagnostics.r_hat)}.`];
  return {
    title: ["Diagnostics"],
      lead: "Did training come to rest? The dotted line is the end of the burn-in; draws are kept after it.",
    body: [
      card("R-hat of the log-likelihood", el("p", {}, rest), el("p", { class: "muted small" }, several
        ? `${diagnostics.chains.length} chains, each in halves, after the burn-in. It speaks for the likelihood `
          + `alone: topics of different chains have different numbers.`
        : "One chain, its halves against each other, after the burn-in. Several chains (other seeds) would say more.")),
      el("div", { class: "columns" }, keys.map(traceChart)),
    ],
  };
};
