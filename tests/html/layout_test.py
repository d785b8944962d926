"""Tests pages at 1,280 pixels, in light and dark, in a real browser: only elements that scroll on their own are wider
than the page, and no two labels of an axis overlap.

Usage: layout_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import os
import subprocess
import sys

from charts_test import IMPLEMENTATIONS, written
from page_test import expect, in_browser, report
from synthetic import attention, load, operations, processes, traced, training

WIDTH = 1280
APART = 2  # pixels between two labels
TOO_WIDE = """[...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => `${e.tagName} ${e.id} ${e.className}: ${e.textContent.slice(0, 60)}`)"""
# Returns the boxes of every axis's labels along the axis: [chart, axis, begin, end, label]. Slanted labels are left
# out, because they do not overlap.
LABELS = """[...document.querySelectorAll('canvas')].map((c) => Chart.getChart(c)).filter(Boolean).flatMap((chart, number) => Object.values(chart.scales).map((scale) => {
    const items = (scale._labelItems ?? scale._computeLabelItems(chart.chartArea)).filter((item) => item.label !== '' && !item.rotation);
    return items.map(({ font, label, translation }) => {
      chart.ctx.font = font.string;
      const half = (scale.isHorizontal() ? chart.ctx.measureText(label).width : font.size) / 2;
      const middle = translation[scale.isHorizontal() ? 0 : 1];
      return [number, scale.id, middle - half, middle + half, label];
    });
  }))"""


# Returns pairs of texts in one picture whose boxes overlap.
OVERLAPS = """[...document.querySelectorAll('figure')].flatMap((figure) => {
    const texts = [...figure.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
    return texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map(([other]) => `${one} and ${other}`));
  })"""


def check_study(browser, page):
    browser.open(page)
    browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1000, deviceScaleFactor=1, mobile=False)
    expect(browser.evaluate("document.querySelectorAll('figure').length"), 2, "plots of a study: by context and by size")
    expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"the study's page is at most {WIDTH} px wide")
    expect(browser.evaluate(OVERLAPS), [], "labels of a study's plots that overlap")
    colours = "new Set([...document.querySelectorAll('figure:first-child .legend .point')].map((p) => getComputedStyle(p).fill)).size"
    expect(browser.evaluate(colours), 2, "colours of two sizes")


def check(browser, page, charts):
    browser.open(page)
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1000, deviceScaleFactor=1, mobile=False)
        browser.evaluate("new Promise((r) => setTimeout(r, 300)).then(() => tbench.charts.drawAll())")
        expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"the page is at most {WIDTH} px wide")
        expect(browser.evaluate(TOO_WIDE), [], f"what is wider than {WIDTH} px")
        axes = browser.evaluate(LABELS)
        assert len({label[0] for axis in axes for label in axis}) >= charts, f"{len(axes)} axes of at least {charts} charts"
        for axis in axes:
            ordered = sorted(axis, key=lambda label: label[2])
            for one, other in zip(ordered, ordered[1:]):
                assert one[3] + APART <= other[2], f"in {scheme} '{one[4]}' and '{other[4]}' of axis {one[1]} of chart {one[0]} touch"


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)

    def check_all(browser, folder):
        base, slower, other = processes(golden, {}), processes(golden, {"medium": 1.05}), processes(golden, {"small": 2})
        other["context"]["tbench"]["environment"]["gpu"]["name"] = "NVIDIA H100 80GB HBM3"
        files = {name: written(folder, f"{name}.json", results) for name, results in
                 {"operations": operations(golden), "attention": attention(golden), "training": training(golden, IMPLEMENTATIONS), "traced": traced(golden),
                  "base": base, "slower": slower, "other": other}.items()}
        for names, charts in ((["operations"], 10), (["attention"], 4), (["training"], 20), (["traced"], 8), (["base", "slower"], 5), (["base", "other"], 5)):
            check(browser, report(tbench, folder, [files[name] for name in names]), charts)
        study = os.path.join(folder, "study.html")
        subprocess.run([tbench, "report", "--study", "scaling", files["training"], "-o", study], check=True)
        check_study(browser, study)

    return in_browser(check_all, f"seven pages fit into {WIDTH} pixels, and their labels lie apart")


if __name__ == "__main__":
    sys.exit(main())
