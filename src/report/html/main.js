// Puts the page together: run headers, filters, and what depends on them.
"use strict";
(() => {
  const { files, records, keys, distinct, element, plots, charts, table } = tbench;
  const search = document.getElementById("search");
  const chosen = document.getElementById("chosen");
  const facets = [];
  const kChoices = 1000; // of cases whose samples to show; a search narrows them

  for (const file of files) {
    const facts = file.facts.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]);
    document.getElementById("runs").append(element("div", { class: "run" }, element("h2", {}, file.device),
      element("div", { class: "note" }, `${file.label}, ${file.cases} cases`), element("dl", {}, ...facts)));
  }
  function facet(title, values, of) {
    if (values.length < 2) return;
    const select = element("select", { name: title }, element("option", { value: "" }, "all"), ...values.map((v) => element("option", { value: v }, v)));
    document.getElementById("facets").append(element("label", {}, `${title} `, select));
    select.addEventListener("change", update);
    facets.push({ select, of });
  }
  keys.forEach((key) => facet(key, distinct(records, key), (r) => r.values[key]));
  facet("status", [...new Set(records.map((r) => r.status))], (r) => r.status);

  function selected() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return records.filter((r) => words.every((w) => r.name.toLowerCase().includes(w)) && facets.every((f) => !f.select.value || f.of(r) === f.select.value));
  }
  function showSamples() { charts.samples(records[Number(chosen.value)]); }
  const option = (r) => element("option", { value: r.index }, r.join + (files.length > 1 ? ` · ${files[r.file].label}` : ""));
  function choose(record) {
    if (![...chosen.options].some((o) => o.value === String(record.index))) chosen.append(option(record));
    chosen.value = record.index;
    showSamples();
    chosen.focus();
    document.getElementById("samples-title").scrollIntoView();
  }
  function update() {
    const list = selected();
    document.getElementById("count").textContent = `${list.length} of ${records.length} results`;
    plots.forEach((plot) => charts.show(plot, list));
    table.show(list, choose);
    const before = chosen.value;
    const timed = list.filter((r) => r.samples_ms);
    chosen.replaceChildren(...timed.slice(0, kChoices).map(option));
    if (timed.slice(0, kChoices).some((r) => String(r.index) === before)) chosen.value = before;
    showSamples();
  }
  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 150); });
  chosen.addEventListener("change", showSamples);
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filters").addEventListener("reset", () => setTimeout(update));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; update(); charts.drawAll(); });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.theme; update(); });
  update();
})();
