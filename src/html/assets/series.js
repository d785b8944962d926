// Prepares one series over time, with its points, levels and events: as a panel for sketch.js and as a table with the same content.
tbench.series = (() => {
  const { files, groupBy, format, percent, element } = tbench;
  const { steps, labels } = tbench.sketch;
  const kLeastRange = 0.04; // minimum range of the y axis as a share of its middle, so that noise looks small
  const kHalfDay = 43_200_000; // ms; keeps points off the frame
  const kDays = 4; // number of dates below a plot
  const night = (point) => point.started.split("T")[0];
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
  };

  /** Returns the points, oldest first, each with its run. `first` is the first valid time of the point's epoch. */
  function pointsOf(record) {
    const changes = new Map(record.changes);
    const regressed = new Set(record.regressed);
    const known = (value) => (value === null ? undefined : value);
    let first;
    return record.runs.map((number, i, all) => {
      const run = files[record.file].runs[number];
      const before = i > 0 ? files[record.file].runs[all[i - 1]] : undefined;
      const startsEpoch = before !== undefined && before.epoch !== run.epoch;
      const point = { ...run, index: i, x: Date.parse(run.started), ms: known(record.ms[i]), device: known(record.device_ms?.[i] ?? null), spread: known(record.spread[i]), bytes: known(record.peak_bytes[i]), n: record.n[i],
        status: record.status?.[i] ?? "ok", change: changes.get(i), regressed: regressed.has(i), startsEpoch };
      point.counts = point.ms !== undefined && !run.invalid;
      if (startsEpoch) first = undefined;
      if (point.counts) first ??= point.ms;
      return { ...point, first };
    });
  }
  /** Returns the events of a point, for the table and the tooltip. */
  function eventsOf(point) {
    return [...(point.startsEpoch ? ["new epoch"] : []), ...(point.change === undefined ? [] : [`level ${percent(point.change)} %`]), ...(point.regressed ? ["REGRESSED"] : []),
      ...(point.invalid ? ["invalid night"] : []), ...(point.status === "ok" ? [] : [point.status])];
  }
  function rangeOf(points) {
    const values = points.filter((p) => p.counts).map((p) => p.ms);
    if (values.length === 0) return { min: 0, max: 1 };
    const low = Math.min(...values), high = Math.max(...values), middle = (low + high) / 2;
    const half = 1.1 * Math.max((high - low) / 2, (middle * kLeastRange) / 2);
    return { min: middle - half, max: middle + half };
  }
  /** Returns a line per stretch without a change of level or epoch, at its median. The lines have gaps between them. */
  function levels(points) {
    let level = 0;
    const numbered = points.map((p) => ({ p, level: (level += p.startsEpoch || p.change !== undefined ? 1 : 0) })).filter(({ p }) => p.counts);
    return [...groupBy(numbered, (n) => n.level).values()].flatMap((group) => {
      const y = median(group.map(({ p }) => p.ms));
      const end = (p) => ({ x: p.x, y, said: `level: ${format(y)} ms` });
      return [end(group[0].p), end(group.at(-1).p), { x: group.at(-1).p.x, y: NaN }];
    });
  }
  function panelOf(record, points) {
    const range = rangeOf(points);
    const edge = 0.03 * (range.max - range.min);
    const inside = (ms) => Math.min(range.max - edge, Math.max(range.min + edge, ms ?? range.max));
    const [low, high] = [points[0].x - kHalfDay, points.at(-1).x + kHalfDay];
    const device = (p) => (p.device === undefined ? "" : `, the GPU ${format(p.device)} ms of it`);
    const at = (p) => ({ x: p.x, y: inside(p.ms), said: `${night(p)}: ${p.ms === undefined ? "no value" : `${format(p.ms)} ms${device(p)}`}${eventsOf(p).map((e) => `; ${e}`).join("")}`, apart: p.startsEpoch });
    const only = (passes) => points.filter(passes).map(at);
    const day = (x) => new Date(x).toISOString().slice(0, 10);
    const series = [{ name: "median of the processes", paint: "--accent", shape: points.length > 60 ? "small" : "circle", line: true, points: only((p) => p.counts) },
      { name: "level", paint: "--text", line: true, points: levels(points) },
      { name: "level changed", paint: "--warn", shape: "triangle", points: only((p) => p.change !== undefined) },
      { name: "confirmed regression", paint: "--bad", shape: "diamond", points: only((p) => p.regressed) },
      { name: "invalid night", paint: "--dim", shape: "cross", points: only((p) => p.invalid && p.ms !== undefined) },
      { name: "no value", paint: "--bad", shape: "star", points: only((p) => p.ms === undefined) },
      { name: "new epoch", paint: "--dim", line: true, points: points.filter((p) => p.startsEpoch).flatMap((p) => [{ x: p.x, y: range.min }, { x: p.x, y: range.max }, { x: p.x, y: NaN }]) }];
    const ticks = steps(range.min, range.max);
    const y = { low: range.min, high: range.max, ticks: labels(ticks).map((label, i) => ({ at: ticks[i], label })), title: `ms, from ${format(range.min)}` };
    const days = Array.from({ length: kDays }, (_, i) => points[0].x + (i * (points.at(-1).x - points[0].x)) / (kDays - 1 || 1));
    const events = points.flatMap((p) => eventsOf(p).map((e) => `${night(p)} ${e}`));
    return { title: record.name, x: { low, high, ticks: [...new Map(days.map((x) => [day(x), { at: x, label: day(x) }])).values()], title: "" }, y, series: series.filter((s) => s.points.length > 0).map((s) => ({ ...s, of: day, unit: "ms" })),
      said: `${record.name}: ${points.length} nights. ${events.length ? events.join(", ") : "No events"}. The table lists them.` };
  }
  const kColumns = [["night", (p) => night(p)], ["ms", (p) => format(p.ms), true], ["device ms", (p) => format(p.device), true], ["±%", (p) => (p.spread === undefined ? "" : (100 * p.spread).toFixed(2)), true],
    ["from first %", (p) => (p.ms === undefined || p.first === undefined ? "" : percent(p.ms / p.first)), true], ["events", (p) => eventsOf(p).join("; ")],
    ["commit", (p) => p.commit], ["peak GiB", (p) => (p.bytes === undefined ? "" : (p.bytes / 2 ** 30).toFixed(3)), true], ["n", (p) => String(p.n), true]];
  /** Returns a table with a row per point, newest first. */
  function tableOf(record, points) {
    const attributes = (number) => (number ? { class: "number" } : {});
    const kind = (title, p) => (title === "events" ? { class: p.regressed || p.status !== "ok" ? "bad" : p.change !== undefined || p.invalid ? "warn" : "" } : {});
    const columns = kColumns.filter(([title]) => title !== "device ms" || points.some((p) => p.device !== undefined));
    const rows = [...points].reverse().map((p) => element("tr", {}, ...columns.map(([title, of, number], i) =>
      element(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : { ...attributes(number), ...kind(title, p) }, of(p)))));
    return element("table", { "aria-label": `${record.name}, a row a night` },
      element("thead", {}, element("tr", {}, ...columns.map(([title, , number]) => element("th", { scope: "col", ...attributes(number) }, title)))), element("tbody", {}, ...rows));
  }
  return { night, pointsOf, eventsOf, panelOf, tableOf };
})();
