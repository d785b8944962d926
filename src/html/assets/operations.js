// Plots of operations beside the ceilings that were measured: roofline, shares, bandwidth, matrix products.
"use strict";
tbench.operations = (() => {
  const { files, varying, groupBy, format } = tbench;
  const { metric, families, titled, panelsBy, split, seriesOf, along, bars } = tbench.plotting;
  const rate = metric("flop_per_second", 1e-12);
  const stream = metric("bytes_per_second", 1e-12);
  const isCeiling = (r) => r.family === "Ceiling";
  /** The best rate of each `what`, whatever else the case's keys say and whatever the filters are. */
  const measured = tbench.records.filter(isCeiling);
  function ceilingsOf(file, valueOf) {
    const cases = measured.filter((r) => r.file === file && valueOf(r) > 0);
    return new Map([...groupBy(cases, (r) => r.values.what)].map(([what, group]) => [what, Math.max(...group.map(valueOf))]));
  }

  /** FLOP per byte that has to be moved. */
  const intensity = (r) => (rate(r) > 0 && r.least_bytes > 0 ? (rate(r) * r.metrics.median_ms * 1e9) / r.least_bytes : undefined);
  const kOfRoof = ["op", "precision"]; // one panel each: its roof is the matrix rate of the precision
  /** Of a case's file: the bandwidth, and the matrix rate of its precision; what the file has measured of them. */
  const roofs = ({ file, values }) => ({ bandwidth: ceilingsOf(file, stream).get("copy"), what: `gemm_${values.precision}`, peak: ceilingsOf(file, rate).get(`gemm_${values.precision}`) });
  function roofOf(cases) {
    const { bandwidth, what, peak } = roofs(cases[0]);
    const ridge = bandwidth && peak ? [peak / bandwidth] : [];
    const low = Math.min(...cases.map(intensity), ...ridge) / 3;
    const high = Math.max(...cases.map(intensity), ...ridge) * 3;
    return { name: [bandwidth && "copy", peak && what].filter(Boolean).join(" and "), paint: "--text", file: 0, line: true,
      points: [low, ...ridge, high].map((x) => ({ x, y: Math.min(peak ?? Infinity, x * (bandwidth ?? Infinity)) })) };
  }
  /** Rate against intensity, under the ceilings measured in the same file: cases with FLOP and bytes. A point names its case to the pointer. */
  function roofline(records) {
    const points = (list) => list.map((r) => ({ x: intensity(r), y: rate(r), record: r }));
    const placed = records.filter((r) => !isCeiling(r) && intensity(r) !== undefined);
    return [...groupBy(placed, (r) => [r.file, r.family, ...kOfRoof.map((k) => r.values[k])].join()).values()].filter((cases) => roofs(cases[0]).bandwidth || roofs(cases[0]).peak).map((cases) => {
      const by = varying(cases).filter((k) => ["pass", "impl"].includes(k));
      const shared = Object.keys(cases[0].values).filter((k) => !varying(cases).includes(k));
      return { title: [titled(cases, shared), ...(files.length > 1 ? [files[cases[0].file].label] : [])].join(" · "), kind: "roof", x: "FLOP / byte", y: "TFLOP/s",
        series: [roofOf(cases), ...seriesOf(cases, by, points).map((s) => ({ ...s, file: 0 }))] };
    });
  }
  /** What the roofline cannot show. */
  function unplaced(records) {
    const cases = records.filter((r) => !isCeiling(r) && r.n !== undefined);
    const left = cases.filter((r) => intensity(r) === undefined).length;
    return left === 0 ? "" : ` Left out: ${left} of ${cases.length} results, whose bytes or FLOP nobody counts.`;
  }

  const isSquare = (r) => r.values.m === r.values.n && r.values.n === r.values.k;
  const shape = { title: "m × n × k", keys: ["m", "n", "k"], of: (r) => (isSquare(r) ? r.values.m : `${r.values.m}×${r.values.n}×${r.values.k}`) };
  /** What a family's cases stand side by side by. */
  const kAxes = [along("op"), shape, along("size"), along("seq_len"), along("what")];
  const axisOf = (family) => kAxes.find((x) => x.keys.every((k) => family.some((r) => k in r.values)));

  function shares(records) {
    const share = metric("ceiling_share", 100);
    const ceiling = (labels) => [{ name: "ceiling", paint: "--text", type: "line", file: 1, line: true, points: labels.map((x) => ({ x, y: 100 })) }];
    return families(records.filter((r) => share(r) !== undefined), (family) => (axisOf(family) ? bars(family, share, "% of the ceiling", axisOf(family), ceiling) : []));
  }
  const kRates = [[stream, "TB/s"], [rate, "TFLOP/s"]];
  const ceilings = (records) => kRates.flatMap(([valueOf, unit]) => bars(records.filter((r) => isCeiling(r) && valueOf(r) > 0), valueOf, unit, along("what")));
  const bandwidth = (records) => bars(records, stream, "TB/s", along("op"));

  /** Squares by their size, under the ceiling of their precision; other shapes as bars. */
  function products(records) {
    const known = records.filter((r) => rate(r) !== undefined && shape.keys.every((k) => k in r.values));
    return families(known, (family) => {
      const squares = family.filter(isSquare);
      const { panel, series } = split(squares, shape.keys);
      const curves = panelsBy(squares, panel).filter((group) => new Set(group.map((r) => r.values.m)).size > 1);
      const drawn = new Set(curves.flat());
      const roofs = (group) => [...groupBy(group, (r) => r.file)].flatMap(([file, cases]) => [...new Set(cases.map((r) => r.values.precision))].flatMap((precision) => {
        const peak = ceilingsOf(file, rate).get(`gemm_${precision}`);
        const sizes = cases.map((r) => +r.values.m);
        return peak ? [{ name: `ceiling ${precision}`, paint: "--text", file: 1, line: true, points: [Math.min(...sizes), Math.max(...sizes)].map((x) => ({ x, y: peak })) }] : [];
      }));
      return [...curves.map((group) => ({ title: titled(group, panel), kind: "curve", log: true, x: "m = n = k", y: "TFLOP/s",
        series: [...seriesOf(group, series, (list) => list.map((r) => ({ x: +r.values.m, y: rate(r), record: r })).sort((a, b) => a.x - b.x)), ...roofs(group)] })),
      ...bars(family.filter((r) => !drawn.has(r)), rate, "TFLOP/s", shape)];
    });
  }
  return { roofline, unplaced, shares, ceilings, bandwidth, products };
})();
