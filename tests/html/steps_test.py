"""Tests the pages of the studies `step` and `waterfall` in a real browser at 1,280 pixels, in light and dark: the bars
agree with the tables.

Usage: steps_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import os
import subprocess
import sys

from charts_test import written
from layout_test import OVERLAPS, TOO_WIDE, WIDTH
from page_test import expect, in_browser
from synthetic import load, steps

# Returns for every figure its title and its groups. A group has its name, its bars (label, length, foot, fill, stroke,
# whether it is an outline) and the labels without a bar. Lengths are in pixels of the screen.
BARS = """[...document.querySelectorAll('figure.wide')].map((figure) => [figure.querySelector('figcaption').textContent,
    [...figure.querySelectorAll('.groups svg')].map((svg) => {
      const places = [...svg.querySelectorAll('g')].map((g) => [g.querySelector('text').textContent, g.querySelector('.bar')]);
      return { name: [...svg.querySelectorAll(':scope > text')].at(-1).textContent, missing: places.filter(([, bar]) => !bar).map(([label]) => label),
        bars: places.filter(([, bar]) => bar).map(([label, bar]) => {
          const [box, style, scale] = [bar.getBBox(), getComputedStyle(bar), bar.getScreenCTM()];
          const outline = bar.classList.contains('open') ? parseFloat(style.strokeWidth) : 0;
          return { label, length: (box.height + outline) * scale.d, foot: (box.y + box.height + outline / 2) * scale.d + scale.f, fill: style.fill, stroke: style.stroke,
            open: outline > 0 && bar.parentElement.querySelector('.hatch') !== null };
        }) };
    })])"""
TABLES = """[...document.querySelectorAll('table')].map((table) => ({ columns: [...table.querySelectorAll('thead th')].map((th) => th.textContent),
    rows: [...table.querySelectorAll('tbody tr')].map((tr) => [...tr.children].map((cell) => cell.textContent)) }))"""
FALLS = """[...document.querySelectorAll('figure.waterfall')].map((figure) => ({ title: figure.querySelector('figcaption').textContent,
    note: figure.querySelector('.note')?.textContent ?? '', texts: [...figure.querySelectorAll('svg text')].map((t) => t.textContent).join(' '),
    bars: [...figure.querySelectorAll('rect')].filter((rect) => rect.querySelector('title')).map((rect) => {
      const box = rect.getBoundingClientRect();
      return { kind: rect.getAttribute('class'), said: rect.textContent, left: box.left, right: box.right, top: box.top, fill: getComputedStyle(rect).fill };
    }) }))"""
NEAR = 0.6  # pixels


def page_of(browser, tbench, folder, study, file):
    page = os.path.join(folder, f"{study}.html")
    subprocess.run([tbench, "report", "--study", study, file, "-o", page], check=True)
    browser.open(page)


def check_layout(browser, study):
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1000, deviceScaleFactor=1, mobile=False)
        expect(browser.evaluate(TOO_WIDE), [], f"what of {study} is wider than {WIDTH} px")
        expect(browser.evaluate(OVERLAPS), [], f"labels of {study} that overlap")
    sizes = browser.evaluate("[...document.querySelectorAll('figure > svg text, .groups text')].map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)"
                             ".filter((size) => size > 0)")  # upright texts have a scale of 0 along x
    assert sizes and min(sizes) >= 10, f"texts of {study} are {min(sizes)} px high"


def check_bars(browser):
    figures = dict(browser.evaluate(BARS))
    own_axis = ", each group on an axis of its own"
    expect(list(figures), [f"{name}{own_axis}" for name in ("train_step, Median ms", "train_step, Peak allocated MiB")], "figures")
    groups = figures[f"train_step, Median ms{own_axis}"]
    expect([group["name"] for group in groups], ["small", "xl"], "groups")
    # STEP's operations take 21.27 ms. On a stream the step takes 1.25 times as long, and as a graph 0.98 times.
    for group, factor in zip(groups, (1, 10)):
        times = [21.27 * factor * share for _ in range(3) for share in (1.25, 0.98)][: len(group["bars"])]
        for bar, ms in zip(group["bars"], times):
            shown = float(bar["label"].rstrip("h*~"))
            assert abs(shown / ms - 1) < 1e-3, f"{bar['label']} at a bar of {ms} ms"
            wanted = group["bars"][0]["length"] * ms / times[0]
            assert abs(bar["length"] - wanted) < NEAR, f"{bar['length']} px for {ms} ms: {wanted}"
            assert abs(bar["foot"] - group["bars"][0]["foot"]) < NEAR, f"bars of {group['name']} stand on one line"
    expect([group["missing"] for group in groups], [[], ["OOM"]], "what has no bar")
    bars = groups[0]["bars"]
    expect([bar["open"] for bar in bars], [False, True] * 3, "graphs have outlines")
    colours = [bar["stroke"] if bar["open"] else bar["fill"] for bar in bars]
    expect([colours[i] == colours[i + 1] for i in (0, 2, 4)], [True] * 3, "an implementation has one colour")
    expect(len(set(colours)), 3, "colours of three implementations")


def rows_of(table):
    """Returns the rows of each case: name of the part, ms as in the table, the sentence after it."""
    part = table["columns"].index("part")
    cases = {}
    for row in table["rows"]:
        if len(row) == len(table["columns"]) and row[part]:
            cases.setdefault(" ".join(filter(None, row[:part])), []).append((row[part], float(row[part + 1]), row[part + 3]))
    return cases


def check_falls(browser):
    table = next(t for t in browser.evaluate(TABLES) if "part" in t["columns"])
    cases = {name: rows for name, rows in rows_of(table).items() if rows[-1][0] == "= step"}
    falls = browser.evaluate(FALLS)
    expect([fall["title"] for fall in falls], list(cases), "a chart a case")
    assert len(falls) == 11, f"{len(falls)} charts: all cases but the one that is out of memory"
    for fall in falls:
        rows = cases[fall["title"]]
        expect(len(fall["bars"]), len(rows), "bars")
        expect(fall["note"], rows[-1][2], "what is said of the step")
        zero = fall["bars"][-1]["left"]
        unit = (fall["bars"][-1]["right"] - zero) / rows[-1][1]  # pixels per ms
        end, tops = 0, []
        for bar, (name, ms, _) in zip(fall["bars"], rows):
            is_sum = name.startswith("= ")
            expect(bar["kind"], "sum" if is_sum else "floor" if name.startswith("floor") else "gain" if ms < 0 else "loss", name)
            start, end = (0, ms) if is_sum else (end, end + ms)
            low, high = sorted((zero + unit * start, zero + unit * end))
            assert abs(bar["left"] - low) < NEAR and abs(bar["right"] - max(high, low + 1)) < 2 * NEAR, f"{fall['title']}, {name}: {bar} from {low} to {high}"
            tops.append(bar["top"])
            assert bar["said"].startswith(f"{name}: "), bar
        expect(tops, sorted(tops), "rows in their order")
        # The last part is negative if a graph is faster than its traced kernels' time.
        idle = dict((name, (ms, bar)) for bar, (name, ms, _) in zip(fall["bars"], rows))["GPU idle"]
        expect(idle[1]["kind"], "gain" if fall["title"].endswith("graph") else "loss", f"idle of {fall['title']}")
        assert "100.0 %" in fall["texts"] and f"{idle[0]:.4g} ms"[:5] in fall["texts"], fall["texts"]
    fills = {bar["kind"]: bar["fill"] for fall in falls for bar in fall["bars"]}
    expect(sorted(fills), ["floor", "gain", "loss", "sum"], "kinds of bars")
    expect(len(set(fills.values())), 4, "colours of kinds")


def main():
    tbench, golden_path = sys.argv[1:]

    def check_all(browser, folder):
        file = written(folder, "steps.json", steps(load(golden_path)))
        page_of(browser, tbench, folder, "step", file)
        check_layout(browser, "step")
        check_bars(browser)
        page_of(browser, tbench, folder, "waterfall", file)
        check_layout(browser, "waterfall")
        check_falls(browser)

    return in_browser(check_all, "bars of steps and waterfalls are where their tables say")


if __name__ == "__main__":
    sys.exit(main())
