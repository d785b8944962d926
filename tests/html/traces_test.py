"""Tests plots of traced steps in a real browser: the GPU's time by phase and class, by range, and the gaps.

Usage: traces_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import sys

from charts_test import written
from chart_data import CHARTS, TITLES, ready
from page_test import expect, in_browser, report
from synthetic import RANGES, STEP, load, traced, training

SUMS = "Object.fromEntries({chart}.data.datasets.map((d) => [d.label, Object.fromEntries(d.data.map((p) => [p.y, Math.round(1e4 * p.x) / 1e4]))]))"


def sums(browser, plot, chart):
    """Returns ms, or %, by series and row."""
    return browser.evaluate(SUMS.format(chart=f"{CHARTS.format(plot)}[{chart}]"))


def check_classes(browser):
    titles = browser.evaluate(TITLES.format("classes"))
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
    said = browser.evaluate(f"{CHARTS.format('classes')}[0].data.datasets.find((d) => d.label === 'gemm').data[0].note")
    expect(said, "gemm: 4.000 ms in 85.00 operations", "what the pointer is told")
    colours = browser.evaluate(f"{CHARTS.format('classes')}[0].data.datasets.map((d) => d.borderColor + d.shape)")
    expect(len(set(colours)), len(colours), "colours")
    colour = "{}[{}].data.datasets.find((d) => d.label === 'gemm').borderColor"
    expect(browser.evaluate(colour.format(CHARTS.format("classes"), 0)), browser.evaluate(colour.format(CHARTS.format("classes"), 1)), "the colour of a class in two panels")


def check_gaps(browser):
    shares = sums(browser, "gaps", 0)
    whole = sum(ms for *_, ms in STEP) + 5 + 0.5 + 0.1
    for name, ms in (("host late", 5), ("device's own", 0.5), ("others", 0.1)):
        for row, share in shares[name].items():
            assert abs(share - 100 * ms / whole) < 0.01, f"{name} of {row}: {share}"
    said = browser.evaluate(f"{CHARTS.format('gaps')}[0].data.datasets[0].data[0].note")
    kernels = sum(calls for _, name, calls, _ in STEP if name not in ("memset", "memcpy"))
    expect(said.split("; ", 1)[1], f"{kernels}.0 kernels, 498.0 launches; longest gap 200.0 us", "what the pointer is told")
    expect(browser.evaluate("document.querySelectorAll('#gaps figure').length"), 2, "panels: the kernel alone has no gap")


BOXES = """[...document.querySelectorAll('#flame rect')].map((rect) => {
    const box = rect.getBoundingClientRect();
    return { said: rect.textContent, left: box.left, right: box.right, top: Math.round(box.top), fill: getComputedStyle(rect).fill };
  })"""
CHOOSE = """{{ const s = document.getElementById('chosen'); s.value = [...s.options].find((o) => {passes}).value; s.dispatchEvent(new Event('change')); }}"""


def check_flame(browser):
    """The ranges of the selected case are as wide as their time, and lie below the range around them."""
    browser.evaluate(CHOOSE.format(passes="/size:xl.*impl:sdpa/.test(o.text)"))
    boxes = {box["said"].split(":")[0]: box for box in browser.evaluate(BOXES)}
    expect(list(boxes), [path.split("/")[-1] for path, _ in RANGES], "ranges")
    left, right = boxes["FORWARD"]["left"], boxes["OPTIMIZER"]["right"]
    unit = (right - left) / 21.27  # pixels per ms of the smaller case: 7 + 11.26 + 3.01
    assert right - left > 500, f"{right - left} px"
    # The begin of each range: the first range inside another begins with it, and others begin at the end of the one
    # before.
    starts = {"FORWARD": 0, "layer.*": 0, "attention": 0, "attention.qkv": 0, "ffn": 4, "loss": 6, "BACKWARD": 7, "OPTIMIZER": 18.26}
    rows = sorted({box["top"] for box in boxes.values()})
    for path, ms in RANGES:
        name = path.split("/")[-1]
        box = boxes[name]
        assert abs(box["left"] - left - unit * starts[name]) < 0.6 and abs(box["right"] - box["left"] - unit * ms) < 0.6, f"{name}: {box}"
        expect(box["top"], rows[path.count("/")], f"row of {name}")
    expect(boxes["attention"]["said"], "attention: 40 ms, 18.8 %", "what the pointer is told")
    phases = [boxes[name]["fill"] for name in ("FORWARD", "BACKWARD", "OPTIMIZER")]
    expect(len(set(phases)), 3, "colours of phases")
    texts = browser.evaluate("[...document.querySelectorAll('#flame text')].map((t) => t.textContent)")
    assert {"FORWARD", "attention", "qkv", "BACKWARD"} <= set(texts), texts
    expect(browser.evaluate("document.querySelector('#flame figcaption').textContent"), "GPU time of a step by range: 212.7 ms", "title")
    browser.evaluate(CHOOSE.format(passes="/size:large/.test(o.text)"))
    expect(browser.evaluate("document.getElementById('flame').childElementCount"), 0, "a flame graph of what was not traced")


def main():
    tbench, golden_path = sys.argv[1:]
    golden = load(golden_path)

    def check_all(browser, folder):
        browser.open(report(tbench, folder, [written(folder, "traced.json", traced(golden))]))
        ready(browser)
        check_classes(browser)
        check_gaps(browser)
        check_flame(browser)
        untraced = training(golden, ("eager", "sdpa"))
        for entry in untraced["benchmarks"]:
            del entry["tbench"]["trace"]
        browser.open(report(tbench, folder, [written(folder, "untraced.json", untraced)]))
        ready(browser)
        expect(browser.evaluate("document.querySelectorAll('#classes, #gaps').length"), 0, "plots of a file without traces")

    return in_browser(check_all, "classes by phase, ranges and gaps are as they should be")


if __name__ == "__main__":
    sys.exit(main())
