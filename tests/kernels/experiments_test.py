#!/usr/bin/env python3
"""Tests the measurements of src/kernels and the pages that quote them: experiments_test.py SOURCE_DIR

- experiments.csv and measurements.csv: columns, values, kernels that exist, sources that are committed.
- Markdown below src/kernels: at most 6,000 words together, and no table with more than 12 rows of digits.
"""
import collections
import csv
import datetime
import functools
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
KERNELS = SOURCE / "src/kernels"

EXPERIMENTS = ["date", "commit", "gpu", "kernel", "change", "shape", "before_us", "after_us", "kept", "reason", "source"]
MEASUREMENTS = ["date", "commit", "gpu", "kernel", "what", "shape", "value", "unit", "source"]
SHAPE_KEYS = ["operation", "size", "batch", "heads", "head_dim", "seq_len", "causal", "pass", "precision", "l2"]  # in this order
UNITS = {"TFLOP/s", "MB", "ratio"}
NUMBER = re.compile(r"\d+(\.\d+)?")
COMMIT = re.compile(r"[0-9a-f]{7,40}")
KERNEL = re.compile(r"__global__\s+(?:void\s+)?(?:__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)?(?:void\s+)?(\w+)\(")
TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
RULE = re.compile(r"^\|[-:| ]+\|$")

MOST_WORDS = 6000
MOST_ROWS = 12


def rows_of(name):
    with open(KERNELS / name, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def records(name):
    header, *rows = rows_of(name)
    return [(f"{name}:{number}", dict(zip(header, row))) for number, row in enumerate(rows, 2)]


@functools.cache
def declared_kernels():
    sources = [path for suffix in ("cu", "cuh") for path in KERNELS.rglob(f"*.{suffix}")]
    return {name for path in sources for name in KERNEL.findall(path.read_text(encoding="utf-8"))}


@functools.cache
def renamed_kernels():
    lines = [line.split("\t") for line in (SOURCE / "tools/renames.tsv").read_text(encoding="utf-8").splitlines()]
    return {name.split("::")[-1] for line in lines if line[0] == "kernel" for name in line[1:3]}


def is_kernel(name):
    """Returns whether `name` is a kernel, or the common prefix of several kernels."""
    known = declared_kernels() | renamed_kernels()
    return name in known or any(other.startswith(name + "_") for other in known)


def is_shape(text):
    """Returns whether `text` is a shape in the form of case names: known keys in one order, none twice."""
    if not text:
        return True
    pairs = [part.partition(":") for part in text.split("/")]
    keys = [key for key, _, _ in pairs]
    return all(value for _, _, value in pairs) and keys == [key for key in SHAPE_KEYS if key in keys]


def is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def digit_rows(table):
    """Returns the rows of a Markdown table below its header that contain a digit."""
    rows = [line for line in table.splitlines() if not RULE.match(line)]
    return [row for row in rows[1:] if re.search(r"\d", row)]


class Rows(unittest.TestCase):
    def check(self, is_right, what):
        """Expects is_right(row) to hold for every row of both files."""
        wrong = [f"{place}: {row}" for name in ("experiments.csv", "measurements.csv") for place, row in records(name)
                 if not is_right(row)]
        self.assertEqual(wrong, [], what)

    def test_have_the_columns(self):
        for name, columns in (("experiments.csv", EXPERIMENTS), ("measurements.csv", MEASUREMENTS)):
            header, *rows = rows_of(name)
            self.assertEqual(header, columns)
            self.assertGreater(len(rows), 0, name)
            self.assertEqual([f"{name}:{number}" for number, row in enumerate(rows, 2) if len(row) != len(columns)], [])

    def test_date_commit_and_source_are_valid(self):
        self.check(lambda row: is_date(row["date"]) or not row["date"], "a date is YYYY-MM-DD or empty")
        self.check(lambda row: COMMIT.fullmatch(row["commit"]) or not row["commit"], "a commit is a hash or empty")
        self.check(lambda row: row["source"] == "typed" or (SOURCE / row["source"]).is_file(),
                   "a source is 'typed' or a committed file")

    def test_name_kernels_that_exist(self):
        self.assertGreater(len(declared_kernels()), 30, "the pattern for kernels finds too few of them")
        self.check(lambda row: not row["kernel"] or is_kernel(row["kernel"]), "a kernel of the tree or of tools/renames.tsv")

    def test_write_shapes_as_case_names(self):
        self.check(lambda row: is_shape(row["shape"]), f"keys of {SHAPE_KEYS}, in this order")


class Experiments(unittest.TestCase):
    def test_hold_times_or_a_text(self):
        for place, row in records("experiments.csv"):
            for column in ("before_us", "after_us"):
                self.assertTrue(not row[column] or NUMBER.fullmatch(row[column]), f"{place}: {column} is '{row[column]}'")
            self.assertTrue(row["after_us"] or row["reason"], f"{place}: neither a time nor a text")
            self.assertTrue(row["after_us"] or not row["before_us"], f"{place}: a time before, and none after")
            self.assertTrue(row["change"], f"{place}: no change")

    def test_say_whether_the_change_was_kept(self):
        wrong = [place for place, row in records("experiments.csv") if row["kept"] not in ("yes", "no", "")]
        self.assertEqual(wrong, [])

    def test_have_no_row_twice(self):
        counted = collections.Counter(tuple(row.values()) for _, row in records("experiments.csv"))
        self.assertEqual([row for row, count in counted.items() if count > 1], [])


class Measurements(unittest.TestCase):
    def test_hold_numbers_with_units(self):
        for place, row in records("measurements.csv"):
            self.assertRegex(row["value"], rf"^{NUMBER.pattern}$", place)
            self.assertIn(row["unit"], UNITS, place)
            self.assertTrue(row["what"], f"{place}: does not say what it is")


class Pages(unittest.TestCase):
    def test_are_short(self):
        words = {page.relative_to(SOURCE): len(page.read_text(encoding="utf-8").split()) for page in KERNELS.rglob("*.md")}
        self.assertGreater(len(words), 0)
        self.assertLessEqual(sum(words.values()), MOST_WORDS, words)

    def test_have_no_long_table_of_digits(self):
        for page in KERNELS.rglob("*.md"):
            for table in TABLE.findall(page.read_text(encoding="utf-8")):
                rows = digit_rows(table)
                self.assertLessEqual(len(rows), MOST_ROWS,
                                     f"{page.relative_to(SOURCE)}: '{rows and rows[0]}' ...; move measurements to a CSV file")


class Helpers(unittest.TestCase):
    def test_shapes_with_faults_are_refused(self):
        self.assertTrue(is_shape("batch:4/heads:12/l2:cold"))
        for text in ("heads:12/batch:4", "batch:4/batch:4", "batch:", "tokens:12", "batch:4/"):
            self.assertFalse(is_shape(text), text)

    def test_rows_with_digits_are_counted_below_the_header(self):
        self.assertEqual(digit_rows("| a 1 | b |\n|---|---|\n| c | 2 |\n| d | e |\n"), ["| c | 2 |"])

    def test_kernels_that_do_not_exist_are_refused(self):
        self.assertTrue(is_kernel("attention_bwd_sm80"))
        for name in ("attention_bwd_sm8", "no_kernel", "sdpa_cudnn"):
            self.assertFalse(is_kernel(name), name)


if __name__ == "__main__":
    unittest.main()
