// Builds the page of a history: the machines with their epochs, a table of all series, and plots of the series that pass the filters.
(() => {
  const { files, records, format, counted, percent, element, sketch, series, filters } = tbench;
  const kPlots = 12; // per page
  const kStates = ["regressed", "changed", "quiet"]; // in the order of the plots
  const several = files.length > 1;
  let list = [];
  let page = 0;

  for (const machine of files) {
    const epochs = machine.runs.filter((run, i) => i === 0 || run.epoch !== machine.runs[i - 1].epoch);
    const facts = epochs.flatMap((run) => [element("dt", {}, `epoch from ${series.night(run)}`), element("dd", {}, run.epoch)]);
    const invalid = machine.runs.filter((run) => run.invalid).length;
    document.getElementById("runs").append(element("div", { class: "run machine" }, element("h2", {}, machine.label),
      element("div", { class: "note" }, `${counted(machine.runs.length, "night")}, ${series.night(machine.runs[0])} to ${series.night(machine.runs.at(-1))}, ${invalid} invalid`), element("dl", {}, ...facts)));
  }
  for (const record of records) {
    record.points = series.pointsOf(record);
    const counting = record.points.filter((p) => p.counts);
    record.last = counting.at(-1)?.ms;
    record.ratio = counting.length ? record.last / counting[0].ms : undefined;
    record.state = record.regressed.length ? "regressed" : record.changes.length ? "changed" : "quiet";
  }
  const changesOf = (r) => r.changes.map(([i, ratio]) => `${series.night(r.points[i])} ${percent(ratio)} %`).join(", ");
  const nightsOf = (r) => r.regressed.map((i) => series.night(r.points[i])).join(", ");
  const columns = [{ title: "case", of: (r) => r.name }, { title: "nights", number: true, of: (r) => r.points.length },
    { title: "last ms", number: true, of: (r) => r.last }, { title: "from first %", number: true, of: (r) => r.ratio }, { title: "changes of level", of: (r) => changesOf(r) || undefined },
    { title: "confirmed regressions", of: (r) => nightsOf(r) || undefined }, ...(several ? [{ title: "machine", of: (r) => files[r.file].label }] : [])];
  const overview = tbench.sortedTable(document.getElementById("overview"), document.getElementById("overview-pages"), columns, (record) => {
    const button = element("button", { type: "button", "aria-label": `Show ${record.name}` }, record.name);
    button.addEventListener("click", () => show(record));
    return [element("th", { scope: "row", class: "long" }, button), element("td", { class: "number" }, String(record.points.length)),
      element("td", { class: "number" }, format(record.last)), element("td", { class: "number" }, percent(record.ratio)), element("td", { class: "warn" }, changesOf(record)), element("td", { class: "bad" }, nightsOf(record)), ...(several ? [element("td", { class: "long" }, files[record.file].label)] : [])];
  });

  function sectionOf(record) {
    const id = `series-${record.index}`;
    const parts = element("div", { class: "series" });
    const section = element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title`, tabindex: "-1", class: "name" }, record.name),
      element("p", { class: "note" }, files[record.file].label), parts);
    document.getElementById("series").append(section);
    parts.append(sketch.draw(series.panelOf(record, record.points)), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Nights of ${record.name}` }, series.tableOf(record, record.points)));
  }
  function render() {
    document.getElementById("series").replaceChildren();
    list.slice(page * kPlots, (page + 1) * kPlots).forEach(sectionOf);
    tbench.pager(document.getElementById("series-pages"), page, list.length, kPlots, (to) => { page = to; render(); document.getElementById("series").scrollIntoView(); });
  }
  /** Turns to the page that has the plot of a series, and scrolls to the plot. */
  function show(record) {
    page = Math.floor(list.indexOf(record) / kPlots);
    render();
    const title = document.getElementById(`series-${record.index}-title`);
    title.scrollIntoView();
    title.focus();
  }
  filters([["shows", (r) => r.state], ["machine", (r) => files[r.file].label]], "series", (passing) => {
    list = kStates.flatMap((state) => passing.filter((r) => r.state === state));
    page = 0;
    overview(list);
    render();
  });
})();
