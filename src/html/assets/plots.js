// The plots of a page of results. Each is a function over records; it returns panels (plotting.js), or none where the
// data has nothing to show in it.
"use strict";
tbench.plots = (() => {
  const { files, varying } = tbench;
  const { nameBy, metric, families, titled, panelsBy, split, middles, bars, lines } = tbench.plotting;
  const { roofline, unplaced, shares, ceilings, bandwidth, products } = tbench.operations;
  const { implementationOf, shadeOf } = tbench.colours;
  const kMaxBars = 40; // stacked ones that one panel can name
  /** Of models: an operation of many sizes has plots of its own. */
  const models = (records) => records.filter((r) => !("op" in r.values));
  const bySize = (records, valueOf, yTitle) => bars(models(records), valueOf, yTitle);
  const byContext = (records, valueOf, yTitle) => lines(models(records), "ctx", (known) => split(known, ["ctx"]), valueOf, yTitle);
  /** All implementations of one shape in one panel. */
  function bySequence(records, valueOf, yTitle) {
    const keysOf = (known) => {
      const rest = varying(known).filter((k) => k !== "seq_len");
      return { panel: rest.filter((k) => k !== "impl"), series: rest.filter((k) => k === "impl") };
    };
    return lines(records, "seq_len", keysOf, valueOf, yTitle);
  }
  function phases(records) {
    return families(middles(records.filter((r) => r.phases_ms), metric("median_ms")), (family) => {
      const panel = ["size", "ctx"].filter((k) => varying(family).includes(k));
      const by = varying(family).filter((k) => !panel.includes(k));
      return panelsBy(family, panel).map((group) => {
        const label = (r) => (nameBy(r, by) || implementationOf(r) || r.family) + (files.length > 1 ? ` · ${files[r.file].label}` : "");
        const shown = group.slice(0, kMaxBars);
        const more = group.length > shown.length ? `; ${group.length - shown.length} more: choose fewer cases above` : "";
        const names = [...new Set(shown.flatMap((r) => r.phases_ms.map(([name]) => name)))];
        return { title: titled(group, panel) + more, kind: "stack", x: "median, ms", y: "", labels: shown.map(label),
          series: names.map((name, i) => ({ name, paint: "--accent", shade: shadeOf(i, names.length), file: 0, points: shown.flatMap((r) => r.phases_ms.filter(([n]) => n === name).map(([, ms]) => ({ x: ms, y: label(r), record: r }))) })) };
      });
    });
  }
  return [
    { id: "ratio", title: "Compared with the first file", note: "Ratio of the times, under 1 is faster; the bar is the 95 % interval. The largest changes first.", panels: tbench.comparison.panels },
    { id: "throughput", title: "Throughput", note: "Tokens a second, higher is better.", panels: (r) => bySize(r, metric("tokens_per_second"), "tokens/s") },
    { id: "time", title: "Step time against context", note: "Median of the samples. A cross: out of memory, at the top and not at a time.", panels: (r) => byContext(r, metric("median_ms"), "ms") },
    { id: "memory", title: "Peak memory against context", note: "Allocated peak. A cross: out of memory.", panels: (r) => byContext(r, metric("peak_allocated_bytes", 2 ** -30), "GiB") },
    { id: "attention-time", title: "Attention: time against sequence length", note: "Median of the samples of every implementation. A cross: out of memory, at the top and not at a time.", panels: (r) => bySequence(r, metric("median_ms"), "ms") },
    { id: "attention-memory", title: "Attention: peak memory against sequence length", note: "Allocated peak. A cross: out of memory.", panels: (r) => bySequence(r, metric("peak_allocated_bytes", 2 ** -20), "MiB") },
    { id: "ceilings", title: "Ceilings", note: "What this GPU gave where nothing but moving bytes, or nothing but matrix products, was asked of it.", panels: ceilings },
    { id: "roofline", title: "Roofline", note: (r) => `Achieved rate against FLOP per byte, under the ceilings that the same file measured, the best of each kind: copy, and the matrix rate of the precision. Bytes are those that a case must move: by its family's formula, or of matrix products and attention inputs and outputs once.${unplaced(r)}`, panels: roofline },
    { id: "share", title: "Share of the ceiling", note: "The rate over what this GPU was measured to give, in the same run and regime: bytes a second where the family counts bytes, else FLOP/s.", panels: shares },
    { id: "products", title: "Matrix products", note: "Achieved FLOP/s, higher is better. Dashed: the measured ceiling of the precision.", panels: products },
    { id: "bandwidth", title: "Bandwidth of operations", note: "Bytes that an operation must move, by its family's formula, over its time.", panels: bandwidth },
    { id: "flops", title: "Achieved FLOP/s", note: "Of the matrix products that the model needs.", panels: (r) => bySize(r, metric("flop_per_second", 1e-12), "TFLOP/s") },
    { id: "mfu", title: "Model FLOP utilisation", note: "Share of the datasheet's dense rate at its boost clock. What a backward computes once more does not count.", panels: (r) => bySize(r, metric("mfu", 100), "MFU %") },
    { id: "phases", title: "Phases of a step", note: "Medians of each phase; they need not add up to the step's median. Of several processes the middle one.", panels: phases },
    { id: "classes", title: "The GPU's time by class of operation", note: "Of a traced step, by phase, and beside it the gaps in which the GPU did nothing: the host was late, or the next operation was queued and not yet begun. Of several processes the middle one.", panels: tbench.traces.classes },
    { id: "gaps", title: "Gaps between operations", note: "How long the GPU did nothing in a traced step, and why. A traced step is longer than a timed one where the host limits it.", panels: tbench.traces.gaps },
  ];
})();
