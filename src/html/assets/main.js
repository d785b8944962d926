// Builds the page of results: run headers, summary, plots, comparison, one case, all cases.
(() => {
  const { summary, folded, files, records, format, element, charts, sketch, comparison, cases, filters, flame } = tbench;
  const chosen = document.getElementById("chosen");
  const kChoices = 1000; // maximum number of cases in the select box; a search shortens it

  const points = (sentences) => element("ul", {}, ...sentences.map(([text, tone]) => element("li", tone ? { class: tone } : {}, text)));
  const parts = (list) => list.flatMap(([heading, sentences]) => [...(summary.length > 1 ? [element("h3", {}, heading)] : []), points(sentences)]);
  const kOpen = folded ? 1 : summary.length; // parts of the summary that are not folded away
  const runs = document.getElementById("runs");
  const rest = summary.slice(kOpen);
  const marked = rest.filter(([, sentences]) => sentences.some(([, tone]) => tone === "bad" || tone === "warn")).length;
  runs.before(element("section", { id: "summary", "aria-labelledby": "summary-title" }, element("h2", { id: "summary-title" }, "Summary"), ...parts(summary.slice(0, kOpen)),
    ...(rest.length ? [element("details", {}, element("summary", {}, `Each file, and each comparison with ${files[0].label}: ${rest.length}; with a warning: ${marked}`), ...parts(rest))] : [])));
  if (folded) {
    const fold = element("details", {}, element("summary", {}, `Machines and builds of ${files.length} files`));
    runs.replaceWith(fold);
    fold.append(runs);
  }
  for (const file of files) {
    const facts = file.facts.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]);
    runs.append(element("div", { class: "run" }, element("h2", {}, file.device),
      element("div", { class: "note" }, `${file.label}, ${file.cases} results`), element("dl", {}, ...facts)));
  }
  /** Shows the share of its ceiling that a case reaches, and the findings of its family. */
  function details(record) {
    const facts = Object.entries(record?.findings ?? {});
    const share = record?.metrics.ceiling_share;
    const above = record?.metrics.above_ceiling ? ": above it, so that the formula or the timing is wrong" : "";
    if (share !== undefined) facts.unshift(["ceiling", `${format(100 * share)} % of ${record.ceiling}${above}`]);
    document.getElementById("findings").replaceChildren(...facts.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]));
  }
  function showCase() {
    const record = chosen.value === "" ? undefined : records[Number(chosen.value)];
    details(record);
    flame(record);
    sketch.samples(record);
  }
  const option = (r) => element("option", { value: r.index }, r.join + (files.length > 1 ? ` · ${files[r.file].label}` : ""));
  function choose(record) {
    if (![...chosen.options].some((o) => o.value === String(record.index))) chosen.append(option(record));
    chosen.value = record.index;
    showCase();
    chosen.focus();
    document.getElementById("samples-title").scrollIntoView();
  }
  chosen.addEventListener("change", showCase);
  let last; // the list that the filters left most recently
  filters([["status", (r) => r.status]], "results", (list) => {
    last = list;
    charts.ready.then(() => { if (list === last) charts.show(list); });
    comparison.show(list);
    cases(list, choose);
    const before = chosen.value;
    const shown = list.filter((r) => r.samples_ms || r.findings || r.trace).slice(0, kChoices);
    chosen.replaceChildren(...shown.map(option));
    if (shown.some((r) => String(r.index) === before)) chosen.value = before;
    showCase();
  });
})();
