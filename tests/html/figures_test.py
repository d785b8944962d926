"""Tests what a reader can do with the charts of a page in a real browser: each point equals its cell of the table; an axis
turns from log to linear; the legend hides a series; tooltips name value, interval, samples and status; SVG and CSV files
are written.

Usage: figures_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import csv
import json
import os
import sys
import time
import xml.etree.ElementTree as ElementTree

from chart_data import ready, settled
from page_test import expect, in_browser, report
from synthetic import attention, load, operations

FIGURE = "document.querySelectorAll('#{plot} figure')[0]"
CELLS = """(() => {
    const heads = [...document.querySelectorAll('#cases thead th')].map((th) => th.textContent);
    const rows = [...document.querySelectorAll('#cases tbody tr')].filter((row) => !row.querySelector('.bad'));
    return rows.map((row) => Object.fromEntries([...row.cells].map((cell, i) => [heads[i], cell.firstChild?.textContent ?? ''])));
  })()"""
MARKS = "[...document.querySelectorAll('#{plot} [data-y]')].map((m) => ({{ ...m.dataset, values: tbench.records[m.dataset.case].values, family: tbench.records[m.dataset.case].family }}))"
COLUMNS = {"attention-time": "median ms", "ceilings": {"TB/s": "TB/s", "TFLOP/s": "TFLOP/s"}, "share": "ceiling %", "products": "TFLOP/s", "bandwidth": "TB/s"}


def row_of(mark, rows):
    found = [row for row in rows if row["family"] == mark["family"] and all(row[key] == value for key, value in mark["values"].items())]
    expect(len(found), 1, f"rows of {mark}")
    return found[0]


def check_values(browser, plots):
    """Each point has the number that the table has of its case, to four digits."""
    rows = browser.evaluate(CELLS)
    for plot in plots:
        marks = [m for m in browser.evaluate(MARKS.format(plot=plot)) if m["y"]]
        assert len(marks) >= 4, f"{len(marks)} points of {plot}"
        for mark in marks:
            column = COLUMNS[plot] if isinstance(COLUMNS[plot], str) else COLUMNS[plot][mark["unit"]]
            row = row_of(mark, rows)
            cell = float(row[column].removesuffix(" above").replace(",", ""))
            assert abs(float(mark["y"]) - cell) <= 6e-4 * cell, f"{plot}: {mark} and {cell}"
            expect((mark["n"], mark["status"]), (row["samples"], row["status"].split(",")[0]), "samples and status of a point")


def press(browser, plot, words):
    browser.evaluate(f"[...{FIGURE.format(plot=plot)}.querySelectorAll('button')].find((b) => b.textContent === '{words}').click()")


def heights(browser, plot):
    """Returns (value, y in units of the picture) of the first series' points, and its line."""
    found = browser.evaluate(f"(() => {{ const g = {FIGURE.format(plot=plot)}.querySelectorAll('g.series')[1]; return [[...g.querySelectorAll('[data-y]')]"
                             ".map((m) => [Number(m.dataset.y), Number(m.getAttribute('d').match(/^M\\S+ ([^m]+)/)[1])]), g.querySelector('.line').getAttribute('d')]; })()")
    return found


def check_scale(browser):
    """On a linear axis, heights are proportional to values, and on a logarithmic axis to their logarithms."""
    plot = "attention-time"
    scale = f"[...{FIGURE.format(plot=plot)}.querySelectorAll('.ticks')].filter((t) => getComputedStyle(t).display !== 'none').map((t) => t.dataset.scale).join()"
    expect(browser.evaluate(scale), "log", "scale at first")
    before, line = heights(browser, plot)
    steps = [b[1] - a[1] for a, b in zip(before, before[1:])]
    assert max(steps) - min(steps) < 0.3 and max(steps) < -10, f"times grow 16-fold at each length: {before}"
    press(browser, plot, "log / linear")
    expect(browser.evaluate(scale), "linear", "scale after the switch")
    after, moved = heights(browser, plot)
    unit = (after[-1][1] - after[0][1]) / (after[-1][0] - after[0][0])
    for value, y in after:
        assert abs(y - after[0][1] - unit * (value - after[0][0])) < 0.2, f"{value} at {y}: {after}"
    assert moved != line, "the line stays"
    expect(moved.count("L"), len(after) - 1, "points of the line")
    press(browser, plot, "log / linear")
    expect(heights(browser, plot), [before, line], "points after switching back")


