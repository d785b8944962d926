// The page's data as records with names, and how numbers are written. Layout of the data: html_report.hpp.
"use strict";
const tbench = (() => {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const records = raw.records.map((r, index) => {
    const family = raw.families[r.family];
    const values = {};
    family.keys.forEach((key, i) => { if (r.values[i] !== null) values[key] = r.values[i]; });
    const metrics = {};
    raw.metrics.forEach((name, i) => { if (r.metrics[i] !== null) metrics[name] = r.metrics[i]; });
    const name = [family.name, ...Object.entries(values).map(([k, v]) => `${k}:${v}`)].join("/");
    const join = name + (r.repetitions ? ` #${r.repetition}` : "");
    return { ...r, index, family: family.name, values, metrics, name, join };
  });
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
  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const format = (value) => (value === undefined ? "" : short.format(value));
  /** An element; its children are texts or elements, never markup. */
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  return { files: raw.files, records, keys, distinct, varying, groupBy, format, element };
})();
