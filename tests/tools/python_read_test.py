#!/usr/bin/env python3
"""The Python package of tools/python, on every committed results file.

    python_read_test.py SOURCE_DIR SERIES_WRITER

Exit status 77: pandas is not installed.
"""

import contextlib
import gzip
import io
import json
import os
import pathlib
import re
import unittest

from python_support import GOLDEN, PACKAGE, RESULTS, SOURCE, InFolder, bits, counters_of_entry, entries_of, load, main

import pandas as pd
import tbench
from tbench.counters import FLAGS, GENERAL, counters_of


# Counters that schema version 9 renamed, redefined or added.
REDEFINED = ("mfu", "hfu", "peak_share_at_clock", "device_ms", "idle_share", "host_share", "launch_budget_us", "host_bound")


class CommittedResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = [(page.parent / file["file"]) for page in RESULTS.glob("*/manifest.json") for file in load(page)["files"]]
        cls.files = {path: load(path) for path in listed}
        cls.results = {path: file for path, file in sorted(cls.files.items()) if "tbench" in file.get("context", {})}
        cls.frame = tbench.read(RESULTS)

    def read_alone(self):
        """Returns the files that are read alone: all with TBENCH_LONG_TESTS=1, else the smallest of every folder and
        schema version.
        """
        if os.environ.get("TBENCH_LONG_TESTS") == "1":
            return self.results
        smallest = {}
        for path, file in sorted(self.results.items(), key=lambda one: one[0].stat().st_size):
            smallest.setdefault((path.parent, file["context"]["tbench"]["schema_version"]), path)
        return {path: self.results[path] for path in smallest.values()}

    def test_every_results_file_of_the_manifests_is_read(self):
        self.assertGreater(len(self.results), 30)
        self.assertEqual({*self.frame["file"]}, {str(path) for path in self.results})
        others = {str(path) for path in self.files.keys() - self.results.keys()}
        manifests = {str(path) for path in RESULTS.glob("*/manifest.json")}
        self.assertEqual({*self.frame.attrs["passed_over"]}, others | manifests)
        versions = {str(path): file["context"]["tbench"]["schema_version"] for path, file in self.results.items()}
        self.assertEqual(self.frame.attrs["schema_versions"], versions)

    def test_kernels_have_their_present_names(self):
        pairs = [line.split("\t") for line in (SOURCE / "src/profile/kernel_renames.tsv").read_text().splitlines() if line[0] != "#"]
        old, new = ({name for name in names if "::attention_" in name} for names in zip(*pairs))
        attention = [RESULTS / "nvidia_h100/attention", RESULTS / "nvidia_h200/attention"]
        called = {match for name in set(tbench.kernels(attention)["kernel"]) for match in re.findall(r"tbench::\w[\w:]*", name)}
        self.assertEqual(called & old, set())
        self.assertGreater(len(called & new), 15)

    def test_counters_survive_the_way_into_a_frame_and_back_to_the_last_bit(self):
        read = tbench.to_counters(self.frame)
        self.assertEqual(len(read), len(self.frame))
        for path, file in self.results.items():
            for key, entry in self.keyed(path, file).items():
                version = file["context"]["tbench"]["schema_version"]
                counters = counters_of_entry(entry) if version > 8 else counters_of(entry["tbench"])
                self.assertEqual(bits(read[key]), bits(counters), key)
        for path, file in self.read_alone().items():
            self.assertEqual(tbench.to_counters(tbench.read(path)), {key: read[key] for key in self.keyed(path, file)})

    @staticmethod
    def keyed(path, file):
        """Returns the entries by path, name and repetition."""
        return {(str(path), entry["name"], entry["repetition_index"]): entry for entry in entries_of(file)}

    def test_counters_follow_from_records(self):
        """The package computes the same counters for a journal's records as the program writes."""
        for path, file in [*self.results.items(), (GOLDEN, load(GOLDEN))]:
            version = file["context"]["tbench"]["schema_version"]
            for entry in entries_of(file):
                derived, written = counters_of(entry["tbench"]), counters_of_entry(entry)
                if version < 9:
                    self.assertEqual(derived.get("peak_share_at_clock"), written.get("mfu"), f"{path}: {entry['name']}")
                    derived, written = ({k: v for k, v in c.items() if k not in REDEFINED} for c in (derived, written))
                self.assertEqual(bits(derived), bits(written), f"{path}: {entry['name']}")

    def test_a_ceiling_may_be_passed_by_two_percent(self):
        """No committed file is near the limit. The golden record has 16 MB in 4.25 us, which is 1.0204 of a ceiling at
        98 % of its rate.
        """
        record = entries_of(load(GOLDEN))[-1]["tbench"]
        for share_of_rate, above in ((0.98, 1.0), (0.981, 0.0)):
            record["ceiling_per_second"] = 16e6 / 4.25e-6 * share_of_rate
            self.assertEqual(counters_of(record)["above_ceiling"], above)

    def test_columns_have_their_types(self):
        types = self.frame.dtypes
        for name in ("ctx", "batch", "seq_len", "d_model", "causal", "deterministic", "iterations"):
            self.assertEqual(types[name], "Int64", name)
        for name in ("median_ms", "mfu", "launches_per_sample", "held_bytes", "duty", "relative_half_width"):
            self.assertEqual(types[name], "float64", name)
        for name in (*FLAGS, "steady"):
            self.assertEqual(types[name], "boolean", name)
        for name in ("gpu", "gpu_uuid", "driver", "commit", "date"):
            self.assertIsInstance(types[name], pd.CategoricalDtype, name)
        for name in ("size", "impl", "status", "name", "file"):
            self.assertEqual({*map(type, self.frame[name].dropna())}, {str}, name)
        course, published = {"small", "medium", "large", "xl", "2.7B"}, {"llama3.2-1B", "llama3.1-8B", "qwen3-0.6B"}
        self.assertEqual({*self.frame["size"].dropna()}, course | published)
        self.assertEqual({*self.frame["ctx"].dropna()}, {64, 128, 256, 512, 1024, 4096, 8192})

    def test_cases_without_a_time_have_their_reason_and_no_counter(self):
        entries = [entry for file in self.results.values() for entry in entries_of(file)]
        is_timed = self.frame["median_ms"].notna()
        self.assertEqual(is_timed.sum(), sum("timing" in entry["tbench"] for entry in entries))
        self.assertTrue((self.frame["median_ms"][is_timed] > 0).all())
        failed = self.frame[~is_timed]
        self.assertEqual(failed["reason"].tolist(), [entry["error_message"] for entry in entries if "real_time" not in entry])
        self.assertTrue(failed[["real_time", "relative_half_width", "iterations", "host_bound"]].isna().all(axis=None))
        self.assertTrue(self.frame["reason"][self.frame["status"] == "ok"].isna().all())

    def test_findings_and_environment(self):
        with_kernels = self.frame["finding.kernels"].notna()
        self.assertEqual(with_kernels.sum(), sum("kernels" in entry["tbench"].get("findings", {})
                                                 for file in self.results.values() for entry in entries_of(file)))
        for path, file in self.results.items():
            environment = file["context"]["tbench"]["environment"]
            rows = self.frame[self.frame["file"] == str(path)]
            self.assertEqual({*rows["commit"]}, {environment["commit"]})
            self.assertEqual({*rows["driver"]}, {environment["versions"]["driver"]})
            self.assertEqual({*rows["gpu"]}, {environment["gpu"]["name"]})
            self.assertEqual({*rows["gpu_uuid"]}, {environment["gpu"]["uuid"]})
            self.assertEqual({*rows["date"]}, {environment["date"]})

    def test_samples_are_arrays_in_seconds(self):
        path = RESULTS / "nvidia_h200/operations/operations.json.gz"
        frame = tbench.read(path, samples=True)
        self.assertNotIn("samples_s", tbench.read(path).columns)
        for samples, entry in zip(frame["samples_s"], entries_of(load(path)), strict=True):
            timing = entry["tbench"].get("timing")
            if timing is None:
                self.assertIsNone(samples)
            else:
                self.assertEqual(samples.dtype, float)
                self.assertEqual(samples.tolist(), timing["samples_s"])
        self.assertTrue((frame["samples_s"].dropna().map(len) == frame["iterations"].dropna()).all())

    def test_a_part_of_a_frame_gives_its_part_of_the_counters(self):
        part = self.frame[self.frame["family"] == "Ceiling"][["file", "name", "repetition_index", "median_ms"]]
        counters = tbench.to_counters(part)
        self.assertEqual(len(counters), len(part))
        self.assertTrue(all(value.keys() <= {"median_ms"} for value in counters.values()))
        with self.assertRaisesRegex(ValueError, "not a frame of tbench.read"):
            tbench.to_counters(pd.DataFrame({"file": [], "name": [], "repetition_index": []}))


