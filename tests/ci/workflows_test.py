#!/usr/bin/env python3
"""Tests what the workflows of .github/workflows run, and with which rights: workflows_test.py SOURCE_DIR"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
WORKFLOWS = {path.stem: path.read_text() for path in (SOURCE / ".github/workflows").glob("*.yml")}
STEP = re.compile(r"^      - ", re.M)
JOB = re.compile(r"^  (\w+):\n(?=    )", re.M)


def jobs(workflow):
    """Returns {name: text} of the jobs of a workflow."""
    parts = JOB.split(workflow[workflow.index("\njobs:\n") + len("\njobs:\n"):])
    return dict(zip(parts[1::2], parts[2::2]))


def run_lines(job):
    """Returns the commands that the steps of a job run, in order."""
    return re.findall(r"^      (?:  |- )run: (.*)$", job, re.M)


class EveryScript(unittest.TestCase):
    def test_has_its_variables_in_the_page(self):
        page = (SOURCE / "ci/README.md").read_text()
        for script, prefix in (("ci/nightly.sh", "TBENCH_NIGHT_"), ("ci/slurm/suite.sbatch", "TBENCH_SUITE_")):
            variables = set(re.findall(prefix + "[A-Z]+", (SOURCE / script).read_text()))
            rows = set(re.findall("`(" + prefix + "[A-Z]+)`", "\n".join(re.findall(r"^\|.*", page, re.M))))
            self.assertTrue(variables)
            self.assertEqual(variables, rows, script)


class EveryWorkflow(unittest.TestCase):
    def test_names_actions_by_commit_and_each_by_one(self):
        used = set()
        for name, text in WORKFLOWS.items():
            for action in re.findall(r"uses: (.*)", text):
                self.assertRegex(action, r"^[\w/-]+@[0-9a-f]{40} # v[\d.]+$", name)
                used.add(action)
        self.assertEqual(len({action.partition("@")[0] for action in used}), len(used), used)

    def test_leaves_no_credentials_in_a_checkout(self):
        for name, text in WORKFLOWS.items():
            for step in STEP.split(text)[1:]:
                if "actions/checkout@" in step:
                    self.assertIn("\n          persist-credentials: false", step, name)

    def test_may_read_alone_and_ends_by_itself(self):
        for name, text in WORKFLOWS.items():
            self.assertRegex(text, r"\npermissions:\n  contents: read\n\n", name)
            self.assertEqual(text.count("permissions:"), 1, name)
            for job, body in jobs(text).items():
                self.assertIn("    timeout-minutes: ", body, f"{name}.{job}")

    def test_puts_no_expression_into_a_shell(self):
        for name, text in WORKFLOWS.items():
            for job in jobs(text).values():
                for line in run_lines(job):
                    self.assertNotIn("${{", line, name)

    def test_runs_scripts_that_exist_and_can_be_executed(self):
        for name, text in WORKFLOWS.items():
            scripts = re.findall(r"\b(?:ci|tools|tests)/\S+\.\w+", "\n".join(line for job in jobs(text).values() for line in run_lines(job)))
            self.assertNotEqual(scripts, [], name)
            for script in scripts:
                path = SOURCE / script
                self.assertTrue(path.is_file(), script)
                self.assertTrue(script.endswith(".py") or os.access(path, os.X_OK), script)

    def test_installs_git_before_a_checkout_in_a_container(self):
        for name, text in WORKFLOWS.items():
            for job, body in jobs(text).items():
                if "\n    container: " in body:
                    self.assertRegex(body.partition("actions/checkout@")[0], r"apt-get install .*\bgit\b", f"{name}.{job}")


class PullRequest(unittest.TestCase):
    lint = jobs(WORKFLOWS["pull_request"])["lint"]

    def test_lints_with_clang_14(self):
        self.assertIn("    container: debian:12 ", self.lint)
        lines = run_lines(self.lint)
        for wanted in ("python3 tools/check_layers.py .", "python3 tests/prose_test.py . && python3 tests/comment_prose_test.py .",
                       "ci/tidy.sh", "ci/fuzz.sh --replay"):
            self.assertIn(wanted, lines)
            self.assertGreater(lines.index(wanted), lines.index("ci/setup.sh clang"))

    def test_reads_the_subjects_of_the_branch_in_its_whole_history(self):
        self.assertIn('ci/subjects.sh "origin/$GITHUB_BASE_REF"', run_lines(self.lint))
        checkout = next(step for step in STEP.split(self.lint) if "actions/checkout@" in step)
        self.assertIn("fetch-depth: 0", checkout)


class Weekly(unittest.TestCase):
    fuzz = jobs(WORKFLOWS["weekly"])["fuzz"]

    def test_fuzzes_five_minutes_a_target_within_its_time(self):
        self.assertRegex(WORKFLOWS["weekly"], r'cron: "\d+ \d+ \* \* [0-6]"')
        self.assertIn("ci/fuzz.sh 300", run_lines(self.fuzz))
        targets = len(re.search(r"in \$\{2:-(.*)\}", (SOURCE / "ci/fuzz.sh").read_text())[1].split())
        self.assertLess(targets * 300, 60 * int(re.search(r"timeout-minutes: (\d+)", self.fuzz)[1]) / 2)

    def test_keeps_the_new_inputs_and_the_findings_also_of_a_failure(self):
        upload = next(step for step in STEP.split(self.fuzz) if "actions/upload-artifact@" in step)
        self.assertIn("if: ${{ !cancelled() }}", upload)
        for folder in ("corpus", "findings"):
            self.assertIn(f"\n            build/fuzz/{folder}\n", upload)
            self.assertIn(f"$build/{folder}/$target", (SOURCE / "ci/fuzz.sh").read_text())


class Fuzz(unittest.TestCase):
    def test_neither_seconds_nor_replay_is_an_error(self):
        for argument in ("--replays", "5m", "-1"):
            result = subprocess.run([SOURCE / "ci/fuzz.sh", argument], text=True, capture_output=True)
            self.assertEqual((result.returncode, result.stderr), (2, f"fuzz: error: '{argument}': neither a number of seconds nor --replay\n"))


if __name__ == "__main__":
    unittest.main()
