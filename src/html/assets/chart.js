// Makes charts interactive, whether C++ drew them (src/html/plots) or sketch.js did: filters, a linear or logarithmic y axis,
// series that can be hidden, and tooltips. A mark has its values in data-x and data-y, and the index of its record in data-case.
tbench.charts = (() => {
  const { element, format, records, chartFiles: files } = tbench;
  const { isGone, seriesOf, entriesOf, marksOf, titleOf } = files;
  const kShown = 16; // maximum number of panels that a plot shows
  const kRow = 32; // height of a row, as in row_chart.cpp
  const tip = element("div", { id: "tip", role: "status", hidden: "" });
  const place = (mark) => mark.getAttribute("d").match(/^M(\S+) ([^m]+)/).slice(1).map(Number);

  /** Draws the line of a series through its visible points. */
  function redraw(group) {
    const line = group.querySelector(".line:not([data-values])");
    const points = marksOf(group).filter((mark) => mark.dataset.y !== "" && !isGone(mark));
    if (line && marksOf(group).length) line.setAttribute("d", points.map((mark, i) => `${i ? "L" : "M"}${place(mark).join(" ")}`).join(""));
  }
  /** Switches the y axis to its other set of ticks, linear or logarithmic, and moves the points and lines. */
  function turn(figure) {
    const sets = [...figure.querySelectorAll(".ticks")];
    const next = sets.find((set) => set.hasAttribute("display"));
    sets.forEach((set) => (set === next ? set.removeAttribute("display") : set.setAttribute("display", "none")));
    const { scale, low, high, from, to } = next.dataset;
    const share = scale === "log" ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
    const at = (value) => (+from + (to - from) * share(+value)).toFixed(1);
    for (const mark of marksOf(figure)) if (mark.dataset.y !== "") mark.setAttribute("d", mark.getAttribute("d").replace(/ [^m]+/, ` ${at(mark.dataset.y)}`));
    figure.querySelectorAll("[data-values]").forEach((line) => line.setAttribute("d", `M${line.dataset.values.split(",").map((pair) => pair.split(" ")).map(([x, y]) => `${x} ${at(y)}`).join("L")}`));
    seriesOf(figure).forEach(redraw);
    return scale;
  }
  /** Hides rows without a visible mark, and moves the rows below them up. */
  function close(figure) {
    const rows = [...figure.querySelectorAll("text[data-row]")];
    const shown = new Set(marksOf(figure).filter((mark) => !isGone(mark)).map((mark) => mark.dataset.row));
    let up = 0;
    const shift = rows.map((row) => { if (!shown.has(row.dataset.row)) up += kRow; row.classList.toggle("gone", !shown.has(row.dataset.row)); return -up; });
    figure.querySelectorAll("[data-row]").forEach((node) => node.setAttribute("transform", `translate(0 ${shift[node.dataset.row]})`));
  }
  /** Shows only the marks of the records in `list`, and hides charts and plots that have none of them. */
  function show(list) {
    const passing = new Set(list.map((record) => String(record.index)));
    for (const section of document.getElementById("plots").children) {
      const left = [...section.querySelectorAll("figure")].filter((figure) => {
        marksOf(figure).forEach((mark) => mark.classList.toggle("gone", !passing.has(mark.dataset.case)));
        const groups = seriesOf(figure);
        groups.forEach(redraw);
        close(figure);
        entriesOf(figure).forEach((entry, i) => { const marks = marksOf(groups[i]); entry.hidden = marks.length > 0 && marks.every(isGone); });
        figure.hidden = marksOf(figure).every(isGone);
        return !figure.hidden;
      });
      left.slice(kShown).forEach((figure) => { figure.hidden = true; });
      section.hidden = left.length === 0;
      section.querySelector(".more")?.remove();
      if (left.length > kShown) section.append(element("p", { class: "note more" }, `${left.length - kShown} more panels: choose fewer cases above.`));
    }
  }

  /** Adds buttons to a chart: for the scale of its y axis, for its files, and for each of its series. */
  function adopt(figure) {
    const button = (words, act) => { const made = element("button", { type: "button", "aria-label": `${words}: ${titleOf(figure)}` }, words); made.addEventListener("click", () => act(made)); return made; };
    const tools = element("div", { class: "tools" }, button("SVG", () => files.save(titleOf(figure), "svg", "image/svg+xml", files.svg(figure))), button("CSV", () => files.save(titleOf(figure), "csv", "text/csv", files.csv(figure))));
    if (figure.querySelector(".ticks[display]")) tools.prepend(button("log / linear", () => turn(figure)));
    figure.append(tools);
    entriesOf(figure).forEach((entry, i) => {
      const toggle = element("button", { type: "button", "aria-pressed": "true" }, ...entry.childNodes);
      toggle.addEventListener("click", () => { const off = entry.classList.toggle("off"); toggle.setAttribute("aria-pressed", String(!off)); seriesOf(figure)[i].classList.toggle("off", off); });
      entry.append(toggle);
    });
    return figure;
  }
  function tell(event) {
    const mark = event.target.closest?.(".chart [data-y]");
    tip.hidden = !mark;
    if (!mark) return;
    const { x, y, unit, interval, n, status, note } = mark.dataset;
    const figure = mark.closest("figure");
    const name = entriesOf(figure)[seriesOf(figure).indexOf(mark.closest("g.series"))]?.textContent;
    const value = y === "" ? status : [`${format(+y)} ${unit ?? ""}`, interval && `± ${interval} %`, n && `n ${n}`, status].filter(Boolean).join(", ");
    tip.replaceChildren(...[name, mark.dataset.said ?? `${x}: ${value}`, note, records[mark.dataset.case]?.name].filter(Boolean).map((line) => element("div", {}, line)));
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
  }
  document.body.append(tip);
  for (const kind of ["pointerover", "pointerdown"]) document.addEventListener(kind, tell);

  /** Decompresses the charts that C++ drew and inserts them section by section, so that the page responds meanwhile. */
  async function insert() {
    const markup = await unpacked("figures");
    if (!markup) return;
    const root = document.getElementById("plots");
    for (const section of markup.split(/(?=<section )/)) {
      await new Promise((done) => setTimeout(done));
      root.insertAdjacentHTML("beforeend", section);
      root.lastElementChild.querySelectorAll("figure").forEach(adopt);
    }
  }
  /** Returns the number of visible marks of each visible plot, by the id of the plot. */
  const counts = () => Object.fromEntries([...document.getElementById("plots").children].filter((section) => !section.hidden).map((section) => [section.id, marksOf(section).filter((mark) => !isGone(mark)).length]));
  return { show, adopt, counts, ready: insert() };
})();
