"""Tests the charts of a grid in a real browser. An implementation has the same colour in all charts, in light and dark.
A chart of sizes has one context. It shows the median of several processes. Bars stay in their places if others are
missing.

Usage: charts_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import json
import os
import sys

from chart_data import CHARTS, TITLES, ready, settled
from page_test import expect, in_browser, report
from synthetic import load, processes, training

PLOTS = ("throughput", "time", "memory", "flops", "mfu")
RESOLVED = """(() => {{ const probe = document.createElement('div'); probe.style.color = '{}'; document.body.append(probe);
    const colour = getComputedStyle(probe).color; probe.remove(); return colour; }})()"""
IMPLEMENTATIONS = ("eager", "sdpa", "flash", "mine")


def written(folder, name, results):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(results, file)
    return path


def colours_of(browser, scheme):
    """Returns {implementation: colours of its first variant} over all plots."""
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.evaluate("new Promise((r) => setTimeout(r, 200))")
    found = {}
    for plot in PLOTS:
        for label, colour in browser.evaluate(f"{CHARTS.format(plot)}.flatMap((c) => c.data.datasets.map((d) => [d.label, d.borderColor]))"):
            name = label.split()[-1]
            if label in (name, f"small {name}"):
                found.setdefault(name, set()).add(colour)
    return found


def check_colours(browser):
    slots = browser.evaluate("tbench.slots")
    expect(set(slots), set(IMPLEMENTATIONS), "who has a colour")
    for scheme in ("light", "dark"):
        found = colours_of(browser, scheme)
        expect(set(found), set(IMPLEMENTATIONS), "implementations in the plots")
        for name, colours in found.items():
            slot = browser.evaluate(RESOLVED.format(f"var(--slot-{slots[name]})"))
            expect(colours, {slot}, f"the colours of {name} in {scheme}")
        expect(len(set.union(*found.values())), len(IMPLEMENTATIONS), "colours of four implementations")
    before = colours_of(browser, "light")
    browser.evaluate("{ const s = document.querySelector('select[name=impl]'); s.value = 'mine'; s.dispatchEvent(new Event('change')); }")
    settled(browser)
    expect(colours_of(browser, "light"), {"mine": before["mine"]}, "the colour of one whose neighbours are gone")
    browser.evaluate("document.querySelector('button[type=reset]').click(); new Promise((r) => setTimeout(r, 100))")


def check_variants(browser):
    """Sizes of one implementation have shades of its colour and different shapes."""
    sets = browser.evaluate(f"{CHARTS.format('time')}[0].data.datasets.filter((d) => d.label.endsWith('flash')).map((d) => [d.label, d.borderColor, d.shape])")
    expect([label for label, _, _ in sets], ["small flash", "medium flash"], "variants of one implementation")
    for column, what in ((1, "colours"), (2, "shapes")):
        expect(len({row[column] for row in sets}), 2, f"{what} of two sizes")


def check_contexts(browser):
    """A chart of sizes has one context, and its title names it."""
    titles = browser.evaluate(TITLES.format("throughput"))
    expect(titles, [f"Model, ctx {ctx} train_step bf16" for ctx in (128, 256, 512, 1024)], "a panel a context")
    for plot in ("throughput", "flops", "mfu"):
        for contexts in browser.evaluate(f"{CHARTS.format(plot)}.map((c) => [...new Set(c.data.datasets.flatMap((d) => d.data).filter((p) => p.record).map((p) => p.record.values.ctx))])"):
            expect(len(contexts), 1, f"contexts in a chart of {plot}")
    for sizes in browser.evaluate(f"{CHARTS.format('phases')}.map((c) => [...new Set(c.data.datasets.flatMap((d) => d.data).map((p) => p.record.values.size + p.record.values.ctx))])"):
        expect(len(sizes), 1, "sizes and contexts in a chart of phases")


def check_places(browser):
    """`mine` has no medium. Its bars and the others' bars are where their names are."""
    misplaced = """[...document.querySelectorAll('#throughput figure')].flatMap((figure) => {
        const names = [...figure.querySelectorAll('svg > text')];
        const middle = (node) => { const box = node.getBoundingClientRect(); return (box.left + box.right) / 2; };
        const places = Object.fromEntries(names.map((name) => [name.textContent, middle(name)]));
        const category = Math.abs(places.medium - places.small);
        return [...figure.querySelectorAll('.bar[data-y]')].map((bar) => Math.abs(middle(bar) - places[bar.dataset.x]) / category);
      })"""
    distances = browser.evaluate(misplaced)
    expect(len(distances), 4 * (2 * len(IMPLEMENTATIONS) - 1), "bars")
    assert max(distances) < 0.5, f"bars that are {max(distances):.2f} categories off"


def check_processes(browser):
    """Each bar shows the median of five processes."""
    values = browser.evaluate(f"{CHARTS.format('throughput')}[0].data.datasets[0].data.map((p) => [p.x, p.record.metrics.median_ms])")
    expect([x for x, _ in values], ["small", "medium", "large", "xl"], "a bar a size")
    for number, (_, value) in enumerate(values):
        assert abs(value - 20 * (1 + number) * 1.002) < 1e-3, values
    rows = browser.evaluate(f"{CHARTS.format('phases')}[0].data.labels.length")
    expect(rows, 1, "rows of one case's phases")


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)

    def check_all(browser, folder):
        browser.open(report(tbench, folder, [written(folder, "training.json", training(golden, IMPLEMENTATIONS))]))
        ready(browser)
        check_colours(browser)
        check_variants(browser)
        check_contexts(browser)
        check_places(browser)
        browser.open(report(tbench, folder, [written(folder, "processes.json", processes(golden, {}))]))
        ready(browser)
        check_processes(browser)

    return in_browser(check_all, "colours, variants, contexts and places are as they should be")


if __name__ == "__main__":
    sys.exit(main())
