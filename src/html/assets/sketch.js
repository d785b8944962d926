// Draws the charts whose content is not known when the page is written: the samples of the selected case, and the series of a
// history. The markup is the same as in the charts that C++ draws (src/html/charts), so chart.js works with both.
tbench.sketch = (() => {
  const { element, format } = tbench;
  const kWidth = 560, kHeight = 300, kLeft = 64, kRight = 16, kTop = 12, kBottom = 44; // as in line_chart.cpp
  const kEdge = 24; // distance from the y axis within which a centred label of the x axis would touch a label of the y axis
  const kSteps = 6; // maximum number of steps on an axis
  const kMargin = 0.05; // beyond each end of a range, as a share of the range
  const kShapes = { circle: "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", small: "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0", triangle: "m0 -7l6 11h-12z", diamond: "m0 -7l7 7l-7 7l-7 -7z",
    cross: "m-5 -5l10 10m0 -10l-10 10", star: "m0 -6v12m-6 -6h12m-10 -4l8 8m0 -8l-8 8" };
  const drawn = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  /** Returns the multiples of a step between both ends. The step is 1, 2 or 5 times a power of ten. */
  function steps(low, high) {
    const least = (high - low) / kSteps;
    const step = [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10(least))).find((s) => s >= least * (1 - 1e-9));
    return Array.from({ length: Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step);
  }
  /** Returns labels with enough digits to tell neighbours apart. */
  function labels(values) {
    const written = [6, 8, 10, 12].map((digits) => values.map((v) => String(Number(v.toPrecision(digits)))));
    return written.find((texts) => new Set(texts).size === texts.length) ?? written.at(-1);
  }
  /** Returns a linear axis. If it does not begin at 0, its title says where it begins. */
  function linear(values, title, fromZero = false) {
    const [lowest, high] = [Math.min(...values), Math.max(...values)];
    const zero = fromZero || 2 * lowest <= high || lowest === high;
    const room = kMargin * (high - (zero ? 0 : lowest));
    const low = zero ? 0 : lowest - room;
    const ticks = steps(low, high + room || 1);
    return { low, high: high + room || 1, ticks: labels(ticks).map((label, i) => ({ at: ticks[i], label })), title: `${title}${low === 0 ? "" : `, from ${format(low)}`}` };
  }
  const path = (shape, x, y) => `M${x.toFixed(1)} ${y.toFixed(1)}${kShapes[shape]}`;
  const kStrokes = ["cross", "star"];
  const classOf = (shape) => (kStrokes.includes(shape) ? "cross" : "point");
  function seriesOf(one, x, y) {
    const group = drawn("g", { class: "series", style: `--series:var(${one.paint})` });
    let begin = true;
    const line = one.points.map((p) => {
      if (Number.isNaN(p.y)) { begin = true; return ""; }
      const part = `${begin || p.apart ? "M" : "L"}${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}`;
      begin = false;
      return part;
    }).join("");
    if (one.line) group.append(drawn("path", { class: `line${one.shape ? "" : " dashed"}`, d: line, "data-values": one.points.map((p) => `${p.x} ${p.y}`).join() }));
    const facts = (p) => ({ "data-x": one.of ? one.of(p.x) : p.x, "data-y": p.y, ...(p.said ? { "data-said": p.said } : {}), ...(one.unit ? { "data-unit": one.unit } : {}) });
    if (one.bar) group.append(...one.points.map((p) => drawn("rect", { class: "bar", x: x(p.from), y: y(p.y), width: Math.max(0.5, x(p.to) - x(p.from) - 0.6), height: y(0) - y(p.y), ...facts(p) })));
    else if (one.shape) group.append(...one.points.map((p) => drawn("path", { class: classOf(one.shape), d: path(one.shape, x(p.x), y(p.y)), ...facts(p) })));
    return group;
  }
  function signOf(one) {
    if (one.bar) return drawn("rect", { class: "bar", x: 1, y: 1, width: 10, height: 10 });
    return one.shape ? drawn("path", { class: classOf(one.shape), d: path(one.shape, 6, 6) }) : drawn("path", { class: "line dashed", d: "M0 6H12" });
  }
  const words = (x, y, anchor, text) => drawn("text", { x, y, "text-anchor": anchor }, text);
  /** Draws a panel. It has a title, `said` (a text for screen readers), the axes x and y (low, high, ticks, title), and series (name,
      paint, shape, line, bar, points). */
  function draw(panel) {
    const x = (value) => kLeft + (kWidth - kLeft - kRight) * (value - panel.x.low) / (panel.x.high - panel.x.low);
    const y = (value) => kHeight - kBottom - (kHeight - kBottom - kTop) * (value - panel.y.low) / (panel.y.high - panel.y.low);
    const grid = (d) => drawn("path", { class: "grid", d });
    const axes = [...panel.x.ticks.flatMap(({ at, label }) => [grid(`M${x(at)} ${kTop}V${kHeight - kBottom}`), words(x(at), kHeight - kBottom + 20, x(at) < kLeft + kEdge ? "start" : "middle", label)]),
      ...panel.y.ticks.flatMap(({ at, label }) => [grid(`M${kLeft} ${y(at)}H${kWidth - kRight}`), words(kLeft - 6, y(at) + 4, "end", label)]),
      words((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", panel.x.title),
      drawn("text", { transform: `translate(13 ${(kTop + kHeight - kBottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, panel.y.title)];
    const picture = drawn("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": panel.said ?? panel.title }, ...axes, ...panel.series.map((one) => seriesOf(one, x, y)));
    const legend = element("ul", { class: "legend" }, ...panel.series.map((one) => element("li", {}, drawn("svg", { viewBox: "0 0 12 12", "aria-hidden": "true", style: `--series:var(${one.paint})` }, signOf(one)), one.name)));
    return tbench.charts.adopt(element("figure", { class: "chart" }, element("figcaption", {}, panel.title), element("div", { class: "scroll" }, picture), legend));
  }
  /** Shows the samples of a case as a histogram, and in the order in which they were taken. */
  function samples(record) {
    const parent = document.getElementById("samples");
    parent.replaceChildren();
    if (!record?.samples_ms?.length) return;
    const values = record.samples_ms;
    const low = Math.min(...values), high = Math.max(...values);
    const bins = high > low ? Math.min(40, Math.ceil(2 * Math.sqrt(values.length))) : 1;
    const width = (high - low || low / 10 || 1) / bins;
    const range = high > low ? { low, high } : { low: low - width / 2, high: low + width / 2 };
    const counts = Array(bins).fill(0);
    for (const v of values) counts[Math.min(bins - 1, Math.floor((v - low) / width))] += 1;
    const bars = counts.map((y, i) => ({ x: low + (i + 0.5) * width, from: range.low + i * width, to: range.low + (i + 1) * width, y })).filter((p) => p.y > 0);
    const flagged = new Set(record.flagged ?? []);
    const taken = values.map((y, x) => ({ x, y }));
    const order = [{ name: "full clock", paint: "--accent", shape: "small", unit: "ms", points: taken.filter((p) => !flagged.has(p.x)) },
      { name: "clock under 0.97 of the median", paint: "--warn", shape: "small", unit: "ms", points: taken.filter((p) => flagged.has(p.x)) }].filter((s) => s.points.length);
    const ticks = steps(range.low, range.high);
    parent.append(draw({ title: `Distribution, ${values.length} of ${record.n} samples`, x: { ...range, ticks: labels(ticks).map((label, i) => ({ at: ticks[i], label })), title: `ms, from ${format(range.low)}` }, y: linear(counts, "samples", true),
      series: [{ name: "samples", paint: "--accent", bar: true, unit: "samples", of: format, points: bars }] }),
    draw({ title: "In the order taken", x: linear([0, values.length], "sample", true), y: linear(values, "ms"), series: order }));
  }
  return { draw, drawn, steps, labels, linear, samples };
})();
