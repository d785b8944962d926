#!/usr/bin/env python3
"""Tests how ci/setup.sh makes and repairs the Python that the build runs: setup_test.py SOURCE_DIR [CLASS...]

Runs the tests of the classes, or all. Exit status 0, or 1 with what went wrong. Downloads nothing.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
BEGIN = f"""set -euo pipefail
say() {{ printf 'setup: %s\\n' "$*"; }}
die() {{ printf 'setup: error: %s\\n' "$*" >&2; exit 1; }}
. '{SOURCE}/ci/setup_python.sh'
"""


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def write_wheel(folder, name):
    """Writes a wheel with one empty module and returns its path."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


class InCheckout(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name) / "checkout"
        self.folder.mkdir()

    def run_setup(self, commands, **environment):
        return subprocess.run(["bash", "-c", BEGIN + commands], cwd=self.folder, text=True, capture_output=True,
                              env={**os.environ, **environment})

    def make_venv(self, *flags):
        subprocess.run([sys.executable, "-m", "venv", *flags, self.folder / ".venv"], check=True)

    def site_packages(self):
        return next((self.folder / ".venv/lib").glob("python3*/site-packages"))


class Venv(InCheckout):
    def test_a_python_that_is_too_old_makes_nothing(self):
        bin_folder = self.folder / "bin"
        write_program(bin_folder / "python3", "#!/bin/sh\necho 3.9\n")
        result = self.run_setup("check_python; make_venv", PATH=f"{bin_folder}:/usr/bin:/bin")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"setup: error: python3 is 3.9 ({bin_folder}/python3): 3.10 or later is needed. Put one first on PATH.\n")
        self.assertFalse((self.folder / ".venv").exists())

    def test_a_venv_that_was_moved_runs_again(self):
        self.make_venv("--without-pip")
        script = self.folder / ".venv/bin/tool"
        write_program(script, f"#!{self.folder}/.venv/bin/python3\nprint('runs')\n")
        moved = self.folder.with_name("renamed")
        self.folder.rename(moved)
        self.folder = moved
        result = self.run_setup("mend_moved_scripts; mend_moved_scripts")
        self.assertEqual(result.stdout.count("mended the first line of 1 scripts"), 1, result.stdout)
        self.assertEqual(subprocess.run([moved / ".venv/bin/tool"], text=True, capture_output=True).stdout, "runs\n")

    def test_a_venv_whose_python_is_gone_is_made_anew(self):
        self.make_venv("--without-pip")
        (self.folder / ".venv/bin/python3").unlink()
        (self.folder / ".venv/bin/python3").write_text("#!/nowhere/python3\n")
        (self.folder / ".venv/bin/python3").chmod(0o755)
        result = self.run_setup("make_venv")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("making .venv anew", result.stdout)
        self.assertEqual(subprocess.run([self.folder / ".venv/bin/python3", "-c", ""]).returncode, 0)

    def missing_with_torch(self, version):
        self.make_venv("--without-pip", "--clear")
        info = self.site_packages() / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        (self.folder / "requirements.txt").write_text("torch==2.11.0\n")
        return self.run_setup("missing_wheels requirements.txt").stdout

    def test_a_torch_of_another_cuda_or_none_is_missing(self):
        for version in ("2.11.0+cpu", "2.11.0+cu128", "2.10.0"):
            self.assertEqual(self.missing_with_torch(version), "torch==2.11.0\n", version)
        for version in ("2.11.0", "2.11.0+cu130"):
            self.assertEqual(self.missing_with_torch(version), "", version)


