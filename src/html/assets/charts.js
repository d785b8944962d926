// Panels (plotting.js, series.js) as Chart.js charts, in the colours of the theme. A chart is drawn when it comes near the viewport:
// a page of thousands of cases opens at once all the same.
"use strict";
tbench.charts = (() => {
  const { element, format, percent } = tbench;
  const { variable } = tbench.colours;
  const kShapes = ["circle", "rect", "triangle", "rectRot", "rectRounded", "star"]; // of a panel's variants
  const kWidestBar = 72; // pixels
  const kMaxLetters = 40; // of the names below a bar chart
  const kMaxPanels = 16; // of one plot
  const kAxes = { bar: ["category", "linear"], line: ["logarithmic", "logarithmic"], curve: ["logarithmic", "linear"], roof: ["logarithmic", "logarithmic"], stack: ["linear", "category"], forest: ["linear", "category"],
    scatter: ["linear", "linear"], time: ["linear", "linear"] };
  const kTypes = { stack: "bar", forest: "line", roof: "scatter", curve: "line", time: "line" }; // of Chart.js, where it is not the kind
  const kLines = ["line", "curve", "roof", "time"]; // kinds that are drawn with lines of 2 pixels
  const kBars = ["bar", "stack"];
  const kSideways = ["stack", "forest"]; // kinds whose categories stand below each other
  const day = (x) => new Date(x).toISOString().slice(0, 10);
  const made = new Map(); // charts by plot
  const waiting = new Map(); // what draws the chart in a box, by box
  const observer = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach((e) => drawNow(e.target)), { rootMargin: "400px" });
  function drawNow(box) {
    observer.unobserve(box);
    const make = waiting.get(box)?.make;
    waiting.delete(box);
    make?.();
  }
  const drawAll = () => { [...waiting.keys()].forEach(drawNow); };
  function drop(key) {
    (made.get(key) ?? []).forEach((chart) => chart.destroy());
    made.set(key, []);
    for (const [box, entry] of waiting) {
      if (entry.key !== key) continue;
      observer.unobserve(box);
      waiting.delete(box);
    }
  }

  /** Of a series: its colour (colours.js), variant (a number), type, line (points are not shown), shape (the line is not), thin, hollow. */
  function dataset(series, panel) {
    const colour = tbench.colours.of(series);
    const fill = !series.paint && (series.file > 0 || panel.kind === "roof") ? colour + "80" : colour; // later files are paler and dashed; points may lie on points
    const marks = series.points.map((p) => p.mark !== undefined);
    const small = panel.small ? 2 : panel.kind === "roof" ? 3 : 4;
    const shape = series.shape ?? kShapes[(series.variant ?? 0) % kShapes.length];
    // Chart.js counts the bars of a group by their positions in the data: what is missing has one too.
    const data = panel.kind === "bar" && !series.type ? panel.labels.map((x) => series.points.find((p) => p.x === x) ?? { x, y: null }) : series.points;
    return { type: series.type, label: series.name, data, backgroundColor: series.hollow ? "transparent" : fill, borderColor: colour, barThickness: series.thin ? 4 : undefined, maxBarThickness: kWidestBar, order: series.thin ? 1 : series.shape || series.type === "line" ? -1 : 0,
      borderWidth: kLines.includes(panel.kind) || series.line || series.hollow ? 2 : 1, skipNull: true, showLine: !series.shape && (["line", "curve", "time"].includes(panel.kind) || Boolean(series.line)), borderDash: series.file > 0 ? [6, 4] : [],
      pointStyle: series.line ? "line" : kBars.includes(panel.kind) ? "rect" : marks.map((m) => (m ? "crossRot" : shape)), pointRadius: marks.map((m) => (m ? 8 : series.line ? 0 : series.shape ? 7 : small)),
      segment: { borderColor: (c) => (marks[c.p1DataIndex] || marks[c.p0DataIndex] || series.points[c.p1DataIndex]?.apart ? "transparent" : undefined) } };
  }
  /** 1, 2 or 5 of a decade; the ends of an axis are ticks too, whatever they are. */
  const isPlain = (value) => [1, 2, 5].some((digit) => Math.abs(value / 10 ** Math.floor(Math.log10(value) + 1e-9) - digit) < 1e-6);
  function axis(title, type) {
    const log = type === "logarithmic";
    const grid = { color: variable("--line") };
    const ticks = { color: variable("--dim"), autoSkip: true };
    if (type !== "category") ticks.callback = (value) => format(value);
    const plain = (scale) => { scale.ticks = scale.ticks.filter(({ value }) => isPlain(value)); };
    return { type, title: { display: Boolean(title), text: title, color: variable("--dim") }, grid, ticks, ...(log ? { afterBuildTicks: plain } : {}) };
  }
  function options(panel) {
    const [xType, yType] = kAxes[panel.kind];
    const x = axis(panel.x, xType);
    const y = axis(panel.y, yType);
    if (panel.log) {
      const values = [...new Set(panel.series.flatMap((s) => s.points.map((p) => p.x)))];
      x.min = Math.min(...values) / 1.2; // points off the frame
      x.max = Math.max(...values) * 1.2;
      x.afterBuildTicks = (scale) => { scale.ticks = values.sort((a, b) => a - b).map((value) => ({ value })); };
      x.ticks.callback = (value) => String(value);
    }
    if (panel.kind === "roof") [x.min, x.max] = panel.series.filter((s) => s.line).flatMap((s) => [s.points[0].x, s.points.at(-1).x]);
    if (panel.kind === "bar" && panel.labels.join("").length > kMaxLetters) x.ticks.minRotation = 40; // side by side they would touch
    if (panel.kind === "stack") x.stacked = y.stacked = true;
    if (panel.kind === "time") { x.ticks.callback = day; x.ticks.maxRotation = 0; x.ticks.maxTicksLimit = 6; Object.assign(x, panel.between); Object.assign(y, panel.range); }
    if (kSideways.includes(panel.kind)) y.ticks.autoSkip = false;
    if (panel.kind === "forest") { x.beginAtZero = false; y.offset = true; }
    const label = (item) => {
      const point = item.raw;
      if (point.said) return point.said;
      if (point.case) return `${point.case.name}: ${percent(point.case.ratio)} % ${point.case.note ?? ""}`;
      if (panel.kind === "roof" && point.record) return `${point.record.name}: ${format(point.y)} TFLOP/s at ${format(point.x)} FLOP/B`;
      return point.mark ? `${item.dataset.label}: ${point.record.reason || point.mark}` : `${item.dataset.label}: ${format(panel.kind === "stack" ? point.x : point.y)}`;
    };
    return { animation: false, responsive: true, maintainAspectRatio: false, indexAxis: kSideways.includes(panel.kind) ? "y" : "x", scales: { x, y },
      plugins: { legend: { display: !panel.series.every((s) => s.unnamed), position: "bottom", labels: { color: variable("--text"), boxWidth: 12, boxHeight: 7, usePointStyle: true } }, tooltip: { callbacks: { label, ...(panel.kind === "time" ? { title: (items) => (items.length ? day(items[0].raw.x) : "") } : {}) } } } };
  }
  function draw(key, parent, panel, title) {
    const count = panel.series.reduce((sum, s) => sum + s.points.length, 0);
    const canvas = element("canvas", { role: "img", "aria-label": panel.said ?? `${title}, ${panel.title}: ${count} values, which the table of cases lists` });
    const box = element("div", { class: "plot" }, canvas);
    box.style.height = kSideways.includes(panel.kind) ? `${110 + 26 * panel.labels.length}px` : "320px";
    parent.append(element("div", { class: "panel" }, ...(panel.title ? [element("h3", {}, panel.title)] : []), box));
    const type = kTypes[panel.kind] ?? panel.kind;
    const make = () => made.get(key).push(new Chart(canvas, { type, data: { labels: panel.labels, datasets: panel.series.map((s) => dataset(s, panel)) }, options: options(panel) }));
    waiting.set(box, { key, make });
    observer.observe(box);
  }
  function show(plot, records) {
    drop(plot.id);
    document.getElementById(plot.id)?.remove();
    const all = plot.panels(records).filter((p) => p.series.length > 0);
    if (all.length === 0) return;
    const panels = element("div", { class: "panels" });
    const note = (typeof plot.note === "function" ? plot.note(records) : plot.note) + (all.length > kMaxPanels ? ` ${all.length - kMaxPanels} more panels: choose fewer cases above.` : "");
    document.getElementById("plots").append(element("section", { id: plot.id }, element("h2", {}, plot.title), element("p", { class: "note" }, note), panels));
    all.slice(0, kMaxPanels).forEach((panel) => draw(plot.id, panels, panel, plot.title));
  }
  function samples(record) {
    drop("samples");
    const parent = document.getElementById("samples");
    parent.replaceChildren();
    if (!record?.samples_ms?.length) return;
    const values = record.samples_ms;
    const low = Math.min(...values), high = Math.max(...values);
    const bins = high > low ? Math.min(40, Math.ceil(2 * Math.sqrt(values.length))) : 1;
    const counts = Array(bins).fill(0);
    for (const v of values) counts[Math.min(bins - 1, Math.floor(((v - low) / (high - low || 1)) * bins))] += 1;
    const labels = counts.map((_, i) => format(low + ((i + 0.5) * (high - low)) / bins));
    const flagged = new Set(record.flagged ?? []);
    const taken = values.map((y, x) => ({ x, y, record }));
    draw("samples", parent, { title: `Distribution, ${values.length} of ${record.n} samples`, kind: "bar", x: "ms", y: "samples", labels,
      series: [{ name: "samples", paint: "--accent", file: 0, points: counts.map((y, i) => ({ x: labels[i], y, record })) }] }, "Samples");
    draw("samples", parent, { title: "In the order taken", kind: "scatter", small: true, x: "sample", y: "ms",
      series: [{ name: "full clock", paint: "--accent", file: 0, points: taken.filter((p) => !flagged.has(p.x)) },
        { name: "clock under 0.97 of the median", paint: "--warn", file: 0, points: taken.filter((p) => flagged.has(p.x)) }].filter((s) => s.points.length) }, "Samples");
  }
  /** Number of points by plot, all of which are drawn for it. */
  function counts() {
    drawAll();
    return Object.fromEntries([...made].filter(([, charts]) => charts.length).map(([key, charts]) => [key, charts.reduce((n, c) => n + c.data.datasets.reduce((m, d) => m + d.data.filter((p) => p.y !== null).length, 0), 0)]));
  }
  return { show, samples, counts, drawAll, draw, drop };
})();
