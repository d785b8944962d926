// Makes the filters of a page, a search field and a select box per key that varies, and sets the light theme for printing.
/** Calls update(list) with the records that pass the filters, first of all and after each change. Each [title, of(record)] in
    `facets` is one more select box. */
tbench.filters = (facets, noun, update) => {
  const { records, keys, distinct, element } = tbench;
  const search = document.getElementById("search");
  const made = [];
  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = records.filter((r) => words.every((w) => r.name.toLowerCase().includes(w)) && made.every((f) => !f.select.value || f.of(r) === f.select.value));
    document.getElementById("count").textContent = `${list.length} of ${records.length} ${noun}`;
    update(list);
  }
  function facet(title, values, of) {
    if (values.length < 2) return;
    const select = element("select", { name: title }, element("option", { value: "" }, "all"), ...values.map((v) => element("option", { value: v }, v)));
    document.getElementById("facets").append(element("label", {}, `${title} `, select));
    select.addEventListener("change", refresh);
    made.push({ select, of });
  }
  keys.forEach((key) => facet(key, distinct(records, key), (r) => r.values[key]));
  facets.forEach(([title, of]) => facet(title, [...new Set(records.map(of))], of));
  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 150); });
  const form = document.getElementById("filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(refresh));
  addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.theme; });
  refresh();
};
