#!/usr/bin/env python3
"""The path of a kernel author on the CPU: the example's function in Python next to one that takes other arguments, from
the file to the page in one command: author_test.py TRANSFORMER_BENCH"""
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, str(ROOT / "tests/support/inductor"))
import quick_inductor  # noqa: E402

quick_inductor.install_in_children()
MEASURED = ("ok", "unstable")  # verified, on a busy machine
FLAGS = ("--tb_device=cpu", "--tb_study=mine", "--benchmark_filter=/heads:2/.*seq_len:64/", "--tb_page=mine.html",
         "--benchmark_min_time=0.02", "--benchmark_min_warmup_time=0.01")
ANSWER = r"attention is fastest in \d of 4 measured shapes \(24 in the study\); geometric mean \d+\.\d\d of the best"


class Author(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "wrong.py").write_text("def wrong(q, k):\n    return q\n")

    def run_study(self, *functions):
        """Returns the status, the output, and the statuses and reasons of the cases by implementation."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        ran = subprocess.run([PROGRAM, *FLAGS, *(f"--tb_plugin={function}" for function in functions)], cwd=self.folder,
                             env=environment, capture_output=True, text=True)
        cases = {}
        for entry in json.loads(gzip.decompress((self.folder / "mine.json.gz").read_bytes()))["benchmarks"]:
            about = entry["tbench"]
            cases.setdefault(about["parameters"]["impl"], []).append((about["status"], entry.get("error_message", "")))
        return ran, cases

    def test_a_function_becomes_a_page_and_one_that_cannot_loses_its_own_cases_alone(self):
        example = ROOT / "examples/plugin/attention.py"
        ran, cases = self.run_study(f"{example}:attention", "wrong.py:wrong")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        for impl in ("attention", "naive", "sdpa_flash"):  # forward and backward, with a mask and without
            self.assertEqual(len(cases[impl]), 4)
            self.assertTrue(all(status in MEASURED for status, _ in cases[impl]), cases[impl])
        why = (f"--tb_plugin={self.folder}/wrong.py:wrong: the function takes (q, k): write it for the 3 tensors of attention "
               "and causal, ")
        lines = [line for line in ran.stderr.splitlines() if "wrong.py" in line and "exporting" not in line]
        self.assertEqual(len(lines), 1, ran.stderr)
        self.assertTrue(lines[0].startswith(f"transformer_bench: {why}"), lines)
        self.assertIn("For the whole message: ", lines[0])
        self.assertEqual({status for status, _ in cases["wrong"]}, {"crashed"})
        self.assertTrue(all(reason.startswith(why) for _, reason in cases["wrong"]), cases["wrong"])
        self.assertRegex(ran.stdout, f"(?m)^{ANSWER}")
        self.assertRegex((self.folder / "mine.html").read_text(), f"<strong>{ANSWER}")

        self.assertRegex(ran.stderr, r"(?m)^transformer_bench: 1 package, 1 at a time, which stays in .*/cache/transformer_bench$")
        self.assertRegex(ran.stderr, r"(?m)^transformer_bench: package 1 of 1 \(fp32, head_dim=32\): made in \d+ s$")
        self.assertRegex(ran.stderr, r"(?m)^transformer_bench: package 1 of 1 \(fp32, head_dim=32\): failed in \d+ s$")
        self.assertRegex(ran.stdout, r"(?m)^next: the failed case alone: ")

        again, cases = self.run_study(f"{example}:attention")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("exporting", again.stderr)  # the cache has it
        self.assertTrue(all(status in MEASURED for status, _ in cases["attention"]), cases["attention"])
        self.assertRegex(again.stdout, r"(?m)^next: \./tbench report --study mine mine\.json\.gz$")
        packages = sorted(path.name for path in (self.folder / "cache/transformer_bench").iterdir())
        self.assertEqual(len(packages), 1, packages)  # no draft and no log remains
        self.assertRegex(packages[0], r"^attention-attention-[0-9a-f]{32}-torch[0-9.]+-cpu_\w+-fp32-head_dim32\.pt2$")


class Refusals(unittest.TestCase):
    """What is found before any work: exit status 2, one line, no results file, and no cache."""

    def refusal(self, text, function):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "own.py").write_text(text)
            ran = subprocess.run([PROGRAM, *FLAGS, f"--tb_plugin=own.py:{function}"], cwd=folder, capture_output=True, text=True,
                                 env={**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"})
            self.assertEqual(os.listdir(folder), ["own.py"])
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        return ran.stderr.replace(folder, "")

    def test_a_mistyped_function(self):
        self.assertEqual(self.refusal("def attention(q, k, v):\n    return q\n", "atention"),
                         "transformer_bench: --tb_plugin=/own.py:atention: the file has no function 'atention'; did you mean "
                         "'attention'?\n")

    def test_a_file_that_is_no_python(self):
        self.assertIn("own.py:f: the file is not readable Python: line 2: ", self.refusal("x = 1\ndef f(:\n", "f"))


class Interruption(unittest.TestCase):
    def test_an_interrupted_export_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            running = subprocess.Popen([PROGRAM, *FLAGS, f"--tb_plugin={ROOT}/examples/plugin/attention.py:attention"], cwd=folder,
                                       env={**os.environ, "XDG_CACHE_HOME": folder}, stderr=subprocess.PIPE, text=True)
            while "1 at a time" not in running.stderr.readline():
                self.assertIsNone(running.poll())
            running.send_signal(signal.SIGTERM)
            said = running.communicate()[1]
            self.assertEqual(os.listdir(f"{folder}/transformer_bench"), [])
        self.assertEqual(running.returncode, 130)
        self.assertEqual(said, "transformer_bench: stopped while functions were exported; finished packages are kept\n")


class CacheFolder(unittest.TestCase):
    def test_a_cache_that_cannot_be_written_loses_the_function_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "file").write_text("no folder\n")
            ran = subprocess.run([PROGRAM, *FLAGS[:3], *FLAGS[4:], f"--tb_plugin={ROOT}/examples/plugin/attention.py:attention",
                                  "--tb_axis=Attention.pass=forward", "--tb_axis=Attention.causal=1"],
                                 env={**os.environ, "XDG_CACHE_HOME": f"{folder}/file"}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn(f"the cache of packages '{folder}/file/transformer_bench' cannot be written: set XDG_CACHE_HOME to a "
                      "folder that can be", ran.stderr)
        self.assertTrue(re.search(r"impl:naive +(ok|unstable)", ran.stdout), ran.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