class Pip(InCheckout):
    def test_venv_without_pip_gets_pip(self):
        """A single test covers all this, because installing pip takes seconds."""
        self.make_venv("--without-pip")
        result = self.run_setup("make_venv")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(".venv has no pip: adding it", result.stdout)
        self.assertEqual(subprocess.run([self.folder / ".venv/bin/python3", "-m", "pip", "--version"], capture_output=True).returncode, 0)
        self.check_that_no_setting_leads_a_wheel_elsewhere()
        self.check_that_the_cause_is_pips_own()
        self.check_that_a_wheel_has_the_hash_that_is_locked()
        self.check_that_a_wheel_that_is_not_locked_is_not_installed()

    def check_that_no_setting_leads_a_wheel_elsewhere(self):
        wheel = write_wheel(self.folder, "tbench_probe")
        (self.folder / "constraints.txt").write_text("tbench_probe==2.0\n")
        result = self.run_setup(f"venv_pip install --quiet --no-index {wheel}", PIP_USER="1", PIP_TARGET=str(self.folder / "elsewhere"),
                                PIP_CONSTRAINT=str(self.folder / "constraints.txt"), HOME=str(self.folder))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.site_packages() / "tbench_probe.py").exists())
        self.assertFalse((self.folder / "elsewhere").exists())

    def check_that_the_cause_is_pips_own(self):
        result = self.install("tbench_nowhere", "0" * 64)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "setup: error: pip could not install tbench_nowhere==1.0 : ERROR: .*tbench_nowhere")

    def install(self, name, sha256):
        """Runs install_wheels for one wheel that is only in the folder and is locked with a hash."""
        (self.folder / "requirements.txt").write_text(f"{name}==1.0\n")
        (self.folder / "ci").mkdir(exist_ok=True)
        (self.folder / "ci/requirements.lock").write_text(f"{name}==1.0 \\\n    --hash=sha256:{sha256}\n    # via ci/requirements\n")
        return self.run_setup("install_wheels requirements.txt", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder))

    def check_that_a_wheel_has_the_hash_that_is_locked(self):
        wheel = write_wheel(self.folder, "tbench_locked")
        result = self.install("tbench_locked", "0" * 64)
        self.assertEqual(result.returncode, 1)
        self.assertIn("DO NOT MATCH THE HASHES", result.stderr)
        self.assertFalse((self.site_packages() / "tbench_locked.py").exists())
        result = self.install("tbench_locked", hashlib.sha256(wheel.read_bytes()).hexdigest())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.site_packages() / "tbench_locked.py").exists())

    def check_that_a_wheel_that_is_not_locked_is_not_installed(self):
        (self.folder / "requirements.txt").write_text("tbench_other[extra]==1.0\n")
        result = self.run_setup("install_wheels requirements.txt")
        self.assertEqual(result.returncode, 1)
        self.assertIn("setup: error: ci/requirements.lock has no tbench_other[extra]==1.0. Run ci/lock.py.", result.stderr)


class Pinned(unittest.TestCase):
    """Tests the versions and hashes that the project's files pin."""

    def locked(self, *requirements):
        """Returns the names that locked_wheels prints for requirements of the project."""
        result = subprocess.run(["bash", "-c", BEGIN + "locked_wheels"], cwd=SOURCE, text=True, capture_output=True, input="\n".join(requirements))
        self.assertEqual(result.stderr, "")
        return re.findall(r"^([\w-]+)==", result.stdout, re.M)

    def test_every_requirement_is_locked_with_all_that_it_brings(self):
        requirements = [line for file in ("requirements.txt", "requirements-cuda.txt")
                        for line in (SOURCE / "ci" / file).read_text().split("\n") if line and not line.startswith("#")]
        everything = re.findall(r"^([\w-]+)==", (SOURCE / "ci/requirements.lock").read_text(), re.M)
        self.assertEqual(self.locked(*requirements), everything)
        self.assertLess({"attrs", "jsonschema", "referencing", "rpds-py"}, {*self.locked("jsonschema==4.25.1")})
        self.assertNotIn("torch", self.locked("jsonschema==4.25.1"))
        self.assertIn("nvidia-cuda-nvcc", self.locked("cuda-toolkit[nvcc]==13.0.2"))

    def test_every_locked_wheel_has_a_hash(self):
        for entry in re.findall(r"^[\w-]+==(?:.*\n)+?    # via", (SOURCE / "ci/requirements.lock").read_text(), re.M):
            self.assertRegex(entry, r"^\S+==[\w.]+( ; .*)? \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+    # via$")

    def test_scripts_make_no_file_of_a_name_that_others_can_guess(self):
        for script in [*(SOURCE / "ci").glob("*.sh"), *(SOURCE / "ci/slurm").iterdir()]:
            self.assertNotRegex(script.read_text(), r"/tmp\b|TMPDIR.*\$\$", script.name)


if __name__ == "__main__":
    unittest.main()
