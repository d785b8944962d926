// Fills the table of all cases, which has a row per case and a set of columns per file.
tbench.cases = (() => {
  const { files, legend, records, keys, element, format, groupBy } = tbench;
  const metric = (name, factor = 1) => (r) => (r.metrics[name] === undefined ? undefined : r.metrics[name] * factor);
  const kAlways = ["median ms", "samples"];
  const columns = [["median ms", metric("median_ms")], ["±%", (r) => (r.half_width === undefined ? undefined : r.half_width * 100)],
    ["tokens/s", metric("tokens_per_second")], ["TFLOP/s", metric("flop_per_second", 1e-12)], ["TB/s", metric("bytes_per_second", 1e-12)],
    ["MFU %", metric("mfu", 100)], ["ceiling %", metric("ceiling_share", 100)],
    ["peak GiB", metric("peak_allocated_bytes", 2 ** -30)], ["samples", (r) => r.n]]
    .filter(([title, of]) => kAlways.includes(title) || records.some((r) => of(r) !== undefined));
  const kWidth = columns.length + 1; // columns of a file: its status, too
  let choose = () => {};
  const marks = document.getElementById("marks");
  if (legend.length) marks.textContent = `Marks of a time: ${legend.join("; ")}.`; else marks.remove();
  function valueCell(record, title, text) {
    if (title === "samples") {
      const button = element("button", { type: "button", "aria-label": `Show the ${text} samples of ${record.join}` }, text);
      button.addEventListener("click", () => choose(record));
      return element("td", { class: "number" }, button);
    }
    if (title === "ceiling %" && record.metrics.above_ceiling) {
      return element("td", { class: "number warn", title: "above the measured ceiling: the formula or the timing is wrong" }, `${text} above`);
    }
    if (title === "median ms" && record.marks) {
      return element("td", { class: "number", title: record.note }, text, element("span", { class: "mark" }, record.marks));
    }
    return element("td", { class: "number" }, text);
  }
  function cells(record) {
    if (record.n === undefined) return [element("td", { class: "bad", colspan: kWidth }, `${record.status}: ${record.reason ?? ""}`)];
    const host = record.metrics.host_bound ? ", host-bound" : "";
    const status = element("td", record.status === "ok" ? {} : { class: "warn", title: record.reason ?? "" }, record.status + host);
    return [status, ...columns.map(([title, of]) => valueCell(record, title, format(of(record))))];
  }
  const kShared = Math.floor(1000 / kWidth); // files of one cell: browsers take a colspan of at most 1,000
  /** Returns the cells of every file. Neighbouring files without the case share a cell, since a page may have hundreds of files. */
  function cellsOfFiles(by) {
    const made = [];
    for (let file = 0; file < files.length;) {
      let end = file;
      while (end < files.length && !by[end] && end - file < kShared) ++end;
      made.push(...(end > file ? [element("td", { colspan: (end - file) * kWidth })] : cells(by[file])));
      file = Math.max(end, file + 1);
    }
    return made;
  }
  const all = [{ title: "family", of: (row) => row.any.family }, ...keys.map((key) => ({ title: key, of: (row) => row.any.values[key] })),
    ...files.flatMap((_, file) => [{ title: "status", of: (row) => row.by[file]?.status },
      ...columns.map(([title, of]) => ({ title, number: true, of: (row) => row.by[file] && of(row.by[file]) }))])];
  const groups = files.length > 1 ? [element("td", { colspan: keys.length + 1 }), ...files.map((f) => element("th", { scope: "colgroup", colspan: kWidth }, f.label))] : [];
  const show = tbench.sortedTable(document.getElementById("cases"), document.getElementById("pages"), all, (row) => [
    element("th", { scope: "row" }, row.any.family + (row.any.repetitions ? ` #${row.any.repetition}` : "")),
    ...keys.map((key) => element("td", {}, row.any.values[key] ?? "")), ...cellsOfFiles(row.by)], groups);
  return (list, onChoose) => {
    choose = onChoose;
    show([...groupBy(list, (r) => r.join).values()].map((group) => ({ any: group[0], by: Object.fromEntries(group.map((r) => [r.file, r])) })));
  };
})();