def check_legend(browser):
    plot = "attention-time"
    shown = f"[...{FIGURE.format(plot=plot)}.querySelectorAll('g.series')].map((g) => getComputedStyle(g).display !== 'none')"
    expect(browser.evaluate(shown), [True, True, True], "series at first")
    press(browser, plot, "flash")
    expect(browser.evaluate(shown), [True, False, True], "series when flash is hidden")
    pressed = f"[...{FIGURE.format(plot=plot)}.querySelectorAll('.legend button')].map((b) => b.getAttribute('aria-pressed'))"
    expect(browser.evaluate(pressed), ["true", "false", "true"], "what a screen reader is told")
    press(browser, plot, "flash")
    expect(browser.evaluate(shown), [True, True, True], "series when flash is back")


def check_tooltip(browser):
    browser.evaluate("document.querySelector('#attention-time').scrollIntoView()")
    point = "document.querySelectorAll('#attention-time g.series')[2].querySelector('.point')"
    x, y = browser.evaluate(f"(() => {{ const b = {point}.getBoundingClientRect(); return [(b.left + b.right) / 2, (b.top + b.bottom) / 2]; }})()")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    settled(browser, 100)
    text = browser.evaluate("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    for part in ("sdpa_flash", "256: 0.06554 ms", "n 3", "ok", "Attention/batch:8"):
        assert part in text, f"'{part}' is not in the tooltip '{text}'"
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    expect(browser.evaluate("document.getElementById('tip').hidden"), True, "the tooltip elsewhere")


def downloaded(browser, folder, plot, ending):
    before = set(os.listdir(folder))
    press(browser, plot, ending.upper())
    for _ in range(100):
        new = [name for name in set(os.listdir(folder)) - before if name.endswith("." + ending)]
        if new:
            with open(os.path.join(folder, new[0])) as file:
                return file.read()
        time.sleep(0.05)
        browser.evaluate("1")
    raise AssertionError(f"no .{ending} of {plot}: {os.listdir(folder)}")


def check_files(browser, folder):
    """The CSV file has a row per point, and the SVG file the series' colours without a style sheet."""
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
    for plot, count in (("attention-time", 12), ("ceilings", None)):
        rows = list(csv.DictReader(downloaded(browser, folder, plot, "csv").splitlines()))
        marks = browser.evaluate(f"[...{FIGURE.format(plot=plot)}.querySelectorAll('[data-y]')].map((m) => [m.dataset.x, m.dataset.y])")
        expect([[row["x"], row["y"]] for row in rows], marks, f"points in the CSV file of {plot}")
        assert count is None or len(rows) == count, f"{len(rows)} rows"
        assert all(row["case"] and row["status"] and row["unit"] for row in rows), rows
    colour = browser.evaluate("getComputedStyle(document.querySelectorAll('#attention-time g.series')[1].querySelector('.point')).fill")
    text = downloaded(browser, folder, "attention-time", "svg")
    root = ElementTree.fromstring(text)
    expect(root.tag, "{http://www.w3.org/2000/svg}svg", "root of the file")
    assert text.count(f"fill: {colour}") >= 4 and "var(" not in text, f"{colour} is not in the file"
    words = "".join(root.itertext())
    assert "flash" in words and "Attention, forward bf16" in words, words


def check_filter(browser):
    """A filter takes points out of charts and lines, and hides charts and plots without any."""
    count = "tbench.charts.counts()"
    expect(browser.evaluate(count)["attention-time"], 24, "points at first")
    browser.evaluate("{ const s = document.querySelector('select[name=impl]'); s.value = 'flash'; s.dispatchEvent(new Event('change')); }")
    settled(browser)
    expect(browser.evaluate(count)["attention-time"], 8, "points of flash")
    expect("ceilings" in browser.evaluate(count), False, "a plot without points")
    lines = f"[...{FIGURE.format(plot='attention-time')}.querySelectorAll('.line')].map((l) => l.getAttribute('d').length > 0)"
    expect(browser.evaluate(lines), [False, True, False], "lines of flash alone")
    browser.evaluate("document.querySelector('button[type=reset]').click()")
    settled(browser)
    expect(browser.evaluate(count)["attention-time"], 24, "points after Clear")


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)

    def check_all(browser, folder):
        paths = {}
        for name, results in (("attention", attention(golden)), ("operations", operations(golden))):
            paths[name] = os.path.join(folder, f"{name}.json")
            with open(paths[name], "w") as file:
                json.dump(results, file)
        browser.open(report(tbench, folder, [paths["attention"]]))
        ready(browser)
        check_values(browser, ["attention-time"])
        check_scale(browser)
        check_legend(browser)
        check_tooltip(browser)
        check_files(browser, folder)
        check_filter(browser)
        browser.open(report(tbench, folder, [paths["operations"]]))
        ready(browser)
        check_values(browser, ["ceilings", "share", "products", "bandwidth"])

    return in_browser(check_all, "points equal their cells, and scales, legends, tooltips and files work")


if __name__ == "__main__":
    sys.exit(main())
