"""Tests attention's plots, the roofline, the keyboard, a screen reader's view and printing, in a real browser.

Usage: plots_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import json
import os
import sys

from chart_data import CHARTS, TITLES, ready
from page_test import expect, in_browser, report
from synthetic import attention, load


def check_attention(browser):
    """Two panels of each plot, forward and backward, with three implementations at four lengths."""
    ready(browser)
    for plot in ("attention-time", "attention-memory"):
        charts = CHARTS.format(plot)
        expect(browser.evaluate(f"{charts}.map((c) => c.data.datasets.map((d) => d.label).join())"),
               ["naive,flash,sdpa_flash"] * 2, f"series of {plot}")
        expect(browser.evaluate(f"{charts}.map((c) => c.data.datasets.map((d) => d.data.length).join())"),
               ["4,4,4"] * 2, f"points of {plot}")
        shown = f"[...document.querySelectorAll('#{plot} figure')].map((f) => f.querySelector('.ticks:not([display])').dataset.scale)"
        expect(browser.evaluate(shown), ["log"] * 2, f"axes of {plot}")
        marked = f"{charts}.map((c) => c.data.datasets.map((d) => d.data.filter((p) => p.mark === 'oom').map((p) => p.x).join()).join(';'))"
        expect(browser.evaluate(marked), ["16384;;"] * 2, f"out of memory in {plot}")
        styles = f"[...document.querySelector('#{plot} g.series').querySelectorAll('[data-y]')].map((m) => m.getAttribute('class')).join()"
        expect(browser.evaluate(styles), "point,point,point,cross", f"marks of {plot}")
    flash = f"{CHARTS.format('attention-time')}[0].data.datasets[1].data.map((p) => p.y)"
    for value, length in zip(browser.evaluate(flash), (256, 1024, 4096, 16384)):
        assert abs(value - 1e-6 * length ** 2) <= 1e-4 * value, f"{value} ms at {length}"
    titles = browser.evaluate(TITLES.format("attention-time"))
    expect(titles, ["Attention, forward bf16", "Attention, backward bf16"], "titles of the panels")
    colours = f"Object.fromEntries({CHARTS.format('attention-time')}.flatMap((c) => c.data.datasets.map((d) => [d.label, d.borderColor])))"
    before = browser.evaluate(colours)
    expect(len(set(before.values())), 3, "colours of three implementations")
    browser.evaluate("{ const s = document.getElementById('search'); s.value = 'flash'; s.dispatchEvent(new Event('input'));"
                     " new Promise((r) => setTimeout(r, 300)); }")
    browser.evaluate("new Promise((r) => setTimeout(r, 300))")
    expect(browser.evaluate(colours), {name: before[name] for name in ("flash", "sdpa_flash")}, "colours when naive is gone")
    browser.evaluate("document.querySelector('button[type=reset]').click(); new Promise((r) => setTimeout(r, 100))")


def check_roofline(browser):
    """There is one panel per operation and precision, under the roof of that precision. A model has no counted bytes,
    so it is left out, and the page says so.
    """
    titles = browser.evaluate(TITLES.format("roofline"))
    expect(titles, ["Attention, batch 8 heads 1 d_model 64 causal 1 bf16", "Kernel, rmsnorm bf16 aten", "Kernel, softmax bf16 aten", "Kernel, softmax fp16 aten"], "titles of the rooflines")
    charts = CHARTS.format("roofline")
    implementations = ",".join(f"{way} {impl}" for way in ("forward", "backward") for impl in ("naive", "flash", "sdpa_flash"))
    expect(browser.evaluate(f"{charts}.map((c) => c.data.datasets.map((d) => d.label).join())"),
           [f"copy and gemm_bf16,{implementations}", "copy and gemm_bf16,aten", "copy and gemm_bf16,aten", "copy,aten"], "roofs, and points by implementation")
    # The ridge of bf16 is at 800 TFLOP/s over 4.3 TB/s. Left of it, the roof is the bandwidth times the intensity.
    low, ridge, high = browser.evaluate(f"{charts}[1].data.datasets[0].data.map((p) => [p.x, p.y])")
    assert abs(ridge[0] - 800 / 4.3) < 0.1 and abs(ridge[1] - 800) < 0.1, ridge
    assert abs(low[1] - 4.3 * low[0]) < 1e-3 and abs(high[1] - 800) < 0.1, (low, high)
    slope = browser.evaluate(f"{charts}[3].data.datasets[0].data.map((p) => p.y / p.x)")
    assert len(slope) == 2 and all(abs(s - 4.3) < 1e-3 for s in slope), f"fp16 has no ceiling but the bandwidth: {slope}"
    # 1e9 FLOP in 1 ms at 2 TB/s: 1 TFLOP/s at half a FLOP per byte.
    expect(browser.evaluate(f"{charts}[1].data.datasets[1].data.map((p) => [p.x, p.y])"), [[0.5, 1]], "rmsnorm's place")
    # 1.5e12 FLOP over q, k, v and the output, each with 8 x 256 x 64 elements of two bytes. Backward also has their
    # gradients.
    for label, tensors in (("forward flash", 4), ("backward flash", 8)):
        x = browser.evaluate(f"{charts}[0].data.datasets.find((d) => d.label === '{label}').data[0].x")
        assert abs(x / (1.5e12 / (tensors * 8 * 256 * 64 * 2)) - 1) < 1e-4, f"{label} at {x} FLOP a byte"
    colour = browser.evaluate(f"{charts}[1].data.datasets[1].borderColor")
    expect(colour, browser.evaluate("(() => { const e = document.body.appendChild(document.createElement('div')); e.style.color = `var(--slot-${tbench.slots.aten})`;"
                                    " const c = getComputedStyle(e).color; e.remove(); return c; })()"), "the colour of aten")
    note = browser.evaluate("document.querySelector('#roofline .note').textContent")
    assert "Left out: 1 of 26 results" in note, note
    browser.evaluate("{ const s = document.querySelector('select[name=op]'); s.value = 'softmax';"
                     " s.dispatchEvent(new Event('change')); } new Promise((r) => setTimeout(r, 100))")
    expect(browser.evaluate(f"{charts}[0].data.datasets.map((d) => d.label).join()"), "copy and gemm_bf16,aten",
           "the roofs stay when a filter leaves operations alone")
    browser.evaluate("document.querySelector('button[type=reset]').click(); new Promise((r) => setTimeout(r, 100))")


def check_screen_reader(browser):
    browser.call("Accessibility.enable")
    nodes = [n for n in browser.call("Accessibility.getFullAXTree")["nodes"] if not n.get("ignored")]
    by_role = {}
    for node in nodes:
        by_role.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("searchbox", "combobox", "button", "image", "table", "region", "columnheader", "rowheader", "heading"):
        names = by_role.get(role) or by_role.get("img" if role == "image" else role)
        assert names, f"nothing has the role {role}: {sorted(by_role)}"
        # Everything that can be used or must be understood has a name.
        assert all(name.strip() for name in names), f"{role} without a name: {names}"
    for role in ("main", "banner", "search"):
        assert role in by_role, f"no landmark {role}: {sorted(by_role)}"
    levels = browser.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))")
    expect(levels[0], 1, "first heading")
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:])), f"a level of headings is left out: {levels}"


def check_keyboard(browser):
    """Tab follows the order of the page: search, filters, clear, and then the table, whose header sorts by Enter."""
    expect(browser.evaluate("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"]):not([tabindex=\"-1\"])').length"),
           0, "elements with an order of their own")
    names = browser.evaluate("['search', ...[...document.querySelectorAll('#facets select')].map((s) => s.name), 'reset']")
    browser.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = follow(browser, len(names))
    browser.evaluate("document.getElementById('chosen').focus()")
    buttons = browser.evaluate("document.querySelectorAll('#samples button').length")
    expect(reached + follow(browser, buttons + 2)[buttons:], names + ["table", "family"], "order of the focus")
    browser.press("Enter", 13)
    expect(browser.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')"), "ascending", "sorted by Enter")


def follow(browser, count):
    """Presses Tab and returns what it reaches."""
    reached = []
    for _ in range(count):
        browser.press("Tab", 9)
        reached.append(browser.evaluate("(() => { const e = document.activeElement;"
                                        " if (e.classList.contains('scroll')) return 'table';"
                                        " return e.id || e.name || e.type === 'reset' && 'reset' || e.textContent; })()"))
    return reached


def check_print(browser):
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(browser.evaluate("document.documentElement.dataset.theme"), "light", "theme on paper")
    browser.call("Emulation.setEmulatedMedia", media="print")
    expect(browser.evaluate("getComputedStyle(document.getElementById('filters')).display"), "none", "filters on paper")
    expect(browser.evaluate("getComputedStyle(document.querySelector('.tools')).display"), "none", "buttons of charts on paper")
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(browser.evaluate("document.documentElement.dataset.theme ?? 'none'"), "none", "theme afterwards")
    assert len(browser.call("Page.printToPDF")["data"]) > 10_000, "an empty print"


def main():
    tbench, golden_path = sys.argv[1:]

    def check_all(browser, folder):
        path = os.path.join(folder, "attention.json")
        with open(path, "w") as file:
            json.dump(attention(load(golden_path)), file)
        browser.open(report(tbench, folder, [path]))
        check_attention(browser)
        check_roofline(browser)
        check_screen_reader(browser)
        check_keyboard(browser)
        check_print(browser)
        browser.open(report(tbench, folder, [golden_path]))
        ready(browser)
        expect(browser.evaluate("document.querySelectorAll('#attention-time, #roofline').length"), 0,
               "plots without anything to show")

    return in_browser(check_all, "attention, roofline, keyboard, screen reader and print are as they should be")


if __name__ == "__main__":
    sys.exit(main())
