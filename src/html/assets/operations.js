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

  const isPlaced = (r) => rate(r) > 0 && stream(r) > 0;
  const kOfRoof = ["op", "precision"]; // one panel each: its roof is the matrix rate of the precision
  /** From the bandwidth's slope to the matrix rate, if this file has measured that of the precision. */
  function roofOf(cases, bandwidth, intensity) {
    const { file, values } = cases[0];
    const what = `gemm_${values.precision}`;
    const peak = ceilingsOf(file, rate).get(what);
    const ridge = peak === undefined ? [] : [peak / bandwidth];
    const low = Math.min(...cases.map(intensity), ...ridge) / 3;
    const high = Math.max(...cases.map(intensity), ...ridge) * 3;
    return { name: peak === undefined ? "copy" : `copy and ${what}`, paint: "--text", file: 0, line: true,
      points: [low, ...ridge, high].map((x) => ({ x, y: Math.min(peak ?? Infinity, x * bandwidth) })) };
  }
  /** Rate against intensity, under the ceilings measured in the same file: cases with FLOP and bytes. */
  function roofline(records) {
    const intensity = (r) => rate(r) / stream(r);
    const points = (list) => list.map((r) => ({ x: intensity(r), y: rate(r), record: r }));
    const placed = records.filter((r) => !isCeiling(r) && isPlaced(r) && ceilingsOf(r.file, stream).has("copy"));
    return [...groupBy(placed, (r) => [r.file, r.family, ...kOfRoof.map((k) => r.values[k])].join()).values()].map((cases) => {
      const bandwidth = ceilingsOf(cases[0].file, stream).get("copy");
      const by = varying(cases);
      const shared = Object.keys(cases[0].values).filter((k) => !by.includes(k));
      return { title: [titled(cases, shared), ...(files.length > 1 ? [files[cases[0].file].label] : [])].join(" · "), kind: "roof", x: "FLOP / byte", y: "TFLOP/s",
        series: [roofOf(cases, bandwidth, intensity), ...seriesOf(cases, by, points).map((s) => ({ ...s, file: 0 }))] };
    });
  }
  /** What the roofline cannot show. */
  function unplaced(records) {
    const cases = records.filter((r) => !isCeiling(r) && r.n !== undefined);
    const left = cases.filter((r) => !isPlaced(r)).length;
    return left === 0 ? "" : ` Left out: ${left} of ${cases.length} results, whose family does not count both bytes and FLOP.`;
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
