// How records become panels: groups, series, bars and lines.
// A panel: title, kind, x, y (axis titles), labels or log, series [{name, unnamed, file, line, points [{x, y, record, mark}]},
// and what charts.js and colours.js say].
"use strict";
tbench.plotting = (() => {
  const { files, distinct, varying, groupBy } = tbench;
  const { implementationOf, shadeOf } = tbench.colours;
  const kMaxSeries = 10; // that one panel can tell apart
  const kMaxVariants = 5; // of one implementation: they are shades of its colour
  const kOfImplementation = ["impl", "method"];
  /** In the order of the case's name. A number alone does not say what it counts. */
  const nameBy = (record, by) => Object.keys(record.values).filter((k) => by.includes(k)).map((k) => (/^\d+$/.test(record.values[k]) ? `${k} ` : "") + record.values[k]).join(" ");
  const metric = (name, factor = 1) => (r) => (r.metrics[name] === undefined ? undefined : r.metrics[name] * factor);
  const families = (records, make) => [...groupBy(records, (r) => r.family).values()].flatMap(make);
  const kSaid = ["ctx", "pass", "precision"]; // where all of a panel share it
  /** The panel's keys, and what its records share besides: all of it where they are one case. */
  const titled = (list, panel) => {
    const by = varying(list);
    const said = Object.keys(list[0].values).filter((k) => by.length === 0 || panel.includes(k) || (kSaid.includes(k) && !by.includes(k)));
    return [list[0].family, nameBy(list[0], said)].filter(Boolean).join(", ");
  };
  const panelsBy = (records, keys) => [...groupBy(records, (r) => nameBy(r, keys)).values()];

  /** Keys that split the records into panels, so that no panel has too many series. x: the axis's keys. */
  function split(records, x, first = ["pass", "ctx"]) {
    const rest = varying(records).filter((k) => !x.includes(k));
    const panel = first.filter((k) => rest.includes(k));
    const order = ["precision", ...rest].filter((k) => rest.includes(k));
    const crowded = () => {
      const series = rest.filter((k) => !panel.includes(k));
      const variants = series.filter((k) => !kOfImplementation.includes(k));
      const count = (group, by) => new Set(group.map((r) => nameBy(r, by))).size;
      return panelsBy(records, panel).some((group) => count(group, series) > kMaxSeries || count(group, variants) > kMaxVariants);
    };
    for (const key of order) if (!panel.includes(key) && crowded()) panel.push(key);
    return { panel, series: rest.filter((k) => !panel.includes(k)) };
  }
  /** Of several processes of a case the one with the middle value. */
  function middles(records, valueOf) {
    return [...groupBy(records, (r) => `${r.file} ${r.name}`).values()].map((group) => (group.length === 1 ? group[0] : [...group].sort((a, b) => valueOf(a) - valueOf(b))[Math.floor((group.length - 1) / 2)]));
  }
  /** Those of one implementation are variants of it, in the order in which they come; those of one name in several files stand together. */
  function seriesOf(records, by, points) {
    const others = by.filter((k) => !kOfImplementation.includes(k));
    const variants = [...new Set(records.map((r) => nameBy(r, others)))];
    const names = [...groupBy(records, (r) => nameBy(r, by) || implementationOf(r) || "")];
    return names.flatMap(([name, named]) => [...groupBy(named, (r) => r.file).values()].map((group) => {
      const variant = variants.indexOf(nameBy(group[0], others));
      const parts = [name, ...(files.length > 1 ? [files[group[0].file].label] : [])].filter(Boolean);
      return { name: parts.join(" · ") || "all", unnamed: parts.length === 0, implementation: implementationOf(group[0]), variant, shade: shadeOf(variant, variants.length),
        file: group[0].file, points: points(group) };
    })).filter((s) => s.points.length > 0);
  }
  /** x: title, keys, of(record) where a category is more than the value of one key. */
  const along = (key) => ({ title: key, keys: [key], of: (r) => r.values[key] });
  const bySize = (a, b) => Number(a) - Number(b) || 0; // as they come, where they are no numbers
  function bars(records, valueOf, yTitle, x = along("size"), extra = () => []) {
    return families(records.filter((r) => valueOf(r) !== undefined && x.keys.every((k) => k in r.values)), (family) => {
      const { panel, series } = split(family, x.keys);
      return panelsBy(family, panel).map((group) => {
        const labels = [...new Set(group.map(x.of))].sort(bySize);
        return { title: titled(group, panel), kind: "bar", x: x.title, y: yTitle, labels,
          series: [...seriesOf(group, series, (list) => middles(list, valueOf).map((r) => ({ x: x.of(r), y: valueOf(r), record: r }))), ...extra(labels)] };
      });
    });
  }
  /** Log-log against a length. A case without a value for lack of memory is a cross at the top. */
  function lines(records, x, keysOf, valueOf, yTitle) {
    return families(records.filter((r) => x in r.values), (family) => {
      const known = family.filter((r) => valueOf(r) !== undefined || r.status === "oom");
      const { panel, series } = keysOf(known);
      const groups = panelsBy(known, panel).filter((group) => distinct(group, x).length > 1);
      return groups.map((group) => {
        const top = Math.max(...group.map((r) => valueOf(r) ?? 0)) * 2 || 1;
        const point = (r) => (valueOf(r) === undefined ? { x: +r.values[x], y: top, record: r, mark: "oom" } : { x: +r.values[x], y: valueOf(r), record: r });
        return { title: titled(group, panel), kind: "line", x: `${x} (tokens)`, y: yTitle, log: true,
          series: seriesOf(group, series, (list) => middles(list, (r) => valueOf(r) ?? Infinity).map(point).sort((a, b) => a.x - b.x)) };
      });
    });
  }
  return { nameBy, metric, families, titled, panelsBy, split, middles, seriesOf, along, bars, lines };
})();
