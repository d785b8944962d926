#!/usr/bin/env python3
"""The Python package of tools/python, on runs that are killed, on files that are wrong, and from a wheel.

    python_errors_test.py SOURCE_DIR SERIES_WRITER

Exit status 77: pandas is not installed.
"""

import fcntl
import gzip
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock
import zlib

from python_support import GOLDEN, PACKAGE, SERIES_WRITER, InFolder, counters_of_entry, entries_of, load, main

import tbench

RECORDS = "50"  # number of records of a run that is killed


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

    def test_an_empty_journal_is_none_and_that_of_a_link_is_beside_its_file(self):
        path = self.file_of(3)
        self.write("killed.json.journal", "")  # of a run killed before its first record
        self.assertEqual(len(self.read(self.folder)), 3)
        link = self.folder / "folder"
        link.mkdir()
        link /= "link.json"
        link.symlink_to(path)
        self.write("a.json.journal", self.journal(self.entries[2:]))
        self.assertEqual(self.read(link), self.wanted)

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
            ({"sources_digest": "0" * 64}, "different sources_digest"),
            ({"versions": {"driver": "1"}}, "different versions"),
            ({"clock_policy": "locked"}, "different clock_policy"),
            ({"build_type": "Debug"}, "different build_type"),
            ({"gpu": {"name": "NVIDIA H100"}}, "different device, NVIDIA H200 against NVIDIA H100"),
        ):
            self.write("a.json.journal", self.journal(self.entries, **changes))
            with self.assertRaisesRegex(tbench.ReadError, f"belongs to another run .*: {difference}; remove it"):
                tbench.read(path)
        self.write("a.json.journal", self.journal(self.entries, commit="other", date="2026-01-03T00:00:00Z"))
        self.assertEqual(self.read(path), self.wanted)

    def test_a_line_that_was_changed_is_an_error(self):
        lines = []
        for line in self.journal(self.entries).splitlines():
            lines.append(f"{line} #{zlib.crc32(line.encode()):08x}\n")
        path = self.file_of(1)
        self.write("a.json.journal", "".join(lines))
        self.assertEqual(self.read(path), self.wanted)
        self.write("a.json.journal", "".join(lines)[:-5] + "\n")
        self.assertEqual(self.read(path), {key: self.wanted[key] for key in list(self.wanted)[:-1]})
        for changed, problem in ((lines[1].replace("0", "1", 1), "line 2 was changed"), (lines[1][:-5] + "\n", "line 2 is torn")):
            self.write("a.json.journal", lines[0] + changed + "".join(lines[2:]))
            with self.assertRaisesRegex(tbench.ReadError, f"a.json.journal': {problem}.*; remove it"):
                tbench.read(path)

    def kill_at_work(self, path):
        """Returns the names that the writer printed. A nearly full pipe stops the writer before it has printed all of
        them.
        """
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
        """Kills the program's own writer while it writes. No record that was finished may be lost."""
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
        self.assert_refused(self.write("a.json", '{"a": NaN}'), "NaN is not a JSON number")
        self.assert_refused(self.write("a.json", "[" * 100_000), "not JSON")
        for end in (100, 2_000, len(golden) // 2, len(golden) - 3):
            self.assert_refused(self.write("a.json", golden[:end]), f"cut off after {end} characters", "copy it again")
        self.assert_refused(self.write("a.json", golden + b"{}"), "not JSON, at line")
        self.assert_refused(self.write("a.json.gz", "1.5 ms"), "no gzip data")
        self.assert_refused("/dev/zero", "not a regular file, but a device")
        self.assert_refused(self.write("a.json.gz", packed[:-20]), "the gzip data is cut off", "copy it again")
        corrupt = packed[:200] + bytes(100) + packed[300:]
        self.assert_refused(self.write("a.json.gz", corrupt), "the gzip data is corrupt", "copy it again")

    def test_bytes_tell_what_is_packed(self):
        golden = GOLDEN.read_bytes()
        mark = b"\xef\xbb\xbf"
        for name in ("a.json", "a.json.gz"):
            for content in (golden, gzip.compress(golden), mark + golden, gzip.compress(mark + golden)):
                self.assertEqual(len(tbench.read(self.write(name, content))), 6)

    def test_what_a_file_holds_is_bounded(self):
        packed = gzip.compress(b" " * 100_000)
        with unittest.mock.patch.object(tbench.results_file, "MAX_CONTENT", 99_999):
            self.assert_refused(self.write("a.json.gz", packed), "unpacks to more than 99999 bytes")
            self.assert_refused(self.write("a.json", " " * 100_000), "more than 99999 bytes")

    def test_a_file_of_a_folder_that_cannot_be_read_is_passed_over(self):
        golden = GOLDEN.read_bytes()
        whole, cut = self.write("whole.json", golden), self.write("cut.json", golden[:2_000])
        with self.assertWarnsRegex(UserWarning, "skipped: .*cut.json': the file is cut off"):
            frame = tbench.read(self.folder)
        self.assertEqual({*frame["file"]}, {str(whole)})
        self.assertEqual(frame.attrs["passed_over"], [str(cut)])
        with self.assertRaisesRegex(tbench.ReadError, "cut.json': the file is cut off"):
            tbench.read([cut, whole])

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
            "a machine": (lambda r: r["benchmarks"][0]["tbench"].update(machine=1),
                          "benchmarks[0].tbench.machine: 1, and there are 1"),
            "no version": (lambda r: r["context"]["tbench"].pop("schema_version"), "context.tbench.schema_version: missing"),
        }.values():
            self.assert_refused(self.spoilt(spoil), problem, "measure again")
        self.assert_refused(self.spoilt(lambda r: r["benchmarks"].clear()), "no case had finished")

    def test_a_file_of_several_machines_has_the_gpu_of_each_case(self):
        def of_two(results):
            environment = results["context"]["tbench"]["environment"]
            environment["gpu"]["uuid"] = ""
            machine = {"cpu_name": "a CPU", "cpu_cores": 16, "date": "2026-11-28T10:00:00Z"}
            environment["machines"] = [{"gpu_uuid": "GPU-1", **machine}, {"gpu_uuid": "GPU-2", **machine}]
            results["benchmarks"][0]["tbench"]["machine"] = 1

        frame = tbench.read(self.spoilt(of_two))
        self.assertEqual(frame["gpu_uuid"].tolist()[:2], ["GPU-2", "GPU-1"])


def missing_backend():
    """Returns why no wheel can be built without a network, or None."""
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
    @unittest.skipIf(missing_backend() and not os.environ.get("CI"), missing_backend())
    def test_is_built_offline_from_a_folder_that_is_not_written_to_and_reads_a_file(self):
        source = self.folder / "python"
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        everything = sorted([source, *source.rglob("*")])
        for path in everything:
            path.chmod(path.stat().st_mode & ~0o222)
        self.addCleanup(lambda: [path.chmod(path.stat().st_mode | 0o200) for path in everything])
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                        "--wheel-dir", self.folder, source], check=True)
        self.assertEqual(sorted([source, *source.rglob("*")]), everything, "what root is not kept from")
        [wheel] = self.folder.glob("*.whl")
        self.assertRegex(wheel.name, r"^tbench-[\d.]+-py3-none-any\.whl$")
        program = (f"import sys; sys.path.insert(0, {str(wheel)!r}); import tbench; assert '.whl' in tbench.__file__; "
                   f"print(len(tbench.read({str(GOLDEN)!r})), len(tbench.kernels({str(GOLDEN)!r})), 'torch' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stdout, "6 2 False\n")


if __name__ == "__main__":
    main()
