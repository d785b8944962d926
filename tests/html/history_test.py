"""Tests the page of `tbench history -o` in a real browser: levels, epochs, invalid nights, confirmed regressions,
failures and hostile texts, as plots and as tables; the keyboard, a screen reader's view, printing, and many series.

Usage: history_test.py TBENCH FAKE_BENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import os
import subprocess
import sys

import nights
from chart_data import CHART
from page_test import expect, in_browser
from synthetic import HOSTILE, load

SETTLED = "new Promise((done) => setTimeout(done, 400))"
OVERVIEW = "[...document.querySelectorAll('#overview tbody tr')]"
SERIES = 14  # nine of the fake program, five of the other machine
PLOTS = 12  # per page


def night(number):
    return nights.started(number)[:10]


def section(name):
    return f"[...document.querySelectorAll('#series section')].find((s) => s.querySelector('h2').textContent.includes('{name}'))"


def data_of(browser, name):
    """Returns {series: nights} of a section's plot."""
    return browser.evaluate(f"Object.fromEntries({CHART.format(section(name))}.data.datasets.map((d) =>"
                            " [d.label, d.data.map((p) => (typeof p.x === 'number' ? new Date(p.x).toISOString().slice(0, 10) : p.x))]))")


def rows_of(browser, name):
    """Returns {night: text in the table next to a plot}."""
    return dict(browser.evaluate(f"[...{section(name)}.querySelectorAll('tbody tr')].map((r) => [r.cells[0].textContent, r.cells[4].textContent])"))


def check_overview(browser):
    expect(browser.evaluate(f"{OVERVIEW}.length"), SERIES, "series in the table")
    cells = browser.evaluate(f"{OVERVIEW}.slice(0, 2).map((r) => [r.cells[0].textContent, r.cells[4].textContent, r.cells[5].textContent])")
    assert "size:medium" in cells[0][0] and cells[0][2] == night(nights.CONFIRMED), f"what regressed comes first: {cells}"
    assert "size:2.7B" in cells[1][0] and cells[1][1].startswith(f"{night(nights.STEP)} +"), f"then what changed: {cells}"
    machines = browser.evaluate("[...document.querySelectorAll('.run')].map((r) => r.textContent)")
    expect(len(machines), 2, "machines")
    assert f"{nights.NIGHTS} nights, {night(0)} to {night(nights.NIGHTS - 1)}, 1 invalid" in machines[0], machines[0]
    assert f"epoch from {night(nights.NEW_DRIVER)}driver 590.2 {HOSTILE}" in machines[0], machines[0]
    assert machines[1].startswith("GPU " + HOSTILE), machines[1]
    expect(browser.evaluate("window.hacked === undefined && !document.querySelector('img')"), True, "no markup from data")


def check_plots(browser):
    expect(browser.evaluate("document.querySelectorAll('#series section').length"), PLOTS, "plots at once")
    valid = [night(i) for i in range(nights.NIGHTS) if i != nights.INVALID]
    stepped = data_of(browser, "2.7B/ctx:512/batch:4/pass:forward")
    expect(stepped["median of the processes"], valid, "nights that count")
    expect(stepped["level changed"], [night(nights.STEP)], "the change of level")
    expect(stepped["invalid night"], [night(nights.INVALID)], "the invalid night")
    expect(set(stepped["new epoch"]), {night(nights.NEW_DRIVER)}, "the new epoch")
    assert "confirmed regression" not in stepped, stepped
    edges = [night(i) for i in (0, nights.STEP - 1, nights.STEP - 1, nights.STEP, nights.NEW_DRIVER - 1, nights.NEW_DRIVER - 1,
                                nights.NEW_DRIVER, nights.NIGHTS - 1, nights.NIGHTS - 1)]
    expect(stepped["level"], edges, "ends of the levels, each with a gap behind it")
    level = f"{CHART.format(section('2.7B/ctx:512/batch:4/pass:forward'))}.data.datasets.find((d) => d.label === 'level').data.map((p) => p.y)"
    before, after = [browser.evaluate(level)[i] for i in (0, 3)]
    assert 1.04 < after / before < 1.06, f"levels of {before} and {after} ms"
    expect(data_of(browser, "medium/ctx:512/batch:4/pass:train_step")["confirmed regression"], [night(nights.CONFIRMED)], "the regression")
    failed = data_of(browser, "small/ctx:512/batch:4/pass:train_step")
    expect(failed["no value"], [night(nights.FAILED)], "the night without a value")
    assert night(nights.FAILED) not in failed["median of the processes"], failed


