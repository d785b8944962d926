"""Tests the page of `tbench profile -o` in a real browser at 1,280 pixels, in light and dark: its flame graph agrees
with the table of ranges, and its memory plot with memory.csv.

Usage: profile_test.py TBENCH PROFILE_WRITER. Exit status 77: there is no Chromium.
"""

import csv
import os
import subprocess
import sys

from layout_test import OVERLAPS, TOO_WIDE, WIDTH
from page_test import expect, in_browser

BOXES = """[...document.querySelectorAll('figure.flame rect')].map((rect) => {
    const box = rect.getBoundingClientRect();
    return { said: rect.textContent, left: box.left, right: box.right, top: Math.round(box.top), fill: getComputedStyle(rect).fill };
  })"""
RANGES = "[...document.querySelector('table').querySelectorAll('tbody tr')].map((tr) => [...tr.children].map((cell) => cell.textContent))"
COLUMNS = "[...document.querySelector('table').querySelectorAll('thead th')].map((th) => th.textContent)"
AREAS = """[...document.querySelectorAll('path.area')].map((path) => [path.textContent.split(':')[0], path.getAttribute('d').slice(1, -1).split('L').map((p) => p.split(' ').map(Number))])"""
TICKS = """[...document.querySelectorAll('figure:not(.flame) svg text[text-anchor=end]')].map((t) => [Number(t.textContent), Number(t.getAttribute('y')) - 4]).filter(([value]) => !Number.isNaN(value))"""
NAMES_IN_BOXES = """[...document.querySelectorAll('figure.flame text')].filter((text) => {
    const inside = text.getBoundingClientRect();
    const box = text.previousElementSibling.getBoundingClientRect();
    return inside.left < box.left || inside.right > box.right + 0.5 || inside.top < box.top - 1;
  }).map((text) => text.textContent)"""
NEAR = 0.6  # pixels
MEBI = 2 ** 20


def check_layout(browser):
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1000, deviceScaleFactor=1, mobile=False)
        expect(browser.evaluate(TOO_WIDE), [], f"what is wider than {WIDTH} px")
        expect(browser.evaluate(OVERLAPS), [], "labels that overlap")
        expect(browser.evaluate(NAMES_IN_BOXES), [], "names that leave their box")
    expect(browser.evaluate("document.querySelector('h2').textContent"), "Model/size:xl <b>: NVIDIA H200", "title")


def check_flames(browser):
    """Boxes of ranges are as wide as the table's sums, and lie in the row below the range around them."""
    boxes = browser.evaluate(BOXES)
    columns = browser.evaluate(COLUMNS)
    total = columns.index("GPU sum ms")
    wanted = []  # depth, name, ms: parts in brackets are not ranges
    for row in browser.evaluate(RANGES):
        name = row[0].replace("· ", "")
        if not name.startswith("("):
            wanted.append((row[0].count("·"), name, float(row[total].replace(",", ""))))
    tops = sorted({box["top"] for box in boxes})
    whole = max(box["right"] for box in boxes) - min(box["left"] for box in boxes)
    unit = whole / sum(ms for depth, _, ms in wanted if depth == 0)
    assert len(wanted) == 9 and whole > 1000, f"{wanted} over {whole} px"
    around = []
    for depth, name, ms in wanted:
        box = next(b for b in boxes if b["top"] == tops[depth] and b["said"].startswith(f"{name}: "))
        assert abs(box["right"] - box["left"] - unit * ms) < 2 * NEAR, f"{name} of {ms} ms: {box}"
        del around[depth:]
        if around:
            assert around[-1]["left"] - NEAR < box["left"] and box["right"] < around[-1]["right"] + NEAR, f"{name} leaves {around[-1]}"
        around.append(box)
    # Below the ranges are classes and kernels. Boxes of one row do not overlap.
    for top in tops:
        row = sorted((b for b in boxes if b["top"] == top), key=lambda b: b["left"])
        assert all(a["right"] < b["left"] + NEAR for a, b in zip(row, row[1:])), f"boxes of the row at {top} overlap"
    assert any(b["said"].startswith("gemm: ") for b in boxes) and len(boxes) > 50, f"{len(boxes)} boxes"
    outermost = [next(b["fill"] for b in boxes if b["said"].startswith(f"{name}: ")) for name in ("FORWARD", "BACKWARD", "OPTIMIZER")]
    expect(len(set(outermost)), 3, "colours of phases")


def check_memory(browser, folder):
    """At every event of the second step, the bands end at the allocator's bytes in memory.csv."""
    with open(os.path.join(folder, "memory.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["step"] == "2"]
    areas = browser.evaluate(AREAS)
    expect({name for name, _ in areas}, {"before the step", "FORWARD/layer.*/ffn", "FORWARD/layer.*/attention", "BACKWARD/layer.*", "OPTIMIZER"}, "bands")
    expect(areas[0][0], "before the step", "the lowest band")
    ticks = browser.evaluate(TICKS)
    (low, base), (high, top) = ticks[0], ticks[-1]
    expect((low, high), (0, 2000), "the axis")
    mebi = lambda y: high * (base - y) / (base - top)
    count = len(rows)
    expect([len(points) for _, points in areas], [2 * count] * 5, "points of every band, above and below")
    for i, row in enumerate(rows):
        assert abs(mebi(areas[-1][1][i][1]) - int(row["allocated bytes"]) / MEBI) < 1, f"event {row['event']}"
    below = {name: [mebi(points[-1 - i][1]) for i in range(count)] for name, points in areas}
    above = {name: [mebi(points[i][1]) for i in range(count)] for name, points in areas}
    # There are 12 layers: 12 events free the old gradients, and 24 more belong to forward.
    for name, mib in (("before the step", 1000), ("FORWARD/layer.*/ffn", 12 * 60), ("FORWARD/layer.*/attention", 12 * 30), ("BACKWARD/layer.*", 0)):
        assert abs(above[name][35] - below[name][35] - mib) < 1, f"{name} at the end of forward: {above[name][35] - below[name][35]}"
    texts = browser.evaluate("[...document.querySelectorAll('figure:not(.flame) svg text')].map((t) => t.textContent)")
    assert {"forward", "backward", "optimizer"} <= set(texts), texts
    expect(browser.evaluate("document.querySelectorAll('figcaption')[1].textContent"), "Memory by range over step 2: up to 2100 MiB", "title")


def main():
    tbench, writer = sys.argv[1:]

    def check_all(browser, folder):
        profile, page = os.path.join(folder, "profile"), os.path.join(folder, "page.html")
        subprocess.run([writer, profile], check=True)
        subprocess.run([tbench, "profile", profile, "-o", page], check=True)
        browser.open(page)
        check_layout(browser)
        check_flames(browser)
        check_memory(browser, profile)
        os.remove(os.path.join(profile, "memory.csv"))
        subprocess.run([tbench, "profile", profile, "-o", page], check=True)
        browser.open(page)
        expect(browser.evaluate("document.querySelectorAll('figure').length"), 1, "figures of a profile without memory")

    return in_browser(check_all, "the flame graph and the memory are as the files say")


if __name__ == "__main__":
    sys.exit(main())
