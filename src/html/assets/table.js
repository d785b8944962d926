// A table that is sorted by any column and shown a page at a time.
/** Buttons to the page before and the one after; none where one page holds everything. */
tbench.pager = (nav, page, count, size, go) => {
  const last = Math.ceil(count / size) - 1;
  nav.replaceChildren();
  if (last <= 0) return;
  const step = (title, to) => {
    const button = tbench.element("button", { type: "button" }, title);
    button.disabled = to < 0 || to > last;
    button.addEventListener("click", () => go(to));
    return button;
  };
  nav.append(step("Previous", page - 1), `page ${page + 1} of ${last + 1}`, step("Next", page + 1));
};
/** columns: title, of(row) to sort by, number. cells(row): its elements. groups: elements of a row above the header's. */
tbench.sortedTable = (table, nav, columns, cells, groups = []) => {
  const { element } = tbench;
  const kRows = 200; // of a page: thousands of rows at once make a browser wait
  const state = { column: -1, down: false, page: 0, rows: [] };
  function compare(a, b) {
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1; // unknown last, either way
    const sign = state.down ? -1 : 1;
    const [x, y] = [Number(a), Number(b)];
    return sign * (Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y);
  }
  function sortBy(column) {
    state.down = state.column === column && !state.down;
    state.column = column;
    state.page = 0;
    render();
    table.querySelectorAll("thead button")[column].focus();
  }
  function head() {
    const row = element("tr", {}, ...columns.map((column, i) => {
      const sorted = i === state.column;
      const button = element("button", { type: "button" }, column.title + (sorted ? (state.down ? " ▼" : " ▲") : ""));
      button.addEventListener("click", () => sortBy(i));
      return element("th", { scope: "col", "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none", ...(column.number ? { class: "number" } : {}) }, button);
    }));
    return element("thead", {}, ...(groups.length ? [element("tr", {}, ...groups.map((g) => g.cloneNode(true)))] : []), row);
  }
  function render() {
    const rows = [...state.rows];
    if (state.column >= 0) rows.sort((a, b) => compare(columns[state.column].of(a), columns[state.column].of(b)));
    const page = rows.slice(state.page * kRows, (state.page + 1) * kRows);
    table.replaceChildren(head(), element("tbody", {}, ...page.map((row) => element("tr", {}, ...cells(row)))));
    tbench.pager(nav, state.page, rows.length, kRows, (to) => { state.page = to; render(); });
  }
  return (rows) => { state.page = 0; state.rows = rows; render(); };
};
