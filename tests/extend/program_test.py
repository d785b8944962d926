#!/usr/bin/env python3
"""Runs the programs that have the files of examples/extend: program_test.py KIND TRANSFORMER_BENCH TBENCH

A file registers what it adds: the cases have it, behind those of the files that were there before, and one of its cases
runs on the CPU; of a study, the table renders.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TBENCH, BENCH, KIND = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Matches the cases of all examples, which the program has together.
IS_NEW = re.compile(r"^HostCopy/|/impl:(math|fused_attention)$")
QUICK = ["--tb_device=cpu", "--tb_warmup=1", "--tb_samples=3"]


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def smoke_cases():
    """Returns the names of the smoke suite's cases for a CPU, and the pinned names of all its cases in
    transformer_bench.
    """
    listed = output_of(BENCH, "--tb_device=cpu", "--tb_suite=smoke", "--benchmark_list_tests").splitlines()
    return listed, (ROOT / "tests/data/cases_smoke.txt").read_text().splitlines()


def measure(folder, *flags):
    """Runs cases and returns {name of a case: its record}."""
    out = pathlib.Path(folder) / "out.json"
    output_of(BENCH, *QUICK, f"--benchmark_out={out}", *flags)
    return {entry["name"]: entry["tbench"] for entry in json.loads(out.read_text())["benchmarks"]}


class Extended(unittest.TestCase):
    def setUp(self):
        self.listed, pinned = smoke_cases()
        others = [name for name in self.listed if not IS_NEW.search(name)]
        self.assertTrue(others)
        self.assertEqual(others, [name for name in pinned if name in others])  # in the pinned order

    def expect_ok(self, name):
        with tempfile.TemporaryDirectory() as folder:
            records = measure(folder, "--tb_suite=smoke", f"--benchmark_filter=^{name}$")
        self.assertEqual([record["status"] for record in records.values()], ["ok"], records)

    def expect_implementation(self, family, impl, beside, name):
        """The implementation has the same cases as `beside`, after all others in a table, and one of them runs."""
        of_family = [case for case in self.listed if case.startswith(f"{family}/")]
        new = [case for case in of_family if case.endswith(f"/impl:{impl}")]
        self.assertEqual([case.replace(impl, beside) for case in new], [case for case in of_family if case.endswith(f"/impl:{beside}")])
        self.assertEqual(of_family[-1], new[-1])
        self.expect_ok(name)

    def test_attention_backend(self):
        self.expect_implementation("Attention", "math", "naive", "Attention/batch:2/heads:2/d_model:64/seq_len:96/causal:1/"
                                   "pass:forward_backward/precision:fp32/impl:math")

    def test_model(self):
        self.expect_implementation("Model", "fused_attention", "eager",
                                   "Model/size:tiny/ctx:64/batch:4/pass:train_step/precision:fp32/impl:fused_attention")

    def test_family(self):
        self.assertEqual([case for case in self.listed if case.startswith("HostCopy/")], ["HostCopy/bytes:1048576"])
        self.assertEqual(self.listed[-1], "HostCopy/bytes:1048576")
        self.expect_ok("HostCopy/bytes:1048576")

    def test_study(self):
        with tempfile.TemporaryDirectory() as folder:
            measure(folder, "--tb_study=causal", "--tb_axis=Attention.d_model=16", "--tb_axis=Attention.seq_len=32",
                    "--benchmark_filter=impl:naive")
            page = output_of(TBENCH, "report", "--study=causal", "--csv", pathlib.Path(folder) / "out.json")
        head, row = page.splitlines()[:2]
        self.assertTrue(head.startswith("table,batch,heads,d_model,seq_len,pass,precision,impl,causal:0,causal:1,"), page)
        self.assertRegex(row, r"^causal,8,1,16,32,forward,bf16,naive,[0-9.]+,[0-9.]+,[0-9.]+,")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], f"Extended.test_{KIND}"])
