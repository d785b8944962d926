// Saves a chart as a file: its numbers as CSV, or its picture as SVG.
tbench.chartFiles = (() => {
  const { element, records } = tbench;
  const kEntry = 18; // height of a legend's entry, in units of the picture
  const kStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "display"];
  const isGone = (mark) => mark.classList.contains("gone");
  const seriesOf = (figure) => [...figure.querySelectorAll("g.series")];
  const entriesOf = (figure) => [...figure.querySelectorAll(".legend > li")];
  const marksOf = (parent) => [...parent.querySelectorAll("[data-y]")];
  const titleOf = (figure) => figure.querySelector("figcaption").textContent;

  function save(title, ending, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: url, download: `${title.replace(/[^\w.-]+/g, "_").slice(0, 80)}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
  const quoted = (text = "") => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  /** Returns a CSV table with a row per mark that passes the filters. */
  function csv(figure) {
    const names = entriesOf(figure).map((entry) => entry.textContent);
    const rows = seriesOf(figure).flatMap((group, i) => marksOf(group).filter((mark) => !isGone(mark)).map(({ dataset: d }) =>
      [names[i] ?? titleOf(figure), d.x, d.y, d.unit, d.interval, d.n, d.status, records[d.case]?.name, d.note]));
    return [["series", "x", "y", "unit", "interval_percent", "n", "status", "case", "note"], ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  }
  /** Returns the picture with its title and legend. Elements get their computed styles, because the file has no style sheet. */
  function svg(figure) {
    const picture = figure.querySelector("svg");
    const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
    const copy = (from) => {
      const made = from.cloneNode(true);
      const [old, fresh] = [from, made].map((node) => [node, ...node.querySelectorAll("*")]);
      old.forEach((node, i) => { const style = getComputedStyle(node); for (const name of kStyles) fresh[i].style.setProperty(name, style.getPropertyValue(name)); fresh[i].style.removeProperty("--series"); });
      return made;
    };
    const made = copy(picture);
    const text = (x, y, words) => { const node = copy(figure.querySelector("text")); node.removeAttribute("transform"); for (const [k, v] of [["x", x], ["y", y], ["text-anchor", "start"]]) node.setAttribute(k, v); node.textContent = words; return node; };
    const entries = entriesOf(figure).filter((entry) => !entry.hidden && !entry.classList.contains("off"));
    entries.forEach((entry, i) => {
      const sign = copy(entry.querySelector("svg"));
      for (const [k, v] of [["x", 14], ["y", height + kEntry * i + 4], ["width", 12], ["height", 12]]) sign.setAttribute(k, v);
      made.append(sign, text(32, height + kEntry * i + 14, entry.textContent));
    });
    made.append(text(14, -8, titleOf(figure)));
    for (const [k, v] of [["viewBox", `0 -24 ${width} ${height + 28 + kEntry * entries.length}`], ["xmlns", "http://www.w3.org/2000/svg"]]) made.setAttribute(k, v);
    made.style.background = getComputedStyle(document.documentElement).getPropertyValue("--card");
    return new XMLSerializer().serializeToString(made);
  }
  return { isGone, seriesOf, entriesOf, marksOf, titleOf, save, csv, svg };
})();
