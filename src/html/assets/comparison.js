// Shows how `tbench diff` compares each file with the first one: a summary per file, and one table.
tbench.comparison = (() => {
  const { files, comparisons, shortNames, format, counted, percent, element } = tbench;
  const kClass = { WRONG: "bad", ERROR: "bad", REGRESSED: "bad", LIKELY_SLOWER: "bad", LIKELY_FASTER: "good", IMPROVED: "good", HOST: "warn", CLOCK: "warn", UNDECIDED: "warn" };
  const base = files[0].label;
  const several = comparisons.length > 1;
  /** Returns the cases of a comparison that pass the filters. */
  const selected = (comparison, records) => {
    const known = new Set(records.map((r) => r.name));
    return comparison.cases.filter((c) => known.has(c.name));
  };
  const names = shortNames(comparisons.flatMap((x) => x.cases));
  const interval = (c) => (c.interval ? `${c.within ? "~ " : ""}${percent(c.interval[0])} .. ${percent(c.interval[1])}` : "");
  const kColumns = [["base ms", (c) => c.base_ms], ["new ms", (c) => c.new_ms], ["change %", (c) => c.ratio, percent], ["95 % interval", (c) => c.interval?.[1], (_, c) => interval(c)],
    ["cycles %", (c) => c.cycles, percent], ["p", (c) => c.p, (p) => (p < 0.0001 ? "<0.0001" : p.toFixed(4))], ["MDE %", (c) => (c.finds === undefined ? undefined : 100 * c.finds)], ["memory %", (c) => c.memory, (m) => (m === 1 ? "=" : percent(m))],
    ["n", (c) => Math.min(...c.n), (_, c) => c.n.join("+")]].filter(([, of]) => comparisons.some((x) => x.cases.some((c) => of(c) !== undefined)));
  const columns = [...(several ? [{ title: "file", of: (c) => files[c.file].label }] : []), { title: "outcome", of: (c) => c.outcome }, { title: "case", of: (c) => c.name },
    ...kColumns.map(([title, of]) => ({ title, number: true, of })), { title: "note", of: (c) => c.note }];
  const cells = (c) => [...(several ? [element("td", {}, files[c.file].label)] : []), element("td", { class: kClass[c.outcome] ?? "" }, c.outcome ?? ""),
    element("th", { scope: "row", title: c.name }, names.name(c)), ...kColumns.map(([, of, write = format]) => element("td", { class: "number" }, of(c) === undefined ? "" : write(of(c), c))),
    element("td", { class: "long" }, c.note ?? "")];

  const list = (title, names) => (names.length ? [element("details", {}, element("summary", {}, `${title}: ${names.length}`), element("ul", {}, ...names.map((n) => element("li", {}, n))))] : []);
  function summary(comparison) {
    const heading = element("h3", {}, `${files[comparison.file].label} against ${base}`);
    if (comparison.refused) return element("div", {}, heading, element("p", { class: "bad" }, `Not compared: ${comparison.refused}`));
    const means = comparison.means.map((m) => element("li", {}, `${m.family}: geometric mean of ${counted(m.cases, "ratio")} ${m.ratio.toFixed(4)}${m.cycles === undefined ? "" : `, in clock cycles ${m.cycles.toFixed(4)}`}`));
    return element("div", {}, heading, element("p", {}, comparison.summary), element("ul", {}, ...means, ...comparison.differences.map((d) => element("li", {}, d)),
      ...comparison.warnings.map((w) => element("li", { class: "warn" }, w))),
    ...list(`Only in ${base}`, comparison.only_in_base), ...list(`Only in ${files[comparison.file].label}`, comparison.only_in_new));
  }
  const section = document.getElementById("comparison");
  let show;
  if (comparisons.length === 0) {
    section.remove();
  } else {
    const table = element("table", { id: "compared", "aria-labelledby": "comparison-title" });
    const nav = element("nav", { class: "pages", "aria-label": "Pages of the comparison" });
    document.getElementById("compared-files").append(...comparisons.map(summary));
    if (comparisons.some((c) => c.cases.length)) {
      if (names.shared.length) section.append(element("p", { class: "note" }, `All: ${names.shared.join("; ")}.`));
      section.append(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "comparison-title" }, table), nav);
      show = tbench.sortedTable(table, nav, columns, cells);
    }
  }
  return { show: (records) => show?.(comparisons.flatMap((x) => selected(x, records).map((c) => ({ ...c, file: x.file })))) };
})();
