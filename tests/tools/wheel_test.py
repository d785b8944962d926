#!/usr/bin/env python3
"""Makes the wheel, installs it beside this Python's torch and without it, and runs its programs.

    wheel_test.py SOURCE_DIR [CMAKE_ARGUMENT...]

Exit status 77: scikit-build-core or torch is not installed.
"""
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from skipping import skipped  # noqa: E402

SOURCE = pathlib.Path(sys.argv[1])
CMAKE_ARGUMENTS = sys.argv[2:]
WHEEL = SOURCE / "tools/wheel"


def run(*words, **options):
    return subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)


def checked(*words, **options):
    done = run(*words, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        # Uses the other builds' settings, so that ccache has the objects that they compiled.
        environment = {**os.environ, "CMAKE_GENERATOR": "Ninja", "CMAKE_ARGS": " ".join(CMAKE_ARGUMENTS),
                       "CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1"}
        checked(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
                "--no-build-isolation", "--wheel-dir", cls.folder, WHEEL, env=environment)
        cls.wheel, = cls.folder.glob("*.whl")
        cls.venv = cls.folder / "venv"
        checked(sys.executable, "-m", "venv", "--without-pip", cls.venv)
        cls.site, = cls.venv.glob("lib/python3*/site-packages")
        checked(sys.executable, "-m", "pip", "--python", cls.venv / "bin/python", "install", "--quiet",
                "--disable-pip-version-check", "--no-index", "--no-deps", cls.wheel)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def sees(self, folder):
        """Makes the environment's packages those of the wheel and of `folder`."""
        (self.site / "others.pth").write_text(f"{folder}\n")

    def fake_torch(self, version):
        fake = self.folder / "fake"
        for old in fake.glob("*"):
            checked("rm", "-r", old)
        info = fake / f"torch-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        self.sees(fake)

    def program(self, name, *arguments):
        return run(self.venv / "bin" / name, *arguments, cwd=self.folder)

    def test_its_metadata_is_the_projects(self):
        self.assertRegex(self.wheel.name, r"^transformer_bench-[0-9.]+-py3-none-linux_\w+\.whl$")
        pinned = re.search(r"^torch==\S+", (SOURCE / "ci/requirements.txt").read_text(), re.MULTILINE)[0]
        metadata = checked("unzip", "-p", self.wheel, "*/METADATA").stdout
        self.assertIn(f"Requires-Dist: {pinned}\n", metadata)

    def test_a_case_runs_with_the_installed_torch(self):
        self.sees(importlib.metadata.distribution("torch").locate_file(""))
        results = self.folder / "wheel.json"
        measured = self.program("transformer_bench", "--tb_device=cpu", "--tb_suite=smoke", "--benchmark_filter=Gemm/.*precision:fp32/impl:aten",
                                f"--benchmark_out={results}")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        statuses = {entry["tbench"]["status"] for entry in json.loads(results.read_text())["benchmarks"]}
        self.assertLessEqual(statuses, {"ok", "unstable"})  # on a busy machine
        self.assertTrue(statuses)
        report = self.program("tbench", "report", results)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("Gemm", report.stdout)

    def assert_refused(self, *parts):
        refused = self.program("transformer_bench", "--version")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertRegex(refused.stderr, r"\Atransformer_bench: [^\n]*\n\Z")
        for part in parts:
            self.assertIn(part, refused.stderr)

    def test_another_torch_is_refused_in_one_line(self):
        self.sees(self.folder / "nowhere")
        self.assert_refused("torch is not installed: pip install torch==2.11.0")
        self.fake_torch("2.12.0+cu130")
        self.assert_refused("torch is 2.12.0+cu130, this wheel was built with 2.11.0", "pip install torch==2.11.0")
        self.fake_torch("2.11.0+cpu")
        self.assert_refused("torch 2.11.0+cpu in ", "has no CUDA libraries", "for CUDA 13.0")

    def test_tbench_needs_no_torch(self):
        self.sees(self.folder / "nowhere")
        self.assertEqual(self.program("tbench", "--help").returncode, 0)


if __name__ == "__main__":
    missing = [name for name in ("scikit_build_core", "torch") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(skipped(f"not installed: {', '.join(missing)}"))
    unittest.main(argv=sys.argv[:1], verbosity=2)
