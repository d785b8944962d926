// How records become panels: groups, series, bars and lines.
// A panel: title, kind, x, y (axis titles), labels or log, series [{name, colour, file, line, points [{x, y, record, mark}]}].
"use strict";
tbench.plotting = (() => {
  const { files, distinct, varying, groupBy } = tbench;
  const kMaxSeries = 10; // that one panel can tell apart
  /** A number alone does not say what it counts. */
  const nameBy = (record, by) => by.filter((k) => k in record.values).map((k) => (/^\d+$/.test(record.values[k]) ? `${k} ` : "") + record.values[k]).join(" ");
  const metric = (name, factor = 1) => (r) => (r.metrics[name] === undefined ? undefined : r.metrics[name] * factor);
  const families = (records, make) => [...groupBy(records, (r) => r.family).values()].flatMap(make);
  const titled = (record, panel) => [record.family, nameBy(record, panel)].filter(Boolean).join(", ");
  const panelsBy = (records, keys) => [...groupBy(records, (r) => nameBy(r, keys)).values()];

  /** Keys that split the records into panels, so that no panel has too many series. x: the axis's keys. */
  function split(records, x, first = ["pass"]) {
    const rest = varying(records).filter((k) => !x.includes(k));
    const panel = first.filter((k) => rest.includes(k));
    const order = ["precision", ...rest].filter((k) => rest.includes(k));
    const crowded = () => {
      const series = rest.filter((k) => !panel.includes(k));
      return panelsBy(records, panel).some((group) => new Set(group.map((r) => nameBy(r, series))).size > kMaxSeries);
    };
    for (const key of order) if (!panel.includes(key) && crowded()) panel.push(key);
    return { panel, series: rest.filter((k) => !panel.includes(k)) };
  }
  function seriesOf(records, by, points) {
    const groups = groupBy(records, (r) => `${r.file} ${nameBy(r, by)}`);
    return [...groups.values()].map((group) => {
      const name = nameBy(group[0], by) || "all";
      return { name: files.length > 1 ? `${name} · ${files[group[0].file].label}` : name, colour: name, file: group[0].file, points: points(group) };
    }).filter((s) => s.points.length > 0);
  }
  /** x: title, keys, of(record) where a category is more than the value of one key. */
  const along = (key) => ({ title: key, keys: [key], of: (r) => r.values[key] });
  const bySize = (a, b) => Number(a) - Number(b) || 0; // as they come, where they are no numbers
  function bars(records, valueOf, yTitle, x = along("size"), extra = () => []) {
    return families(records.filter((r) => valueOf(r) !== undefined && x.keys.every((k) => k in r.values)), (family) => {
      const { panel, series } = split(family, x.keys);
      return panelsBy(family, panel).map((group) => {
        const labels = [...new Set(group.map(x.of))].sort(bySize);
        return { title: titled(group[0], panel), kind: "bar", x: x.title, y: yTitle, labels,
          series: [...seriesOf(group, series, (list) => list.map((r) => ({ x: x.of(r), y: valueOf(r), record: r }))), ...extra(labels)] };
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
        return { title: titled(group[0], panel), kind: "line", x: `${x} (tokens)`, y: yTitle, log: true,
          series: seriesOf(group, series, (list) => list.map(point).sort((a, b) => a.x - b.x)) };
      });
    });
  }
  return { nameBy, metric, families, titled, panelsBy, split, seriesOf, along, bars, lines };
})();
