"""Tests that Google Benchmark's own compare.py reads our files and skips the cases that have no time.

Usage: compare_py_test.py WRITE_RESULTS COMPARE_PY. Exit status 77: what it needs is not installed.
"""

import contextlib
import io
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from skipping import skipped  # noqa: E402

# Cases that have a time on both sides, with the number of repetitions that are compared.
COMPARABLE = {
    "time_time": 1,
    "times_times": 3,
    "mixed_times": 2,
    "times_mixed": 2,
    "mixed_mixed": 2,
    "times_time": 1,
}
AGGREGATED = {"times_times", "mixed_times", "times_mixed", "mixed_mixed"}
AGGREGATES = ("mean", "median", "stddev", "cv")


def compare(compare_py, folder, *arguments):
    """Runs compare.py in this process, which then loads SciPy only once. Returns {name: report}."""
    dump = os.path.join(folder, "dump.json")
    sys.argv = [compare_py, "--no-color", "-d", dump, *arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(compare_py, run_name="__main__")
    assert "nan" not in printed.getvalue().lower(), printed.getvalue()
    with open(dump) as file:
        return {entry["name"]: entry for entry in json.load(file)}


def expected_names(name_of):
    names = {name_of(case) for case in COMPARABLE}
    names |= {f"{name_of(case)}_{aggregate}" for case in AGGREGATED for aggregate in AGGREGATES}
    return names | {"OVERALL_GEOMEAN"}


def check(report, name_of, description):
    found = set(report)
    assert found == expected_names(name_of), f"{description}: {found ^ expected_names(name_of)}"
    for case, repetitions in COMPARABLE.items():
        measurements = report[name_of(case)]["measurements"]
        assert len(measurements) == repetitions, f"{description}: {case} has {len(measurements)} measurements"
    # Side b takes twice as long as side a: a change of +1.
    for case in ("time_time", "times_times"):
        for measurement in report[name_of(case)]["measurements"]:
            assert abs(measurement["time"] - 1) < 1e-9, f"{description}: {case}: {measurement}"


def check_files(compare_py, folder):
    a, b = os.path.join(folder, "a.json"), os.path.join(folder, "b.json")
    eager = "Pair/case:{}/impl:eager".format
    for flags in ((), ("--no-utest",), ("-a",), ("-a", "--no-utest")):
        check(compare(compare_py, folder, *flags, "benchmarks", a, b), eager, f"benchmarks {flags}")
        replaced = "Pair/case:{}/[impl:eager vs. impl:sdpa]".format
        report = compare(compare_py, folder, *flags, "filters", a, "impl:eager", "impl:sdpa")
        check(report, replaced, f"filters {flags}")
        same = "Pair/case:{}/[impl:eager vs. impl:eager]".format
        report = compare(compare_py, folder, *flags, "benchmarksfiltered", a, "impl:eager", b, "impl:eager")
        check(report, same, f"benchmarksfiltered {flags}")
    # The U test runs if there are repetitions.
    assert compare(compare_py, folder, "benchmarks", a, b)[eager("times_times")]["utest"]


def check_failed_alone(compare_py, folder):
    a, failed = os.path.join(folder, "a.json"), os.path.join(folder, "failed.json")
    for pair in ((a, failed), (failed, a), (failed, failed)):
        report = compare(compare_py, folder, "benchmarks", *pair)
        assert report == {}, f"{pair}: {report}"


def main():
    write_results, compare_py = sys.argv[1:]
    if not os.path.exists(compare_py):
        return skipped(f"no {compare_py} (Debian's libbenchmark-tools)")
    try:
        import scipy  # noqa: F401
    except ImportError:
        return skipped("compare.py needs SciPy (pip install scipy)")
    sys.path.insert(0, os.path.dirname(compare_py))  # its own package gbench is there
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_results, "compare", folder], check=True)
        check_files(compare_py, folder)
        check_failed_alone(compare_py, folder)
    print("compare.py reads our files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
