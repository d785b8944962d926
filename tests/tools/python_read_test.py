#!/usr/bin/env python3
"""The Python package of tools/python, on every committed results file and on files that are wrong.

    python_read_test.py SOURCE_DIR SERIES_WRITER

Exit status 77: pandas is not installed.
"""

import contextlib
import fcntl
import gzip
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
RECORDS = "50"  # of a run that is killed
SOURCE, SERIES_WRITER = pathlib.Path(sys.argv[1]), sys.argv[2]
PACKAGE, RESULTS = SOURCE / "tools/python", SOURCE / "bench/results"
GOLDEN = SOURCE / "tests/data/results_golden.json"

if importlib.util.find_spec("pandas") is None:
    print("skipped: needs pandas (pip install pandas)")
    sys.exit(SKIPPED)
sys.dont_write_bytecode = True
sys.path.insert(0, str(PACKAGE))

import pandas as pd  # noqa: E402
import tbench  # noqa: E402
from tbench.counters import FLAGS, GENERAL, counters_of  # noqa: E402


def load(path):
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def entries_of(results):
    """Those of records, not of means of repetitions."""
    return [entry for entry in results["benchmarks"] if "tbench" in entry]


def counters_of_entry(entry):
    """Its times and counters have a point or an exponent in the file; no other number beside them does."""
    return {key: value for key, value in entry.items() if type(value) is float}


def bits(counters):
    return {name: value.hex() for name, value in counters.items()}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        path.write_bytes(content)
        return path


class CommittedResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = [(page.parent / file["file"]) for page in RESULTS.glob("*/manifest.json") for file in load(page)["files"]]
        cls.files = {path: load(path) for path in listed}
        cls.results = {path: file for path, file in sorted(cls.files.items()) if "tbench" in file.get("context", {})}
        cls.frame = tbench.read(RESULTS)

    def test_every_results_file_of_the_manifests_is_read(self):
        self.assertGreater(len(self.results), 30)
        self.assertEqual({*self.frame["file"]}, {str(path) for path in self.results})
        others = {str(path) for path in self.files.keys() - self.results.keys()}
        manifests = {str(path) for path in RESULTS.glob("*/manifest.json")}
        self.assertEqual({*self.frame.attrs["passed_over"]}, others | manifests)
        versions = {str(path): file["context"]["tbench"]["schema_version"] for path, file in self.results.items()}
        self.assertEqual(self.frame.attrs["schema_versions"], versions)

    def test_counters_survive_the_way_into_a_frame_and_back_to_the_last_bit(self):
        read = tbench.to_counters(self.frame)
        self.assertEqual(len(read), len(self.frame))
        for path, file in self.results.items():
            alone = tbench.to_counters(tbench.read(path))
            wanted = {(str(path), entry["name"], entry["repetition_index"]): entry for entry in entries_of(file)}
            self.assertEqual(alone.keys(), wanted.keys())
            for key, entry in wanted.items():
                self.assertEqual(bits(read[key]), bits(counters_of_entry(entry)), key)
                self.assertEqual(alone[key], read[key], key)

    def test_counters_follow_from_records(self):
        """What a journal's records are shown with is what the program writes."""
        for path, file in [*self.results.items(), (GOLDEN, load(GOLDEN))]:
            for entry in entries_of(file):
                derived = counters_of(entry["tbench"])
                self.assertEqual(bits(derived), bits(counters_of_entry(entry)), f"{path}: {entry['name']}")

    def test_a_ceiling_may_be_passed_by_two_percent(self):
        """No committed file is near the limit: 16 MB in 4.25 us, over 98 % of that rate, are 1.0204 of it."""
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
        for name in ("gpu", "driver", "commit", "date"):
            self.assertIsInstance(types[name], pd.CategoricalDtype, name)
        for name in ("size", "impl", "status", "name", "file"):
            self.assertEqual({*map(type, self.frame[name].dropna())}, {str}, name)
        self.assertEqual({*self.frame["size"].dropna()}, {"small", "medium", "large", "xl", "2.7B"})
        self.assertEqual({*self.frame["ctx"].dropna()}, {128, 256, 512, 1024})

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
        self.assertIn("63.63", printed.getvalue())  # 2.7B, forward, eager: as README.md has it
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
        self.assertEqual(len(frame), 6)  # two of each file
        self.assertEqual(frame["class"].tolist()[:2], ["gemm", "memcpy"])
        self.assertEqual(frame["kernel"][0], "void gemm<float, 128>(float*)")
        self.assertEqual(frame["total_s"].tolist()[:2], [0.0123, 1e-06])
        self.assertEqual(frame["ctx"].tolist()[:2], [512, 512])
        self.assertEqual(frame["standard_deviation_s"].isna().tolist()[:2], [False, True])
        self.assertEqual(tbench.kernels(self.a, filter="Model")["file"].tolist(), [str(self.a)] * 2)
        with self.assertRaisesRegex(tbench.ReadError, "none of 1 cases has a trace; measure them with --tb_trace=on"):
            tbench.kernels(self.a, filter="Gemm")


