// Draws the ranges of one traced step as an icicle chart, in which the width of a range is its time on the GPU. For pages without
// scripts, flame_chart.cpp draws the same chart.
tbench.flame = (() => {
  const { format, element } = tbench;
  const { drawn } = tbench.sketch;
  const kWidth = 1180, kRow = 22, kBox = 21; // in units of the picture, like all lengths here
  const kLetter = 6.7, kPadding = 8, kMinLetters = 3; // width of a letter and of both margins of a name, and the fewest letters shown
  const kLeast = 0.4; // minimum width of a box; narrower ones are not drawn
  const kSlots = [2, 1, 6, 7, 3, 4, 5, 9]; // colours of the outermost ranges; an inner range has a stronger tint of the same colour
  /** Returns the place of each range. The ranges inside another one are side by side, in their order, from its left edge on. */
  function placesOf(ranges) {
    const whole = { left: 0, filled: 0, depth: -1 };
    let outermost = 0;
    return { whole, places: ranges.reduce((places, range) => {
      const around = range.around < 0 ? whole : places[range.around];
      const prefix = `${around.range?.name}.`; // `attention.qkv` is written `qkv` inside `attention`
      places.push({ left: around.left + around.filled, filled: 0, depth: around.depth + 1, slot: around.slot ?? kSlots[outermost++ % kSlots.length],
        short: range.name.startsWith(prefix) ? range.name.slice(prefix.length) : range.name, range });
      around.filled += range.ms;
      return places;
    }, []) };
  }
  function cut(name, width) {
    const room = Math.floor((width - kPadding) / kLetter);
    if (room < kMinLetters) return "";
    return name.length <= room ? name : `${name.slice(0, room - 1)}…`;
  }
  function boxOf({ left, depth, slot, short, range }, unit, whole) {
    const width = range.ms * unit;
    if (width < kLeast) return [];
    const said = `${range.name}: ${format(range.ms)} ms, ${((100 * range.ms) / whole).toFixed(1)} %`;
    const box = drawn("rect", { class: "box", style: `fill:color-mix(in srgb, var(--slot-${slot}) ${Math.min(58, 22 + 9 * depth)}%, var(--card))`,
      x: left * unit, y: kRow * depth, width, height: kBox }, drawn("title", {}, said));
    const name = cut(short, width);
    return name ? [box, drawn("text", { class: "inside", x: left * unit + kPadding / 2, y: kRow * depth + 15 }, name)] : [box];
  }
  /** Shows the chart of a record, or nothing if the record has no traced ranges. */
  return (record) => {
    const parent = document.getElementById("flame");
    parent.replaceChildren();
    const ranges = record?.trace?.ranges ?? [];
    if (ranges.length === 0) return;
    const { whole, places } = placesOf(ranges);
    const rows = 1 + Math.max(...places.map((place) => place.depth));
    const title = `GPU time of a step by range: ${format(whole.filled)} ms`;
    const picture = drawn("svg", { viewBox: `0 0 ${kWidth} ${kRow * rows}`, role: "img", "aria-label": `${title}, ${ranges.length} ranges` },
      ...places.flatMap((place) => boxOf(place, kWidth / whole.filled, whole.filled)));
    parent.append(element("figure", { class: "wide flame" }, element("figcaption", {}, title), picture));
  };
})();
