// Each plot is a function over records; it returns panels, or none where the data has nothing to show in it.
// A panel: title, kind, x, y (axis titles), labels or log, series [{name, file, line, points [{x, y, record, mark}]}].
"use strict";
tbench.plots = (() => {
  const { files, keys, distinct, varying, groupBy } = tbench;
  const kMaxSeries = 10; // that one panel can tell apart
  const kMaxBars = 40; // stacked ones that one panel can name
  /** A number alone does not say what it counts. */
  const nameBy = (record, by) => by.filter((k) => k in record.values).map((k) => (/^\d+$/.test(record.values[k]) ? `${k} ` : "") + record.values[k]).join(" ");
  const metric = (name, factor = 1) => (r) => (r.metrics[name] === undefined ? undefined : r.metrics[name] * factor);

  /** Keys that split the records into panels, so that no panel has too many series. */
  function split(records, x, first = ["pass"]) {
    const rest = varying(records).filter((k) => k !== x);
    const panel = first.filter((k) => rest.includes(k));
    const order = ["precision", ...rest].filter((k) => rest.includes(k));
    const crowded = () => {
      const series = rest.filter((k) => !panel.includes(k));
      return [...groupBy(records, (r) => nameBy(r, panel)).values()]
        .some((group) => new Set(group.map((r) => nameBy(r, series))).size > kMaxSeries);
    };
    for (const key of order) if (!panel.includes(key) && crowded()) panel.push(key);
    return { panel, series: rest.filter((k) => !panel.includes(k)) };
  }
  function seriesOf(records, by, points) {
    const groups = groupBy(records, (r) => `${r.file} ${nameBy(r, by)}`);
    return [...groups.values()].map((group) => {
      const name = nameBy(group[0], by) || "all";
      return { name: files.length > 1 ? `${name} · ${files[group[0].file].label}` : name, colour: name, file: group[0].file, points: points(group) };
    }).filter((s) => s.points.length > 0);
  }
  const families = (records, make) => [...groupBy(records, (r) => r.family).values()].flatMap(make);
  const titled = (record, panel) => [record.family, nameBy(record, panel)].filter(Boolean).join(", ");

  function bars(records, valueOf, yTitle) {
    return families(records.filter((r) => valueOf(r) !== undefined && "size" in r.values), (family) => {
      const { panel, series } = split(family, "size");
      return [...groupBy(family, (r) => nameBy(r, panel)).values()].map((group) => ({
        title: titled(group[0], panel), kind: "bar", x: "size", y: yTitle, labels: distinct(group, "size"),
        series: seriesOf(group, series, (list) => list.map((r) => ({ x: r.values.size, y: valueOf(r), record: r }))),
      }));
    });
  }
  /** Log-log against a length. A case without a value for lack of memory is a cross at the top. */
  function lines(records, x, keysOf, valueOf, yTitle) {
    return families(records.filter((r) => x in r.values), (family) => {
      const known = family.filter((r) => valueOf(r) !== undefined || r.status === "oom");
      const { panel, series } = keysOf(known);
      const groups = [...groupBy(known, (r) => nameBy(r, panel)).values()].filter((group) => distinct(group, x).length > 1);
      return groups.map((group) => {
        const top = Math.max(...group.map((r) => valueOf(r) ?? 0)) * 2 || 1;
        const point = (r) => (valueOf(r) === undefined ? { x: +r.values[x], y: top, record: r, mark: "oom" } : { x: +r.values[x], y: valueOf(r), record: r });
        return { title: titled(group[0], panel), kind: "line", x: `${x} (tokens)`, y: yTitle,
          log: true,
          series: seriesOf(group, series, (list) => list.map(point).sort((a, b) => a.x - b.x)) };
      });
    });
  }
  const byContext = (records, valueOf, yTitle) => lines(records, "ctx", (known) => split(known, "ctx"), valueOf, yTitle);
  /** All implementations of one shape in one panel. */
  function bySequence(records, valueOf, yTitle) {
    const keysOf = (known) => {
      const rest = varying(known).filter((k) => k !== "seq_len");
      return { panel: rest.filter((k) => k !== "impl"), series: rest.filter((k) => k === "impl") };
    };
    return lines(records, "seq_len", keysOf, valueOf, yTitle);
  }
  /** Rate against intensity, under the ceilings measured in the same file: cases whose family counts its bytes. Those are
   * kernels, timed in bursts, and so are the ceilings. */
  function roofline(records) {
    const rate = metric("flop_per_second", 1e-12), stream = metric("bytes_per_second", 1e-12);
    const placed = records.filter((r) => r.family !== "Ceiling" && rate(r) > 0 && stream(r) > 0);
    const intensity = (r) => rate(r) / stream(r);
    const points = (list) => list.map((r) => ({ x: intensity(r), y: rate(r), record: r }));
    return [...groupBy(placed, (r) => r.file)].flatMap(([file, cases]) => {
      const ceilings = tbench.records.filter((r) => r.family === "Ceiling" && r.values.regime === "burst" && r.file === file); // whatever the filters are
      const peaks = ceilings.filter((r) => rate(r) > 0);
      const bandwidth = Math.max(0, ...ceilings.filter((r) => r.values.what === "copy").map((r) => stream(r) ?? 0));
      if (bandwidth === 0 || peaks.length === 0) return [];
      const low = Math.min(1, ...cases.map(intensity)) / 2;
      const high = Math.max(...cases.map(intensity), ...peaks.map((p) => rate(p) / bandwidth)) * 4;
      const roof = (p) => ({ name: p.values.what, colour: p.values.what, file: 0, line: true,
        points: [low, rate(p) / bandwidth, high].map((x) => ({ x, y: Math.min(rate(p), x * bandwidth) })) });
      const series = families(cases, (family) => seriesOf(family, varying(family).filter((k) => ["op", "impl"].includes(k)), points)
        .map((s) => ({ ...s, file: 0, name: s.name === "all" ? family[0].family : `${family[0].family} ${s.name}`, colour: family[0].family + s.colour })));
      return [{ title: `${files[file].label}: copy at ${tbench.format(bandwidth)} TB/s`, kind: "roof", x: "FLOP / byte", y: "TFLOP/s", series: [...peaks.map(roof), ...series] }];
    });
  }
  function phases(records) {
    return families(records.filter((r) => r.phases_ms), (family) => {
      const panel = varying(family).includes("size") ? ["size"] : [];
      const by = varying(family).filter((k) => !panel.includes(k));
      return [...groupBy(family, (r) => nameBy(r, panel)).values()].map((group) => {
        const label = (r) => (nameBy(r, by) || r.family) + (files.length > 1 ? ` · ${files[r.file].label}` : "") + (r.repetitions ? ` #${r.repetition}` : "");
        const shown = group.slice(0, kMaxBars);
        const more = group.length > shown.length ? `; ${group.length - shown.length} more: choose fewer cases above` : "";
        const names = [...new Set(shown.flatMap((r) => r.phases_ms.map(([name]) => name)))];
        return { title: titled(group[0], panel) + more, kind: "stack", x: "median, ms", y: "", labels: shown.map(label),
          series: names.map((name) => ({ name, colour: name, file: 0, points: shown.flatMap((r) => r.phases_ms.filter(([n]) => n === name).map(([, ms]) => ({ x: ms, y: label(r), record: r }))) })) };
      });
    });
  }
  function ratio(records) {
    if (files.length < 2) return [];
    const first = new Map(records.filter((r) => r.file === 0).map((r) => [r.join, r.metrics.median_ms]));
    return bars(records.filter((r) => r.file > 0), (r) => {
      const base = first.get(r.join);
      return base && r.metrics.median_ms ? r.metrics.median_ms / base : undefined;
    }, `time / time of ${files[0].label}`);
  }
  return [
    { id: "throughput", title: "Throughput", note: "Tokens a second, higher is better.", panels: (r) => bars(r, metric("tokens_per_second"), "tokens/s") },
    { id: "time", title: "Step time against context", note: "Median of the samples. A cross: out of memory, at the top and not at a time.", panels: (r) => byContext(r, metric("median_ms"), "ms") },
    { id: "memory", title: "Peak memory against context", note: "Allocated peak. A cross: out of memory.", panels: (r) => byContext(r, metric("peak_allocated_bytes", 2 ** -30), "GiB") },
    { id: "attention-time", title: "Attention: time against sequence length", note: "Median of the samples of every implementation. A cross: out of memory, at the top and not at a time.", panels: (r) => bySequence(r, metric("median_ms"), "ms") },
    { id: "attention-memory", title: "Attention: peak memory against sequence length", note: "Allocated peak. A cross: out of memory.", panels: (r) => bySequence(r, metric("peak_allocated_bytes", 2 ** -20), "MiB") },
    { id: "roofline", title: "Roofline", note: "Achieved rate against FLOP per byte, under this GPU's own measured ceilings. Bytes are those that a case must move by its family's formula.", panels: roofline },
    { id: "flops", title: "Achieved FLOP/s", note: "Of the matrix products that the model needs.", panels: (r) => bars(r, metric("flop_per_second", 1e-12), "TFLOP/s") },
    { id: "mfu", title: "Model FLOP utilisation", note: "Share of the datasheet's dense rate at the measured clock.", panels: (r) => bars(r, metric("mfu", 100), "MFU %") },
    { id: "phases", title: "Phases of a step", note: "Medians of each phase; they need not add up to the step's median.", panels: phases },
    { id: "ratio", title: "Compared with the first file", note: "Ratio of median times, under 1 is faster. Whether a difference is more than noise is not shown here.", panels: ratio },
  ];
})();
