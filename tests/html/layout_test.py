"""Tests pages at 390, 1,280 and 1,920 pixels in a real browser: only elements that scroll on their own are wider than the
page, and no two texts of a chart overlap.

Usage: layout_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import os
import subprocess
import sys

from chart_data import ready
from charts_test import IMPLEMENTATIONS, written
from page_test import expect, in_browser, report
from synthetic import attention, load, operations, processes, traced, training

WIDTH = 1280
WIDTHS = (390, 1280, 1920)
TURN = "[...document.querySelectorAll('.tools button')].filter((b) => b.textContent === 'log / linear').forEach((b) => b.click())"
TOO_WIDE = """[...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => `${e.tagName} ${e.id} ${e.className}: ${e.textContent.slice(0, 60)}`)"""
# Returns pairs of texts in one picture whose boxes overlap.
OVERLAPS = """[...document.querySelectorAll('figure:not([hidden])')].flatMap((figure) => {
    const texts = [...figure.querySelectorAll('text:not(.gone)')].filter((t) => t.getClientRects().length && !t.getAttribute('transform')?.includes('rotate(-40)')).map((t) => [t.textContent, t.getBoundingClientRect()]);
    return texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map(([other]) => `${one} and ${other} of ${figure.querySelector('figcaption').textContent}`));
  })"""


def check_study(browser, page):
    browser.open(page)
    browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1000, deviceScaleFactor=1, mobile=False)
    expect(browser.evaluate("document.querySelectorAll('figure').length"), 2, "plots of a study: by context and by size")
    expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"the study's page is at most {WIDTH} px wide")
    expect(browser.evaluate(OVERLAPS), [], "labels of a study's plots that overlap")
    colours = "new Set([...document.querySelector('figure').querySelectorAll('.legend .point')].map((p) => getComputedStyle(p).fill)).size"
    expect(browser.evaluate(colours), 2, "colours of two sizes")


def check(browser, page, charts):
    """At each width, nothing is wider than the page, and the texts of a chart lie apart on both scales."""
    browser.open(page)
    ready(browser)
    for width in WIDTHS:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        browser.evaluate("new Promise((r) => setTimeout(r, 100))")
        expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"the page is at most {width} px wide")
        expect(browser.evaluate(TOO_WIDE), [], f"what is wider than {width} px")
        assert browser.evaluate("document.querySelectorAll('figure:not([hidden])').length") >= charts, f"at least {charts} charts"
        expect(browser.evaluate(OVERLAPS), [], f"labels of charts that overlap at {width} px")
        browser.evaluate(TURN)
        expect(browser.evaluate(OVERLAPS), [], f"labels of the other scale that overlap at {width} px")


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

    return in_browser(check_all, "seven pages fit into every width, and their labels lie apart")


if __name__ == "__main__":
    sys.exit(main())
