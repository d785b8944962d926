// Which colour stands for what: one an implementation on the whole page and in all of its plots. What else differs
// between series of one implementation is a shade of it, and the shape of its points.
"use strict";
tbench.colours = (() => {
  const { slots } = tbench;
  const implementationOf = (record) => record.values.impl ?? record.values.method;
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const channels = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  /** `share` of the way from one colour to another. */
  const mixed = (from, to, share) => `#${channels(from).map((c, i) => Math.round(c + share * (channels(to)[i] - c)).toString(16).padStart(2, "0")).join("")}`;
  /** How far towards the colour of texts the i-th of n variants is: farther the more there are to tell apart, as in study_plot.cpp. */
  const shadeOf = (i, n) => (i / Math.max(1, n - 1)) * Math.min(0.75, 0.35 + 0.1 * n);
  /** Of a series: paint (a variable of page.css), or slot, or implementation; and shade. */
  function of(series) {
    const slot = series.slot ?? slots[series.implementation];
    const base = variable(series.paint ?? (slot === undefined ? "--accent" : `--slot-${slot}`));
    return series.shade ? mixed(base, variable("--text"), series.shade) : base;
  }
  return { of, shadeOf, variable, implementationOf };
})();
