#!/usr/bin/env python3
"""Tests the names that tools/kernel_export/defined_names.py finds in Python files: defined_names_test.py SOURCE_DIR"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)) / "tools/kernel_export/defined_names.py"


def run(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "own.py"
        file.write_text(text)
        return subprocess.run([sys.executable, TOOL, file], capture_output=True, text=True)


class DefinedNames(unittest.TestCase):
    def names(self, text):
        ran = run(text)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.split()

    def test_finds_what_the_top_level_defines(self):
        self.assertEqual(self.names("import a.b, c as d\nfrom e import f\n@d\ndef g(h):\n    i = 1\nclass J:\n    k = 2\n"
                                    "l, (m, *n) = 1, (2, 3)\no: int = 1\nif l:\n    async def p(): pass\n"),
                         ["a", "d", "f", "g", "J", "l", "m", "n", "o", "p"])

    def test_does_not_run_the_file(self):
        self.assertEqual(self.names("def f(): pass\nraise SystemExit(3)\n"), ["f"])

    def test_says_that_there_may_be_others(self):
        for text in ("from a import *", "def __getattr__(name): pass", "globals()['f'] = 1", "exec('f = 1')"):
            self.assertEqual(self.names(text)[-1:], ["*"], text)
        self.assertNotIn("*", self.names("def f():\n    exec('g = 1')\n"))

    def test_refuses_what_is_no_python(self):
        ran = run("x = 1\ndef f(:\n")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertTrue(ran.stderr.startswith("line 2: "), ran.stderr)
        self.assertEqual(subprocess.run([sys.executable, TOOL, "/nowhere.py"], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
