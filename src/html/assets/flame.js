// The ranges of one traced step as an icicle, as wide as their time on the GPU: what flame_chart.cpp draws where there are no scripts.
tbench.flame = (() => {
  const { format, element } = tbench;
  const { drawn } = tbench.sketch;
  const kWidth = 1180, kRow = 22, kBox = 21; // in units of the picture
  const kLetter = 6.7, kPadding = 8, kMinLetters = 3; // of a name in its box
  const kLeast = 0.4; // wide, to be drawn
  const kSlots = [2, 1, 6, 7, 3, 4, 5, 9]; // of outermost ranges; what is inside has a share of their colour
  /** Where each range is: those in one stand side by side in their order, and begin where it does. */
  function placesOf(ranges) {
    const whole = { left: 0, filled: 0, depth: -1 };
    let outermost = 0;
    return { whole, places: ranges.reduce((places, range) => {
      const around = range.around < 0 ? whole : places[range.around];
      const prefix = `${around.range?.name}.`; // `attention.qkv` is `qkv` in `attention`
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
  /** Of a record without traced ranges nothing is shown. */
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
