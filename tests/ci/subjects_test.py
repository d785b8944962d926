#!/usr/bin/env python3
"""Tests ci/subjects.sh in temporary repositories: subjects_test.py SOURCE_DIR"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
ENVIRONMENT = {**os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
               "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


class Subjects(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("Whatever the base has said before, and at a length that nobody would let pass in a branch of today.")
        self.git("checkout", "--quiet", "-b", "branch")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, env=ENVIRONMENT, check=True, capture_output=True)

    def commit(self, subject):
        self.git("commit", "--quiet", "--allow-empty", "-m", subject, "-m", "A body may have lines of any length. " * 5)

    def check(self, *base):
        return subprocess.run([SOURCE / "ci/subjects.sh", *base], cwd=self.folder, env=ENVIRONMENT, text=True, capture_output=True)

    def test_good_subjects_of_the_branch_pass_whatever_the_base_says(self):
        for subject in ("kernels: share the mask of both backward kernels", "src/model: " + "name " * 12 + "a",
                        "bench, docs: seed the order of the cases", "ci: feed the fuzzer"):
            self.commit(subject)
        self.assertEqual((self.check("main").returncode, self.check("main").stdout), (0, ""))

    def test_each_bad_subject_is_named_with_its_reason(self):
        bad = {
            "kernels: " + "x" * 64: "73 characters; 72 are the most",
            "Share the mask": "does not begin with 'area: verb' in lower case",
            "Kernels: share the mask": "does not begin with 'area: verb' in lower case",
            "kernels: Share the mask": "does not begin with 'area: verb' in lower case",
            "kernels:share the mask": "does not begin with 'area: verb' in lower case",
            "kernels: shared the mask": "'shared' is not an imperative",
            "kernels: sharing the mask": "'sharing' is not an imperative",
            "kernels: share the mask.": "ends with a full stop",
        }
        self.commit("kernels: share the mask")
        for subject in bad:
            self.commit(subject)
        result = self.check("main")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(sorted(result.stdout.splitlines()), sorted(f"subjects: {subject}: {why}" for subject, why in bad.items()))

    def test_merges_are_left_out(self):
        self.commit("kernels: share the mask")
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "-m", "Merge branch 'branch' into main, with a subject that GitHub's Actions have written by themselves", "branch")
        self.assertEqual(self.check("HEAD^").returncode, 0)

    def test_a_base_that_is_not_there_is_an_error(self):
        result = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "subjects: error: 'origin/main' is not a commit of this clone. Fetch it, or name another base.\n")


if __name__ == "__main__":
    unittest.main()
