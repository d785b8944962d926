// Turns the data of the page (layout: pages.hpp) into records with names, and formats numbers.
tbench = (() => {
  /** Returns the item with its name, the name of its family and its values by key. `item` has the family's index and a list of values. */
  const named = (item) => {
    const family = raw.families[item.family];
    const values = {};
    family.keys.forEach((key, i) => { if (item.values[i] !== null) values[key] = item.values[i]; });
    return { ...item, family: family.name, values, name: [family.name, ...Object.entries(values).map(([k, v]) => `${k}:${v}`)].join("/") };
  };
  /** Returns a trace with named numbers. The data has it as three lists of numbers (trace_data.hpp). */
  const traceOf = ([span, device, host, own, others, longest_us, kernels, launches], classes, ranges) => ({ span, device, gaps: { host, own, others }, longest_us, kernels, launches,
    classes: Array.from({ length: classes.length / 4 }, (_, i) => ({ phase: raw.trace_names[classes[4 * i]], name: raw.trace_names[classes[4 * i + 1]], ms: classes[4 * i + 2], operations: classes[4 * i + 3] })),
    ranges: Array.from({ length: ranges.length / 3 }, (_, i) => ({ name: raw.trace_names[ranges[3 * i]], around: ranges[3 * i + 1], ms: ranges[3 * i + 2] })) });
  const columns = Object.entries(raw.records);
  const count = columns.length ? columns[0][1].length : 0;
  const rows = Array.from({ length: count }, () => ({}));
  for (const [key, values] of columns) {
    for (let i = 0; i < count; ++i) if (values[i] !== null) rows[i][key] = values[i];
  }
  /** A record decodes its trace when it is first asked for: a page of many files has thousands, and shows one. */
  const withTrace = (record) => {
    const { trace } = record;
    let decoded;
    Object.defineProperty(record, "trace", { get: () => (decoded ??= traceOf(...trace)) });
    return record;
  };
  const records = rows.map((r, index) => {
    const metrics = {};
    raw.metrics?.forEach((name, i) => { if (r.metrics[i] !== null) metrics[name] = r.metrics[i]; });
    const record = named(r);
    Object.assign(record, { index, metrics, join: record.name + (r.repetitions ? ` #${r.repetition}` : "") });
    return r.trace ? withTrace(record) : record;
  });
  const comparisons = (raw.comparisons ?? []).map((c) => ({ ...c, cases: (c.cases ?? []).map(named) }));
  const keys = [...new Set(raw.families.flatMap((f) => f.keys))];
  const distinct = (list, key) => [...new Set(list.map((r) => r.values[key]).filter((v) => v !== undefined))];
  const varying = (list) => keys.filter((key) => new Set(list.map((r) => r.values[key])).size > 1);
  const groupBy = (list, nameOf) => {
    const groups = new Map();
    for (const item of list) {
      const name = nameOf(item);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(item);
    }
    return groups;
  };
  /** Returns name(case), which leaves out the values that all cases of a family share, and `shared`, a text per family with these
      values. A family with a single case has no shared values. */
  const shortNames = (cases) => {
    const write = (values) => values.map(([key, value]) => `${key}:${value}`).join(" ");
    const shared = new Map([...groupBy(cases, (c) => c.family)].filter(([, group]) => group.some((c) => c.name !== group[0].name))
      .map(([family, group]) => [family, Object.entries(group[0].values).filter(([key, value]) => group.every((c) => c.values[key] === value))]));
    const own = (c) => Object.entries(c.values).filter(([key]) => !shared.get(c.family)?.some(([other]) => other === key));
    return { name: (c) => (shared.get(c.family)?.length ? `${c.family} ${write(own(c))}` : c.name),
      shared: [...shared].filter(([, values]) => values.length).map(([family, values]) => `${family} ${write(values)}`) };
  };
  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const format = (value) => (value === undefined ? "" : short.format(value));
  /** Returns a count with its noun: `1 case`, `2 cases`. */
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  /** Returns a ratio as a change in percent, without the unit: `+1.53` for 1.0153. */
  const percent = (ratio) => (ratio === undefined ? "" : `${ratio >= 1 ? "+" : "−"}${Math.abs(100 * (ratio - 1)).toFixed(2)}`);
  /** Makes an element. Its children are elements or texts, which are not parsed as markup. */
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  return { summary: raw.summary ?? [], folded: raw.folded ?? false, slots: raw.slots ?? {}, files: raw.files, legend: raw.legend ?? [], records, comparisons, keys, distinct, varying, groupBy, shortNames, format, counted, percent, element };
})();
