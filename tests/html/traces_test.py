"""Plots of traced steps: the GPU's time by phase and class, and the gaps, in a real browser.

Usage: traces_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import sys

from charts_test import written
from page_test import expect, in_browser, report
from plots_test import CHARTS
from synthetic import STEP, load, traced, training

SUMS = "Object.fromEntries({chart}.data.datasets.map((d) => [d.label, Object.fromEntries(d.data.map((p) => [p.y, Math.round(1e4 * p.x) / 1e4]))]))"


def sums(browser, plot, chart):
    """ms, or %, by series and row."""
    return browser.evaluate(SUMS.format(chart=f"{CHARTS.format(plot)}[{chart}]"))


def check_classes(browser):
    titles = browser.evaluate("[...document.querySelectorAll('#classes h3')].map((h) => h.textContent)")
    expect(titles, ["Model, small ctx 512 train_step bf16", "Model, xl ctx 512 train_step bf16", "Kernel, rmsnorm xl ctx 512 batch 4 forward bf16 aten"], "a panel a shape")
    rows = browser.evaluate(f"{CHARTS.format('classes')}[0].data.labels")
    expect(rows, [f"{impl} {phase}" for impl in ("eager", "sdpa") for phase in ("forward", "backward", "optimizer", "gaps")], "rows")
    shown = sums(browser, "classes", 0)
    for phase, name, _, ms in STEP:
        series = name if name in shown else "others"
        assert abs(shown[series][f"eager {phase}"] - ms) < 1e-3, f"{name} of {phase}: {shown}"
    expect(shown["attention_fused"], {"sdpa forward": 1.5, "sdpa backward": 1.25}, "fused attention")
    assert "memset" not in shown and shown["others"]["eager backward"] == 0.01, shown
    expect(shown["gap: host late"], {"eager gaps": 5, "sdpa gaps": 5}, "gaps of the host")
    assert "gap: host late" not in sums(browser, "classes", 1), "of the large size the host is in time"
    expect(sums(browser, "classes", 2), {"norm": {"aten forward": 1}}, "one phase, one operation, no gap")
    said = browser.evaluate(f"{CHARTS.format('classes')}[0].data.datasets.find((d) => d.label === 'gemm').data[0].said")
    expect(said, ["gemm: 4 ms in 85 operations"], "what the pointer is told")
    colours = browser.evaluate(f"{CHARTS.format('classes')}[0].data.datasets.map((d) => d.backgroundColor + d.borderColor)")
    expect(len(set(colours)), len(colours), "colours")
    colour = "{}[{}].data.datasets.find((d) => d.label === 'gemm').backgroundColor"
    expect(browser.evaluate(colour.format(CHARTS.format("classes"), 0)), browser.evaluate(colour.format(CHARTS.format("classes"), 1)), "the colour of a class in two panels")


def check_gaps(browser):
    shares = sums(browser, "gaps", 0)
    whole = sum(ms for *_, ms in STEP) + 5 + 0.5 + 0.1
    for name, ms in (("host late", 5), ("device's own", 0.5), ("others", 0.1)):
        for row, share in shares[name].items():
            assert abs(share - 100 * ms / whole) < 0.01, f"{name} of {row}: {share}"
    said = browser.evaluate(f"{CHARTS.format('gaps')}[0].data.datasets[0].data[0].said[1]")
    kernels = sum(calls for _, name, calls, _ in STEP if name not in ("memset", "memcpy"))
    expect(said, f"{kernels} kernels, 498 launches; the longest gap: 200 us", "what the pointer is told")
    expect(browser.evaluate("document.querySelectorAll('#gaps canvas').length"), 2, "panels: the kernel alone has no gap")


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)

    def check_all(browser, folder):
        browser.open(report(tbench, folder, [written(folder, "traced.json", traced(golden))]))
        browser.evaluate("tbench.charts.drawAll()")
        check_classes(browser)
        check_gaps(browser)
        untraced = training(golden, ("eager", "sdpa"))
        for entry in untraced["benchmarks"]:
            del entry["tbench"]["trace"]
        browser.open(report(tbench, folder, [written(folder, "untraced.json", untraced)]))
        expect(browser.evaluate("document.querySelectorAll('#classes, #gaps').length"), 0, "plots of a file without traces")

    return in_browser(check_all, "classes by phase and gaps are as they should be")


if __name__ == "__main__":
    sys.exit(main())