def check_tables(browser):
    """The table next to a plot says what the plot shows."""
    rows = rows_of(browser, "2.7B/ctx:512/batch:4/pass:forward")
    expect(len(rows), nights.NIGHTS, "a row a night")
    assert rows[night(nights.STEP)].startswith("level +"), rows
    expect(rows[night(nights.INVALID)], "invalid night", "the invalid night")
    expect(rows[night(nights.NEW_DRIVER)], "new epoch", "the new epoch")
    expect(rows[night(1)], "", "a night without events")
    expect(rows_of(browser, "medium/ctx:512/batch:4/pass:train_step")[night(nights.CONFIRMED)], "REGRESSED", "the regression")
    expect(rows_of(browser, "small/ctx:512/batch:4/pass:train_step")[night(nights.FAILED)], "incorrect", "the failed night")


def check_filters(browser):
    browser.evaluate("{ const s = document.querySelector('select[name=shows]'); s.value = 'changed'; s.dispatchEvent(new Event('change')); }")
    expect(browser.evaluate(f"{OVERVIEW}.length + document.querySelectorAll('#series section').length"), 2, "one series that changed, in table and plot")
    browser.evaluate("document.querySelector('button[type=reset]').click(); new Promise((done) => setTimeout(done, 100))")
    browser.evaluate(f"{{ const s = document.getElementById('search'); s.value = 'CEILING copy'; s.dispatchEvent(new Event('input')); }} {SETTLED}")
    expect(browser.evaluate(f"{OVERVIEW}.length"), 1, "series that match a search")
    expect(browser.evaluate("document.getElementById('count').textContent"), f"1 of {SERIES} series", "count")
    browser.evaluate("document.querySelector('button[type=reset]').click(); new Promise((done) => setTimeout(done, 100))")


def check_keyboard(browser):
    """A name in the table leads to its plot, even on another page of plots."""
    browser.evaluate(f"{OVERVIEW}[{SERIES - 1}].querySelector('button').focus()")
    browser.press("Enter", 13)
    expect(browser.evaluate("document.activeElement.textContent"), browser.evaluate(f"{OVERVIEW}[{SERIES - 1}].cells[0].textContent"), "the plot of a series")
    expect(browser.evaluate("document.querySelectorAll('#series section').length"), SERIES - PLOTS, "plots of the last page")
    # The chart's buttons come first, and the chart itself where it scrolls.
    for _ in range(browser.evaluate("document.activeElement.closest('section').querySelectorAll('figure button').length") + 2):
        browser.press("Tab", 9)
        if browser.evaluate("!document.activeElement.closest('figure')"):
            break
    expect(browser.evaluate("document.activeElement.className"), "scroll", "the table follows its plot")
    expect(browser.evaluate("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"]):not([tabindex=\"-1\"])').length"), 0, "elements with an order of their own")
    browser.evaluate("[...document.querySelectorAll('#series-pages button')].find((b) => b.textContent === 'Previous').click()")
    expect(browser.evaluate("document.querySelectorAll('#series section').length"), PLOTS, "plots of the first page")


def check_screen_reader(browser):
    browser.call("Accessibility.enable")
    by_role = {}
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        if not node.get("ignored"):
            by_role.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("searchbox", "combobox", "button", "table", "region", "columnheader", "rowheader", "heading", "navigation"):
        assert by_role.get(role), f"nothing has the role {role}: {sorted(by_role)}"
        assert all(name.strip() for name in by_role[role]), f"{role} without a name: {by_role[role]}"
    images = by_role.get("image") or by_role.get("img")
    assert any(f"{night(nights.CONFIRMED)} REGRESSED" in name and "The table lists them" in name for name in images), images


def check_layouts(browser):
    for width in (400, 1600):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        browser.evaluate(SETTLED)
        wide = "[...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + e.id)"
        expect(browser.evaluate(wide), [], f"what is wider than {width} px")
        plot = browser.evaluate("(() => { const [a, b] = document.querySelector('#series .series').children; return a.getBoundingClientRect().bottom <= b.getBoundingClientRect().top; })()")
        expect(plot, width == 400, f"whether the table is below its plot at {width} px")
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.call("Emulation.setEmulatedMedia", media="print")
    expect(browser.evaluate("getComputedStyle(document.querySelector('#series .scroll')).maxHeight"), "none", "tables are whole on paper")
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")


def main():
    tbench, fake_bench, golden_path = sys.argv[1:]

    def check_all(browser, folder):
        db = nights.make_history(tbench, fake_bench, load(golden_path), folder)
        page = os.path.join(folder, "history.html")
        subprocess.run([tbench, "history", "--db", db, "-o", page], check=True)
        browser.open(page)
        check_overview(browser)
        check_plots(browser)
        check_tables(browser)
        check_filters(browser)
        check_keyboard(browser)
        check_screen_reader(browser)
        check_layouts(browser)

    return in_browser(check_all, "a history's levels, epochs, invalid nights and regressions are as they should be")


if __name__ == "__main__":
    sys.exit(main())
