// The table of all cases: a row a case, a set of columns a file; sorted by any column, a page at a time.
"use strict";
tbench.table = (() => {
  const { files, records, keys, element, format, groupBy } = tbench;
  const kRows = 200; // of a page: thousands of rows at once make a browser wait
  const metric = (name, factor = 1) => (r) => (r.metrics[name] === undefined ? undefined : r.metrics[name] * factor);
  const kColumns = [["median ms", metric("median_ms")], ["±%", (r) => (r.half_width === undefined ? undefined : r.half_width * 100)],
    ["tokens/s", metric("tokens_per_second")], ["TFLOP/s", metric("flop_per_second", 1e-12)], ["MFU %", metric("mfu", 100)],
    ["peak GiB", metric("peak_allocated_bytes", 2 ** -30)], ["samples", (r) => r.n]];
  const columns = [{ title: "family", of: (row) => row.any.family },
    ...keys.map((key) => ({ title: key, of: (row) => row.any.values[key] })),
    ...files.flatMap((_, file) => [{ title: "status", file, of: (row) => row.by[file]?.status },
      ...kColumns.map(([title, of]) => ({ title, file, number: true, of: (row) => row.by[file] && of(row.by[file]) }))])];
  const state = { column: -1, down: false, page: 0, rows: [] };
  let choose = () => {};

  function compare(a, b) {
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1; // unknown last, either way
    const sign = state.down ? -1 : 1;
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y);
  }
  function cells(record) {
    if (!record) return [element("td", { colspan: kColumns.length + 1 })];
    const host = record.metrics.host_bound ? ", host-bound" : "";
    if (record.n === undefined) return [element("td", { class: "bad", colspan: kColumns.length + 1 }, `${record.status}: ${record.reason ?? ""}`)];
    const status = element("td", record.status === "ok" ? {} : { class: "warn", title: record.reason ?? "" }, record.status + host);
    return [status, ...kColumns.map(([title, of]) => {
      const text = format(of(record));
      if (title !== "samples") return element("td", { class: "number" }, text);
      const button = element("button", { type: "button", "aria-label": `Show the ${text} samples of ${record.join}` }, text);
      button.addEventListener("click", () => choose(record));
      return element("td", { class: "number" }, button);
    })];
  }
  function sortBy(column) {
    state.down = state.column === column && !state.down;
    state.column = column;
    state.page = 0;
    render();
    document.querySelectorAll("#cases thead button")[column].focus();
  }
  function head() {
    const row = element("tr", {}, ...columns.map((column, i) => {
      const sorted = i === state.column;
      const button = element("button", { type: "button" }, column.title + (sorted ? (state.down ? " ▼" : " ▲") : ""));
      button.addEventListener("click", () => sortBy(i));
      return element("th", { scope: "col", "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none", ...(column.number ? { class: "number" } : {}) }, button);
    }));
    const groups = element("tr", {}, element("td", { colspan: keys.length + 1 }), ...files.map((f) => element("th", { scope: "colgroup", colspan: kColumns.length + 1 }, f.label)));
    return element("thead", {}, ...(files.length > 1 ? [groups, row] : [row]));
  }
  function pager(count) {
    const nav = document.getElementById("pages");
    nav.replaceChildren();
    const last = Math.ceil(count / kRows) - 1;
    if (last <= 0) return;
    const step = (title, by) => {
      const button = element("button", { type: "button" }, title);
      button.disabled = state.page + by < 0 || state.page + by > last;
      button.addEventListener("click", () => { state.page += by; render(); });
      return button;
    };
    nav.append(step("Previous", -1), `page ${state.page + 1} of ${last + 1}`, step("Next", 1));
  }
  function render() {
    const rows = [...state.rows];
    if (state.column >= 0) rows.sort((a, b) => compare(columns[state.column].of(a), columns[state.column].of(b)));
    const page = rows.slice(state.page * kRows, (state.page + 1) * kRows);
    const body = page.map((row) => element("tr", {}, element("th", { scope: "row" }, row.any.family + (row.any.repetitions ? ` #${row.any.repetition}` : "")),
      ...keys.map((key) => element("td", {}, row.any.values[key] ?? "")), ...files.flatMap((_, file) => cells(row.by[file]))));
    document.getElementById("cases").replaceChildren(head(), element("tbody", {}, ...body));
    pager(rows.length);
  }
  function show(list, onChoose) {
    choose = onChoose;
    state.page = 0;
    state.rows = [...groupBy(list, (r) => r.join).values()].map((group) => ({ any: group[0], by: Object.fromEntries(group.map((r) => [r.file, r])) }));
    render();
  }
  return { show };
})();
