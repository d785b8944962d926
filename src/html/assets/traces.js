// Plots of traced steps: what the GPU did by phase and class of operation, and when it did nothing.
"use strict";
tbench.traces = (() => {
  const { files, varying, groupBy, format } = tbench;
  const { nameBy, metric, families, titled, panelsBy, middles } = tbench.plotting;
  const { implementationOf } = tbench.colours;
  const kMaxRows = 40; // that one panel can name
  const kLeastShare = 0.02; // of a panel's time: what is less is `others`
  /** Slots of the page's colours: classes that take much of a step have one each. */
  const kSlots = { gemm: 2, attention_fused: 1, softmax_forward: 7, softmax_backward: 7, norm: 6, elementwise: 4, reduction: 5, copy: 3, optimizer: 9, loss: 8, embedding_index: 0 };
  const kSecond = ["softmax_backward"]; // darker ones of a colour
  const kGaps = [["gap: host late", "--bad", "host"], ["gap: device's own", "--warn", "own"], ["gap: others", "--dim", "others"]]; // name, paint, which of trace.gaps
  const kHow = ["impl", "method", "pass", "precision", "exec"]; // how the work of one shape is done
  const traced = (records) => middles(records.filter((r) => r.trace), metric("median_ms"));
  const labelOf = (by) => (r) => (nameBy(r, by) || implementationOf(r) || r.family) + (files.length > 1 ? ` · ${files[r.file].label}` : "");
  const more = (count, what) => (count > 0 ? `; ${count} more ${what}: choose fewer cases above` : "");

  /** A row a phase, and behind them one for the gaps, if there are any. */
  function rowsOf(record, label) {
    const phases = [...groupBy(record.trace.classes, (c) => c.phase)].map(([phase, classes]) => ({ label: `${label} ${phase}`, classes, record }));
    const gaps = Object.values(record.trace.gaps).some((ms) => ms > 0) ? [{ label: `${label} gaps`, classes: [], gaps: record.trace.gaps, record }] : [];
    return [...phases, ...gaps];
  }
  function classesPanel(group, panel, by) {
    const label = labelOf(by);
    const all = group.flatMap((r) => rowsOf(r, label(r)));
    const rows = all.slice(0, kMaxRows);
    const total = new Map([...groupBy(rows.flatMap((row) => row.classes), (c) => c.name)].map(([name, list]) => [name, list.reduce((sum, c) => sum + c.ms, 0)]));
    const whole = [...total.values()].reduce((sum, ms) => sum + ms, 0);
    const shown = [...total.keys()].filter((name) => name in kSlots && total.get(name) >= kLeastShare * whole).sort((a, b) => total.get(b) - total.get(a));
    const point = (row, list) => ({ x: list.reduce((sum, c) => sum + c.ms, 0), y: row.label, record: row.record,
      said: list.map((c) => `${c.name}: ${format(c.ms)} ms in ${format(c.operations)} operation${c.operations === 1 ? "" : "s"}`) });
    const pointsOf = (passes) => rows.map((row) => [row, row.classes.filter(passes)]).filter(([, list]) => list.length).map(([row, list]) => point(row, list));
    const series = shown.map((name) => ({ name, slot: kSlots[name], shade: kSecond.includes(name) ? 0.5 : 0, file: 0, points: pointsOf((c) => c.name === name) }));
    const others = { name: "others", paint: "--dim", shade: 0.5, file: 0, points: pointsOf((c) => !shown.includes(c.name)) };
    const gaps = kGaps.map(([name, paint, which]) => ({ name, paint, file: 0, hollow: true, points: rows.filter((row) => row.gaps?.[which] > 0)
      .map((row) => ({ x: row.gaps[which], y: row.label, record: row.record, said: `${name}: ${format(row.gaps[which])} ms` })) }));
    return { title: titled(group, panel) + more(all.length - rows.length, "rows"), kind: "stack", x: "ms of a step", y: "", labels: rows.map((row) => row.label),
      series: [...series, others, ...gaps].filter((s) => s.points.length) };
  }
  /** A panel a shape. */
  function classes(records) {
    return families(traced(records), (family) => {
      const by = varying(family).filter((k) => kHow.includes(k));
      const panel = Object.keys(family[0].values).filter((k) => !kHow.includes(k) && varying(family).includes(k));
      return panelsBy(family, panel).map((group) => classesPanel(group, panel, by));
    });
  }

  /** A bar a case. */
  function gaps(records) {
    return families(traced(records), (family) => {
      const panel = ["size", "op"].filter((k) => varying(family).includes(k));
      const by = varying(family).filter((k) => !panel.includes(k));
      return panelsBy(family, panel).map((group) => {
        const label = labelOf(by);
        const rows = group.slice(0, kMaxRows);
        const share = (r, which) => (100 * r.trace.gaps[which]) / r.trace.span;
        const said = (r, name, which) => [`${name}: ${format(share(r, which))} %, ${format(r.trace.gaps[which])} ms`,
          `${format(r.trace.kernels)} kernels, ${format(r.trace.launches)} launches; the longest gap: ${format(r.trace.longest_us)} us`];
        const pointsOf = (name, which) => rows.filter((r) => r.trace.gaps[which] > 0).map((r) => ({ x: share(r, which), y: label(r), record: r, said: said(r, name, which) }));
        return { title: titled(group, panel) + more(group.length - rows.length, "cases"), kind: "stack", x: "% of the traced step", y: "", labels: rows.map(label),
          series: kGaps.map(([name, paint, which]) => ({ name: name.slice("gap: ".length), paint, file: 0, points: pointsOf(name, which) })).filter((s) => s.points.length) };
      });
    });
  }
  return { classes, gaps };
})();
