// Shows tables page by page, sorted by any column.
/** Adds buttons that go to the previous and the next page, unless everything is on one page. */
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
/** Returns a function that shows rows in the table. A column has a title, of(row), which it is sorted by, and `number` if it holds
    numbers. cells(row) makes the cells of a row. `groups` are the cells of a row above the titles. */
tbench.sortedTable = (table, nav, columns, cells, groups = []) => {
  const { element } = tbench;
  const kRows = 200; // per page; a browser takes long to show thousands of rows
  const state = { column: -1, down: false, page: 0, rows: [] };
  function compare(a, b) {
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1; // unknown values are last in both directions
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
