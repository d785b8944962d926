#!/usr/bin/env python3
"""Tests tools/ncu_kernel_times.py with output of ncu: ncu_kernel_times_test.py SOURCE_DIR"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HEADER = '"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'
PRINTED = f"""==PROF== Connected to process 7
case   median ms
{HEADER}
"0","7","_Z5alphav","Command line profiler metrics","gpu__time_duration.sum","ns","1,500"
"1","7","_Z4betav","Command line profiler metrics","gpu__time_duration.sum","us","2.5"
"2","7","_Z5alphav","Command line profiler metrics","gpu__time_duration.sum","ns","500"
"2","7","_Z5alphav","Command line profiler metrics","other.sum","ns","7"
==PROF== Disconnected
"""


class NcuKernelTimes(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.csv = pathlib.Path(self.folder.name) / "ncu.csv"
        self.json = pathlib.Path(self.folder.name) / "ncu.json"

    def run_tool(self, printed: str) -> subprocess.CompletedProcess:
        self.csv.write_text(printed)
        return subprocess.run([sys.executable, TOOL, "Model/size:xl", self.csv, self.json], capture_output=True, text=True)

    def test_adds_up_each_symbols_launches(self) -> None:
        self.assertEqual(self.run_tool(PRINTED).returncode, 0)
        self.assertEqual(
            json.loads(self.json.read_text()),
            {
                "case": "Model/size:xl",
                "kernels": [
                    {"symbol": "_Z5alphav", "launches": 2, "total_us": 2.0},
                    {"symbol": "_Z4betav", "launches": 1, "total_us": 2.5},
                ],
            },
        )

    def test_refuses_what_has_no_times_or_another_unit(self) -> None:
        for printed, problem in ((HEADER, "no line has"), (PRINTED.replace('"us"', '"cycle"'), "in 'cycle'")):
            result = self.run_tool(printed)
            self.assertEqual(result.returncode, 1)
            self.assertIn(problem, result.stderr)
            self.assertIn("ncu.csv", result.stderr)
            self.assertFalse(self.json.exists())


if __name__ == "__main__":
    TOOL = pathlib.Path(sys.argv.pop()) / "tools" / "ncu_kernel_times.py"
    unittest.main()