class Journals(InFolder):
    def journal(self, entries, **changes):
        run = load(GOLDEN)["context"]["tbench"]
        run["environment"] |= changes
        return "".join(json.dumps(line) + "\n" for line in [run, *(entry["tbench"] for entry in entries)])

    def setUp(self):
        super().setUp()
        self.results = load(GOLDEN)
        self.entries = entries_of(self.results)
        self.wanted = {(entry["name"], entry["repetition_index"]): counters_of_entry(entry) for entry in self.entries}

    def read(self, path):
        return {key[1:]: counters for key, counters in tbench.to_counters(tbench.read(path)).items()}

    def file_of(self, count):
        self.results["benchmarks"] = self.entries[:count]
        return self.write("a.json", self.results)

    def test_file_and_journal_together_have_every_finished_case(self):
        path = self.file_of(3)
        self.assertEqual(len(self.read(path)), 3)
        journal = self.write("a.json.journal", self.journal(self.entries[2:]))
        for name in (path, journal, self.folder):
            self.assertEqual(self.read(name), self.wanted)
        self.assertEqual({*tbench.read(journal)["file"]}, {str(path)})
        path.unlink()
        self.assertEqual(self.read(path), {key: self.wanted[key] for key in list(self.wanted)[2:]})
        self.assertEqual(self.read(self.folder), self.read(path))

    def test_a_torn_last_line_is_a_case_that_had_not_finished(self):
        path, whole = self.file_of(1), self.journal(self.entries)
        for cut in (whole[:-1], whole[:-50], whole[:-50] + "\n"):
            self.write("a.json.journal", cut)
            self.assertEqual(self.read(path), {key: self.wanted[key] for key in list(self.wanted)[:-1]})
        self.write("a.json.journal", whole[:30])
        self.assertEqual(len(self.read(path)), 1)
        path.unlink()
        with self.assertRaisesRegex(tbench.ReadError, "a.json': .*No such file"):
            tbench.read(path)

    def test_other_torn_lines_and_other_runs_are_errors(self):
        path, lines = self.file_of(1), self.journal(self.entries).splitlines(keepends=True)
        self.write("a.json.journal", lines[0] + lines[1][:40] + "\n" + lines[2])
        with self.assertRaisesRegex(tbench.ReadError, "a.json.journal': line 2 is torn; remove it"):
            tbench.read(path)
        self.write("a.json.journal", lines[0] + json.dumps({"family": "Gemm"}) + "\n" + lines[2])
        with self.assertRaisesRegex(tbench.ReadError, "line 2.status: missing"):
            tbench.read(path)
        incomplete = json.loads(lines[1])
        del incomplete["timing"]["median_s"]
        self.write("a.json.journal", lines[0] + json.dumps(incomplete) + "\n")
        with self.assertRaisesRegex(tbench.ReadError, "line 2: .*'median_s'"):
            tbench.read(path)
        for changes, difference in (
            ({"sources_digest": "0" * 64}, "another sources_digest"),
            ({"versions": {"driver": "1"}}, "another versions"),
            ({"clock_policy": "locked"}, "another clock_policy"),
            ({"build_type": "Debug"}, "another build_type"),
            ({"gpu": {"name": "NVIDIA H100"}}, "another device, NVIDIA H200 against NVIDIA H100"),
        ):
            self.write("a.json.journal", self.journal(self.entries, **changes))
            with self.assertRaisesRegex(tbench.ReadError, f"belongs to another run .*: {difference}; remove it"):
                tbench.read(path)
        self.write("a.json.journal", self.journal(self.entries, commit="other", date="2026-01-03T00:00:00Z"))
        self.assertEqual(self.read(path), self.wanted)

    def kill_at_work(self, path):
        """The names that the writer printed. A pipe that is nearly full stops it before it has printed all of them."""
        read_end, write_end = os.pipe()
        room = 400
        os.write(write_end, b"\n" * (fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096) - room))
        writer = subprocess.Popen([SERIES_WRITER, path, RECORDS, "fresh"], stdout=write_end)
        os.close(write_end)
        journal = pathlib.Path(f"{path}.journal")
        while writer.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 6):
            time.sleep(0.01)
        writer.kill()
        self.assertEqual(writer.wait(), -signal.SIGKILL)
        with open(read_end) as printed:
            return printed.read().split()

    def test_a_run_that_was_killed(self):
        """The program's own writer, killed at work: nothing that it had finished is lost."""
        whole, killed = self.folder / "whole.json", self.folder / "killed.json"
        subprocess.run([SERIES_WRITER, whole, RECORDS, "fresh"], check=True, stdout=subprocess.DEVNULL)
        wanted = self.read(whole)
        self.assertEqual(wanted.keys(), {(entry["name"], 0) for entry in entries_of(load(whole))})
        finished = self.kill_at_work(killed)
        self.assertGreater(len(finished), 4)
        self.assertTrue((self.folder / "killed.json.journal").exists())
        kept = self.read(killed)
        self.assertTrue({(name, 0) for name in finished} <= kept.keys())
        self.assertEqual(kept, {key: wanted[key] for key in kept})


