"""Tests the page of `tbench report -o` in a real browser: it loads without an error or a request, shows every value,
sorts and filters by mouse and keyboard, and shows hostile texts as text.

Usage: page_test.py TBENCH GOLDEN. Exit status 77: there is no Chromium.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browser import Browser, find_chromium  # noqa: E402
from chart_data import ready  # noqa: E402
from skipping import skipped  # noqa: E402
from synthetic import HOSTILE, refreshed  # noqa: E402

ROWS = "[...document.querySelectorAll('#cases tbody tr')]"


def hostile_results(golden):
    """Returns the golden results at two more contexts, with a hostile case name, device name and reason."""
    results = copy.deepcopy(golden)
    results["context"]["tbench"]["environment"]["gpu"]["name"] = HOSTILE
    timed = results["benchmarks"][0]
    for size, ctx, factor in ((HOSTILE, "256", 0.5), ("small", "1024", 3.0)):
        entry = copy.deepcopy(timed)
        entry["tbench"]["parameters"].update(size=size, ctx=ctx)
        entry["tbench"]["timing"]["samples_s"] = [factor * s for s in entry["tbench"]["timing"]["samples_s"]]
        results["benchmarks"].append(entry)
    failed = results["benchmarks"][1]
    failed["tbench"]["reason"] = failed["error_message"] = "out of memory " + HOSTILE
    return refreshed(results)


def report(tbench, folder, files):
    page = os.path.join(folder, "page.html")
    subprocess.run([tbench, "report", *files, "-o", page], check=True)
    return page


def in_browser(check, done=""):
    """Calls check(browser, folder) with a temporary folder. Then no page may have had an error, or a request beyond the
    disk. Prints `done`.

    Returns the exit status of a test program, which is the status of a skipped test without Chromium.
    """
    chromium = find_chromium()
    if not chromium:
        return skipped("there is no Chromium or Chrome on PATH (ci/setup.sh tests installs Debian's chromium)")
    browser = Browser(chromium)
    try:
        with tempfile.TemporaryDirectory() as folder:
            check(browser, folder)
        expect(browser.problems, [], "errors and requests")
    finally:
        browser.close()
    if done:
        print(done)
    return 0


def expect(actual, expected, what):
    assert actual == expected, f"{what}: {actual!r}, expected {expected!r}"


def check_single(browser, page, records):
    browser.open(page)
    ready(browser)
    expect(browser.evaluate("document.querySelector('.run h2').textContent"), HOSTILE, "the device's name")
    expect(browser.evaluate("window.hacked === undefined && !document.querySelector('img')"), True, "no markup from data")
    expect(browser.evaluate(f"{ROWS}.length"), len(records), "rows")
    counts = browser.evaluate("tbench.charts.counts()")
    model = [r for r in records if r["family"] == "Model"]
    timed = [r for r in model if "timing" in r]
    oom = [r for r in model if r["status"] == "oom"]
    expect(counts["throughput"], sum("work" in r for r in timed), "points of the throughput")
    steps = [r for r in timed if r["parameters"]["pass"] == "train_step"]  # forward has one context: nothing to plot
    expect(counts["time"], len(steps) + len(oom), "points of time against context")
    expect(counts["memory"], sum("memory" in r for r in steps) + len(oom), "points of memory against context")
    expect(counts["phases"], sum(len(r["timing"]["phases"]) for r in timed), "bars of phases")
    labels = browser.evaluate("document.querySelectorAll('#phases figure text[data-row]').length")
    assert labels > 0, "the bars of phases have no names"
    drawn = "document.querySelector('#phases .bar').getBoundingClientRect().width > 1"
    expect(browser.evaluate(drawn), True, "the bars of phases have a length")
    expect("ratio" in counts, False, "a comparison of one file")


def check_summary(browser, parts):
    """The page begins with the summary: one list per file and per comparison, under headings if there are several."""
    before = "document.getElementById('summary').compareDocumentPosition(document.getElementById('runs')) & Node.DOCUMENT_POSITION_FOLLOWING"
    expect(browser.evaluate(f"Boolean({before})"), True, "the summary comes first")
    expect(browser.evaluate("document.querySelectorAll('#summary ul').length"), parts, "parts of the summary")
    expect(browser.evaluate("document.querySelectorAll('#summary h3').length"), parts if parts > 1 else 0, "their headings")
    first = browser.evaluate("document.querySelector('#summary li').textContent")
    assert first.startswith("7 cases on "), first
    tones = browser.evaluate("[...document.querySelectorAll('#summary li')].map((li) => [li.className, li.textContent])")
    assert any(tone == "warn" and "not fit into the GPU's memory" in text for tone, text in tones), tones


def check_collection(browser, tbench, folder, results):
    """A page of files without common cases begins with all of them together, and folds what is about each."""
    paths = []
    for name, is_of_file in (("model", lambda family: family == "Model"), ("others", lambda family: family != "Model")):
        entries = [entry for entry in results["benchmarks"] if is_of_file(entry["name"].split("/")[0])]
        assert entries, f"the golden file has no cases for {name}"
        paths.append(os.path.join(folder, f"{name}.json"))
        with open(paths[-1], "w") as file:
            json.dump({**results, "benchmarks": entries}, file)
    browser.open(report(tbench, folder, paths))
    ready(browser)
    expect(browser.evaluate("document.querySelectorAll('#summary > h3').length"), 1, "parts of the summary that are open")
    expect(browser.evaluate("document.querySelectorAll('#summary details h3').length"), 2, "parts that are folded")
    expect(browser.evaluate("document.querySelector('#summary > h3').textContent"), "All files together", "the first part")
    expect(browser.evaluate("document.querySelectorAll('header > details .run').length"), 2, "folded run headers")
    expect(browser.evaluate("Boolean(document.getElementById('comparison'))"), False, "a comparison of unrelated files")


def check_table(browser, records):
    column = "[...document.querySelectorAll('#cases thead button')].find((b) => b.textContent.startsWith('median ms'))"
    browser.evaluate(f"{column}.focus()")
    medians = sorted(round(r["timing"]["median_s"] * 1e3, 9) for r in records if "timing" in r)
    shown = (f"{ROWS}.map((row) => row.querySelector('.number')?.firstChild.textContent)"
             ".filter(Boolean).map((t) => Number(t.replace(/,/g, '')))")
    for order in (medians, medians[::-1]):
        browser.press("Enter", 13)
        values = browser.evaluate(shown)
        expect(len(values), len(order), "medians shown")
        assert all(abs(a - b) <= 1e-3 * b for a, b in zip(values, order)), f"sorted: {values}, expected {order}"
    expect(browser.evaluate("document.querySelector('th[aria-sort=descending]').textContent"), "median ms ▼", "sorted by")
    browser.evaluate("{ const s = document.querySelector('select[name=status]'); s.value = 'oom';"
                     " s.dispatchEvent(new Event('change')); }")
    expect(browser.evaluate(f"{ROWS}.length"), sum(r["status"] == "oom" for r in records), "rows that are oom")
    browser.evaluate("document.querySelector('button[type=reset]').click();"
                     " new Promise((done) => setTimeout(done, 100))")
    browser.evaluate("{ const s = document.getElementById('search'); s.value = 'gemm TF32';"
                     " s.dispatchEvent(new Event('input')); } new Promise((done) => setTimeout(done, 400))")
    expect(browser.evaluate(f"{ROWS}.length"), 1, "rows that match a search")


MARKED = "[...document.querySelectorAll('#cases .mark')]"


def check_marks(browser, records):
    """Times have the same marks as in every other table, and the page explains them."""
    def marks_of(record):
        timing = record.get("timing")
        if not timing:
            return ""
        free = timing["stop_reason"] != "fixed_count"
        vague = free and (not timing["warm_up"]["steady"] or timing.get("relative_half_width", 0) > 0.02)
        return ("*" * (record["status"] != "ok") + "~" * (timing.get("resolution_limited", False) or vague)
                + "h" * (timing["host_bound"] and "device" in record))

    wanted = sorted(filter(None, map(marks_of, records)))
    assert {"*", "~", "h"} <= set("".join(wanted)), f"{wanted} leave a mark untested"
    expect(browser.evaluate(f"{MARKED}.map((m) => m.textContent).sort()"), wanted, "marks")
    expect(browser.evaluate(f"{MARKED}.every((m) => m.parentElement.title)"), True, "what a mark is about")
    for meaning in ("* unstable or throttled", "~ not sharp", "h limited by the host"):
        expect(browser.evaluate(f"document.getElementById('marks').textContent.includes({json.dumps(meaning)})"), True, meaning)


def main():
    tbench, golden_path = sys.argv[1:]
    with open(golden_path) as file:
        results = hostile_results(json.load(file))
    records = [entry["tbench"] for entry in results["benchmarks"] if "tbench" in entry]

    def check_all(browser, folder):
        path = os.path.join(folder, "results.json")
        with open(path, "w") as file:
            json.dump(results, file)
        check_single(browser, report(tbench, folder, [path]), records)
        check_summary(browser, 1)
        check_marks(browser, records)
        check_table(browser, records)
        browser.open(report(tbench, folder, [path, golden_path]))
        ready(browser)
        expect(browser.evaluate("document.querySelectorAll('.run').length"), 2, "run headers")
        assert browser.evaluate("tbench.charts.counts().ratio") > 0, "a comparison of two files"
        check_summary(browser, 3)
        check_collection(browser, tbench, folder, results)

    return in_browser(check_all, f"{len(records)} records shown, sorted and filtered")


if __name__ == "__main__":
    sys.exit(main())