class Pages(unittest.TestCase):
    def test_the_columns_are_the_counters_of_the_page(self):
        general = (SOURCE / "bench/counters.md").read_text().split("## Of single families")[0]
        rows = [line.split("|")[1:3] for line in general.splitlines() if line.startswith("| `")]
        names = [name for names, _ in rows for name in re.findall(r"`(\w+)`", names)]
        self.assertEqual(sorted(names), sorted(GENERAL))
        flags = {name for names, unit in rows for name in re.findall(r"`(\w+)`", names) if unit.strip() == "0/1"}
        self.assertEqual(flags, {*FLAGS})
        self.assertTrue({*GENERAL} <= {*tbench.read(GOLDEN).columns})

    def test_the_newest_version_is_the_programs(self):
        header = (SOURCE / "include/tbench/results/result_json.hpp").read_text()
        versions = [int(re.search(rf"{name} = (\d+);", header)[1]) for name in ("kOldestSchemaVersion", "kSchemaVersion")]
        self.assertEqual(versions, [tbench.records.OLDEST_VERSION, tbench.records.NEWEST_VERSION])


    def test_the_examples_of_the_package_run(self):
        examples = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
        self.assertEqual(len(examples), 2)
        printed = io.StringIO()
        before = os.getcwd()
        os.chdir(SOURCE)
        self.addCleanup(os.chdir, before)
        with contextlib.redirect_stdout(printed):
            exec("\n".join(examples), {})
        self.assertIn("63.63", printed.getvalue())  # 2.7B, forward, eager: the same number as in README.md
        self.assertIn("median_ms", printed.getvalue())