class Errors(InFolder):
    def assert_refused(self, path, *parts):
        with self.assertRaises(tbench.ReadError) as caught:
            tbench.read(path)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        self.assertTrue(message.startswith(f"'{path}': "), message)
        self.assertIn("; ", message)
        for part in parts:
            self.assertIn(part, message)

    def spoilt(self, spoil):
        results = load(GOLDEN)
        spoil(results)
        return self.write("spoilt.json", results)

    def test_paths(self):
        self.assert_refused(self.folder / "none.json", "no such file", "--benchmark_out=FILE")
        self.assert_refused(f"{self.folder}/*.gz", "the pattern matches no file")
        self.assert_refused(self.folder, "no file in this folder ends in .json or .json.gz")
        self.assert_refused([], "no path was given")
        only_other = self.write("other.json", "{}")
        with self.assertRaisesRegex(tbench.ReadError, "other.json': this file is not of transformer_bench, nor is any"):
            tbench.read(self.folder)
        self.assert_refused(only_other, "not of a benchmark")
        self.assertTrue(issubclass(tbench.ReadError, ValueError))

    def test_content(self):
        golden = GOLDEN.read_bytes()
        packed = gzip.compress(golden)
        self.assert_refused(self.write("a.json", ""), "the file is empty")
        self.assert_refused(self.write("a.json", "GPU 1.5 ms"), "not JSON, at line 1, column 1")
        self.assert_refused(self.write("a.json", b'{"a": "\xff"}'), "byte 7 is not UTF-8")
        self.assert_refused(self.write("a.json", '{"a": NaN}'), "NaN is no number of JSON")
        self.assert_refused(self.write("a.json", "[" * 100_000), "not JSON")
        for end in (100, 2_000, len(golden) // 2, len(golden) - 3):
            self.assert_refused(self.write("a.json", golden[:end]), f"cut off after {end} characters", "copy it again")
        self.assert_refused(self.write("a.json", golden + b"{}"), "not JSON, at line")
        self.assert_refused(self.write("a.json", packed), "packed by gzip", "ends in .gz")
        self.assert_refused(self.write("a.json.gz", golden), "no gzip data")
        self.assert_refused(self.write("a.json.gz", packed[:-20]), "the gzip data is cut off", "copy it again")
        corrupt = packed[:200] + bytes(100) + packed[300:]
        self.assert_refused(self.write("a.json.gz", corrupt), "the gzip data is corrupt", "copy it again")

    def test_other_programs_files(self):
        self.assert_refused(self.write("a.json", "[]"), "JSON, but not of a benchmark")
        plain = {"context": {"date": "2026-01-02"}, "benchmarks": [{"name": "BM_Copy", "real_time": 1.0}]}
        self.assert_refused(self.write("a.json", plain), "Google Benchmark's own JSON, without the records", "--benchmark_out")
        later = self.spoilt(lambda results: results["context"]["tbench"].update(schema_version=99))
        self.assert_refused(later, "schema version 99, and this package reads versions 1 to", "use the tbench package")
        with self.assertRaisesRegex(tbench.ReadError, "schema version 99"):
            tbench.read(self.folder / "*.json")

    def test_what_a_file_says_that_it_cannot(self):
        for spoil, problem in {
            "no status": (lambda r: r["benchmarks"][0]["tbench"].pop("status"), "benchmarks[0].tbench.status: missing"),
            "a parameter": (lambda r: r["benchmarks"][1]["tbench"]["parameters"].update(ctx=1),
                            "benchmarks[1].tbench.parameters.ctx: a text is expected"),
            "a name": (lambda r: r["benchmarks"][1].update(name="Model"), "benchmarks[1].name: 'Model' is not the name"),
            "a counter": (lambda r: r["benchmarks"][0].update(mfu="1"), "benchmarks[0].mfu: a number is expected"),
            "infinite": (lambda r: r["benchmarks"][0].update(mfu=10**400), "benchmarks[0].mfu: a number is expected"),
            "a sample": (lambda r: r["benchmarks"][0]["tbench"]["timing"]["samples_s"].append(None), "samples_s: numbers"),
            "a kernel": (lambda r: r["benchmarks"][0]["tbench"]["trace"]["kernels"][1].pop("calls"),
                         "benchmarks[0].tbench.trace.kernels[1].calls: missing"),
            "no entries": (lambda r: r.update(benchmarks={}), "benchmarks: an array is expected"),
            "no version": (lambda r: r["context"]["tbench"].pop("schema_version"), "context.tbench.schema_version: missing"),
        }.values():
            self.assert_refused(self.spoilt(spoil), problem, "measure again")
        self.assert_refused(self.spoilt(lambda r: r["benchmarks"].clear()), "no case had finished")


def missing_backend():
    """Why no wheel can be built without a network, or None."""
    if importlib.util.find_spec("wheel"):
        return None
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        return "needs setuptools 70.1 (pip install setuptools)"
    if tuple(int(part) for part in version.split(".")[:2]) < (70, 1):
        return f"needs setuptools 70.1, which makes wheels by itself; here is {version}"
    return None


class Wheel(InFolder):
    @unittest.skipIf(missing_backend(), missing_backend())
    def test_is_built_offline_and_reads_a_file(self):
        source = self.folder / "python"
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                        "--wheel-dir", self.folder, source], check=True)
        [wheel] = self.folder.glob("*.whl")
        self.assertRegex(wheel.name, r"^tbench-[\d.]+-py3-none-any\.whl$")
        program = (f"import sys; sys.path.insert(0, {str(wheel)!r}); import tbench; assert '.whl' in tbench.__file__; "
                   f"print(len(tbench.read({str(GOLDEN)!r})), 'torch' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stdout, "6 False\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
