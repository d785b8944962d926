"""Tests plots of operations with their ceilings, labels, and the comparison of two files, in a real browser.

Usage: operations_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import copy
import json
import os
import re
import sys

from chart_data import CHARTS, ready
from page_test import ROWS, expect, in_browser, report
from synthetic import HOSTILE, SHAPES, SQUARES, load, operations, processes

SETTLED = "new Promise((done) => setTimeout(done, 400))"


def search(browser, words):
    browser.evaluate(f"{{ const s = document.getElementById('search'); s.value = {json.dumps(words)};"
                     f" s.dispatchEvent(new Event('input')); }} {SETTLED}")


def points(browser, plot, chart, label):
    return browser.evaluate(f"{CHARTS.format(plot)}[{chart}].data.datasets.find((d) => d.label === '{label}')"
                            ".data.map((p) => [p.x, p.y])")


def check_ceilings(browser):
    """A ceiling is found by its `what` alone: the higher of burst and sustained."""
    titles = browser.evaluate(f"{CHARTS.format('ceilings')}.map((c) => c.data.labels.join())")
    expect(titles, ["copy,l2_read", "gemm_bf16,gemm_fp32"], "ceilings")
    expect(points(browser, "ceilings", 0, "burst"), [["copy", 4], ["l2_read", 10]], "bandwidths")
    entries = "[...document.querySelectorAll('#ceilings figure')].map((f) => [...f.querySelectorAll('.legend > li')].filter((e) => !e.hidden).length)"
    expect(browser.evaluate(entries), [2, 2], "legends of two series")
    search(browser, "regime:burst")
    expect(browser.evaluate(entries), [1, 1], "legends of the series that the search leaves")
    search(browser, "")
    labels = browser.evaluate(f"{CHARTS.format('roofline')}.map((c) => c.data.datasets.map((d) => d.label).join())")
    expect(labels, [f"copy and gemm_{precision},cublas,cublaslt" for precision in ("bf16", "fp32")]
           + ["copy and gemm_bf16,forward aten,forward fused,backward aten,backward fused"] * 4, "rooflines of matrix products and of operations")
    # Each of the three matrices has 256 * 256 elements of two bytes.
    assert abs(points(browser, "roofline", 0, "cublas")[0][0] - 2 * 256 ** 3 / (3 * 2 * 256 ** 2)) < 0.01, "intensity of a matrix product"
    ridge = points(browser, "roofline", 0, "copy and gemm_bf16")[1]
    assert abs(ridge[0] - 800 / 4) < 0.1 and abs(ridge[1] - 800) < 0.1, f"of two regimes the better one: {ridge}"


def check_shares(browser):
    labels = browser.evaluate(f"{CHARTS.format('share')}.map((c) => c.data.labels.join())")
    shapes = [*SQUARES, *("×".join(shape) for shape in SHAPES)]
    ops = "rmsnorm,softmax,swiglu,adamw"
    expect(labels, [",".join(shapes), ops, ops], "what shares stand side by side by")
    for x, share in points(browser, "share", 1, "small fused"):
        expect(round(share, 3), 110 if x == "adamw" else 85, f"share of {x}")
    line = "(() => { const f = document.querySelectorAll('#share figure')[1]; const box = (e) => e.getBoundingClientRect();"
    line += " return [box(f.querySelector('.line.dashed')).top, ...[...f.querySelectorAll('.bar[data-y]')].filter((b) => b.dataset.x === 'adamw').map((b) => box(b).top)]; })()"
    level, *tops = browser.evaluate(line)
    assert min(tops) < level - 5 and max(tops) > level + 5, f"the ceiling is between 110 and 40 %: {level} px, bars to {tops}"
    expect(browser.evaluate("document.querySelectorAll('#bandwidth figure').length"), 2, "panels of the bandwidth")


def check_products(browser):
    charts = CHARTS.format("products")
    expect(browser.evaluate(f"{charts}.map((c) => c.data.datasets.map((d) => d.label).join())"),
           ["bf16 cublas,bf16 cublaslt,fp32 cublas,fp32 cublaslt,ceiling bf16,ceiling fp32",
            "bf16 cublas,bf16 cublaslt,fp32 cublas,fp32 cublaslt"], "series of the products")
    for (x, y), size in zip(points(browser, "products", 0, "bf16 cublas"), map(int, SQUARES)):
        expect(x, size, "size")
        assert abs(y - 800 * 0.9 * size / (size + 512)) < 1, f"{y} TFLOP/s at {size}"
    expect(points(browser, "products", 0, "ceiling fp32"), [[256, 50], [16384, 50]], "ceiling of fp32")
    expect(browser.evaluate(f"{charts}[1].data.labels.join()"), "2048×4096×1024,2048×1024×4096", "other shapes")


def check_cases(browser):
    """A rate above its ceiling is flagged, and a case shows the labels of its family."""
    search(browser, "adamw fused small forward")
    cells = browser.evaluate(f"{ROWS}[0].querySelector('.warn').textContent")
    expect(cells, "110 above", "the flag in the table")
    facts = "[...document.querySelectorAll('#findings > *')].map((e) => e.textContent)"
    expect(browser.evaluate(facts), ["ceiling", "110 % of copy: above it, so that the formula or the timing is wrong"], "what the case says")
    search(browser, "Autocast")
    expect(browser.evaluate(facts), ["layer_norm", "float32", "linear", f"float16 {HOSTILE}"], "findings")
    expect(browser.evaluate("window.hacked === undefined && !document.querySelector('img')"), True, "no markup from data")
    search(browser, "no such case")
    expect(browser.evaluate(f"{facts}.length + document.querySelectorAll('#samples figure').length"), 0, "details of no case")


def check_comparison(browser):
    rows = "[...document.querySelectorAll('#compared tbody tr')].map((r) => r.cells[0].textContent + ' ' + r.cells[1].textContent.match(/size:(\\w+)/)[1])"
    expect(browser.evaluate(rows), ["SAME small", "REGRESSED medium", "SAME large", "IMPROVED xl"], "verdicts")
    shared = browser.evaluate("[...document.querySelectorAll('#comparison > p')].map((p) => p.textContent).filter((t) => t.startsWith('All: Model ')).join()")
    assert "ctx:" in shared and "size:" not in shared, shared
    first = browser.evaluate("{ const cell = document.querySelector('#compared tbody tr').cells[1]; [cell.textContent, cell.title]; }")
    assert first[0] == "Model size:small" and "/size:small/" in first[1] and "/ctx:" in first[1], first
    summary = browser.evaluate("document.getElementById('compared-files').textContent")
    assert "4 cases: 1 REGRESSED, 1 IMPROVED, 2 SAME" in summary and "geometric mean of 4 ratios 0.98" in summary, summary
    chart = f"{CHARTS.format('ratio')}[0]"
    ready(browser)
    expect(browser.evaluate(f"{chart}.data.labels.slice(0, 2).join()"), "xl,medium", "the largest changes first")
    said = browser.evaluate(f"{chart}.data.datasets.find((d) => d.label === '95 % interval').data.find((p) => p.y === 'medium').note")
    low, high = map(float, re.match(r"95 %: ([\d.]+) to ([\d.]+)", said).groups())
    assert 1.04 < low < 1.05 < high < 1.06, (low, high)
    expect([round(x, 4) for x, _ in points(browser, "ratio", 0, "REGRESSED")], [1.05], "what regressed")
    change = "[...document.querySelectorAll('#compared thead button')].find((b) => b.textContent.startsWith('change %'))"
    browser.evaluate(f"{change}.focus()")
    browser.press("Enter", 13)
    expect(browser.evaluate(rows)[0], "IMPROVED xl", "sorted by the change")
    browser.evaluate("{ const s = document.querySelector('select[name=size]'); s.value = 'medium'; s.dispatchEvent(new Event('change')); }")
    expect(browser.evaluate(rows), ["REGRESSED medium"], "the comparison of the cases chosen")


def check_refused(browser, tbench, folder, base):
    """Files that must not be compared are shown all the same, and the page explains why they are not compared."""
    other = copy.deepcopy(base)
    other["context"]["tbench"]["environment"]["clock_policy"] = "locked " + HOSTILE
    paths = []
    for name, results in (("base.json", base), ("other.json", other)):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w") as file:
            json.dump(results, file)
    browser.open(report(tbench, folder, paths))
    text = browser.evaluate("document.getElementById('compared-files').textContent")
    assert "Not compared: " in text and HOSTILE in text, text
    expect(browser.evaluate("document.querySelectorAll('#compared, #ratio').length"), 0, "tables and plots of what is not compared")
    expect(browser.evaluate("document.querySelectorAll('#cases tbody tr').length"), 20, "rows of the cases")


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)
    files = {"operations": operations(golden), "base": processes(golden, {}), "new": processes(golden, {"medium": 1.05, "xl": 0.9})}

    def check_all(browser, folder):
        paths = {name: os.path.join(folder, f"{name}.json") for name in files}
        for name, results in files.items():
            with open(paths[name], "w") as file:
                json.dump(results, file)
        browser.open(report(tbench, folder, [paths["operations"]]))
        ready(browser)
        check_ceilings(browser)
        check_shares(browser)
        check_products(browser)
        check_cases(browser)
        browser.open(report(tbench, folder, [paths["base"], paths["new"]]))
        check_comparison(browser)
        check_refused(browser, tbench, folder, files["base"])

    return in_browser(check_all, "ceilings, shares, products, findings and comparisons are as they should be")


if __name__ == "__main__":
    sys.exit(main())