class PathsAndFilters(InFolder):
    def setUp(self):
        super().setUp()
        golden = GOLDEN.read_text()
        self.a, self.b = self.write("a.json", golden), self.write("b.json.gz", gzip.compress(golden.encode()))
        (self.folder / "deep").mkdir()
        self.c = self.write("deep/c.json", golden)
        self.write("deep/other.json", "[1]")
        self.write("notes.txt", "no JSON")

    def files_of(self, paths):
        return [pathlib.Path(file) for file in dict.fromkeys(tbench.read(paths)["file"])]

    def test_files_folders_and_patterns(self):
        self.assertEqual(self.files_of(self.a), [self.a])
        self.assertEqual(self.files_of(str(self.a)), [self.a])
        self.assertEqual(self.files_of([self.b, str(self.a)]), [self.b, self.a])
        self.assertEqual(self.files_of(self.folder), [self.a, self.b, self.c])
        self.assertEqual(self.files_of(f"{self.folder}/*.json*"), [self.a, self.b])
        self.assertEqual(self.files_of(f"{self.folder}/**/*.json"), [self.a, self.c])
        self.assertEqual(self.files_of([self.c, self.folder, self.folder / "deep/../a.json"]), [self.c, self.a, self.b])

    def test_filters(self):
        self.assertEqual({*tbench.read(self.a, filter="^Gemm/m:(1|4096)/")["family"]}, {"Gemm"})
        self.assertEqual({*tbench.read(self.a, filter="-Model|Gemm")["family"]}, {"Attention"})
        with self.assertRaisesRegex(tbench.ReadError, "no case of 6 matches the filter 'sdap'; the first case is Model/size"):
            tbench.read(self.a, filter="sdap")
        with self.assertRaisesRegex(tbench.ReadError, r"'\(': not a regular expression"):
            tbench.read(self.a, filter="(")

    def test_repetitions_are_rows_and_their_means_are_not(self):
        frame = tbench.read(self.a)
        self.assertEqual(len(frame), 6)
        twice = frame[frame["repetitions"] == 2]
        self.assertEqual(twice["repetition_index"].tolist(), [0, 1])
        self.assertEqual(twice["name"].nunique(), 1)
        self.assertEqual(twice["status"].tolist(), ["ok", "unstable"])

    def test_names_that_columns_have_are_kept_apart(self):
        results = load(GOLDEN)
        entry = results["benchmarks"][-1]
        entry["tbench"]["parameters"] = {"gpu": "7", "mfu": "x"}
        entry["name"] = "Attention/gpu:7/mfu:x"
        entry["date"] = 0.5
        path = self.write("names.json", results)
        row = tbench.read(path).iloc[-1]
        self.assertEqual([row["gpu"], row["parameter.gpu"], row["parameter.mfu"]], ["NVIDIA H200", 7, "x"])
        self.assertEqual([row["date"], row["counter.date"]], ["2026-01-02T03:04:05+00:00", 0.5])
        counters = tbench.to_counters(tbench.read(path))
        self.assertEqual(counters[str(path), entry["name"], 0], counters_of_entry(entry))

    def test_kernels(self):
        frame = tbench.kernels(self.folder)
        self.assertEqual(len(frame), 6)  # two entries per file
        self.assertEqual(frame["class"].tolist()[:2], ["gemm", "memcpy"])
        self.assertEqual(frame["kernel"][0], "void gemm<float, 128>(float*)")
        self.assertEqual(frame["total_s"].tolist()[:2], [0.0123, 1e-06])
        self.assertEqual(frame["ctx"].tolist()[:2], [512, 512])
        self.assertEqual(frame["standard_deviation_s"].isna().tolist()[:2], [False, True])
        self.assertEqual(tbench.kernels(self.a, filter="Model")["file"].tolist(), [str(self.a)] * 2)
        with self.assertRaisesRegex(tbench.ReadError, "none of 1 cases has a trace; measure them with --tb_trace=on"):
            tbench.kernels(self.a, filter="Gemm")


if __name__ == "__main__":
    main()
