#!/usr/bin/env python3
"""ci/slurm/suite.sbatch and ci/slurm/nightly.sbatch without Slurm, with the variables that it sets and a scontrol that writes down what it is told.

    slurm_scripts_test.py SOURCE_DIR TBENCH FAKE_BENCH
"""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, TOOL, FAKE_BENCH = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
SUITE, NIGHTLY = SOURCE / "ci/slurm/suite.sbatch", SOURCE / "ci/slurm/nightly.sbatch"
LONGEST = 60  # seconds
# Stops between two cases, as transformer_bench does, and prints nothing.
SLOW_BENCH = "#!/bin/bash\ntrap 'sleep 0.5; exit 130' TERM\necho $$ >program\nfor i in {1..600}; do sleep 0.1; done\n"


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program("scontrol", '#!/bin/sh\necho "$@" >>requeued\nkill -TERM $PPID\n')  # ends the requeued task
        self.out = self.folder / "results/7"

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def start(self, *words, number=1, count=1, first=1, last=None, **variables):
        """Starts task `number` of `count` of the array 7."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "TBENCH", "FAKE"))}
        environment.update({"PATH": f"{self.folder}:{os.environ['PATH']}", "TBENCH_SUITE_BENCH": str(FAKE_BENCH), "TBENCH_SUITE_TOOL": str(TOOL),
                            "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": str(count),
                            "SLURM_ARRAY_TASK_MIN": str(first), "SLURM_ARRAY_TASK_MAX": str(last or count), **variables})
        return subprocess.Popen([SUITE, *words], cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_task(self, *words, **options):
        """Runs a task and returns its exit status and stderr."""
        task = self.start(*words, **options)
        _, said = task.communicate(timeout=LONGEST)
        return task.returncode, said

    def requeued(self):
        path = self.folder / "requeued"
        return path.read_text().splitlines() if path.exists() else []


class Usage(InFolder):
    def refused(self, *words, **options):
        status, said = self.run_task(*words, **options)
        self.assertEqual(status, 2, said)
        self.assertRegex(said, r"\Asuite: error: [^\n]*\n\Z")
        return said

    def test_what_cannot_be_done_is_said_before_anything_runs(self):
        self.assertIn("not a job array: sbatch --array=1-N", self.refused(number=""))
        self.assertIn("--array: 3 task(s) from 2 to 4 are not 1 to N", self.refused(number=2, count=3, first=2, last=4))
        self.assertIn("--array: 2 task(s) from 1 to 3 are not 1 to N", self.refused(number=3, count=2, last=3))
        self.assertIn("--tb_shard=1/2: set here", self.refused("--tb_shard=1/2"))
        self.assertIn("TBENCH_SUITE_RESTARTS=many: not a whole number", self.refused(TBENCH_SUITE_RESTARTS="many"))
        self.assertFalse(self.out.exists())

    def test_a_missing_program_is_named(self):
        task = subprocess.run([SUITE], cwd=self.folder, capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual(task.returncode, 2)
        self.assertRegex(task.stderr, r"\Asuite: error: no program './transformer_bench' in '[^\n]*': submit in the checkout, [^\n]*\n\Z")

    def test_a_night_outside_of_a_checkout_says_so(self):
        night = subprocess.run([NIGHTLY, "anywhere"], cwd=self.folder, capture_output=True, text=True, timeout=LONGEST)
        self.assertEqual(night.returncode, 2)
        self.assertRegex(night.stderr, r"\Anightly: error: no 'ci/nightly.sh' in '[^\n]*': submit in the checkout, [^\n]*\n\Z")


class Merge(InFolder):
    def merged(self):
        return json.loads(gzip.decompress((self.out / "all.json.gz").read_bytes()))["benchmarks"]

    def test_the_last_task_merges(self):
        status, said = self.run_task(number=2, count=2)
        self.assertEqual(status, 0, said)
        self.assertIn("part 1 of 2 has not begun", said)
        self.assertFalse((self.out / "all.json.gz").exists())
        status, said = self.run_task(number=1, count=2)
        self.assertEqual(status, 0, said)
        self.assertIn("all parts are whole: results/7/all.json.gz", said)
        self.assertEqual(len(self.merged()), 9)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["all.json.gz", "part_1.json.gz", "part_2.json.gz"])

    def test_a_part_that_is_not_whole_is_waited_for(self):
        self.run_task(number=2, count=2)
        part = self.out / "part_2.json.gz"
        whole = part.read_bytes()
        file = json.loads(gzip.decompress(whole))
        del file["benchmarks"][0]
        part.write_bytes(gzip.compress(json.dumps(file).encode()))
        status, said = self.run_task(number=1, count=2)
        self.assertEqual(status, 0, said)
        self.assertIn("the last task to finish merges; by hand: ", said)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["part_1.json.gz", "part_2.json.gz"])

    def test_a_failed_case_ends_a_task_with_1_and_is_merged(self):
        status, said = self.run_task(FAKE_FAIL="2.7B/.*forward")
        self.assertEqual(status, 1, said)
        self.assertEqual([entry["tbench"]["status"] for entry in self.merged()].count("incorrect"), 1)

    def test_parts_with_different_drivers_are_not_merged(self):
        self.run_task(number=1, count=2)
        status, said = self.run_task(number=2, count=2, FAKE_DRIVER="590.1")
        self.assertEqual(status, 2, said)
        self.assertIn("cannot be merged: different builds: driver: ", said)
        self.assertIn("suite: error: tbench merge ended with status 3", said)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["part_1.json.gz", "part_2.json.gz"])


class Interruptions(InFolder):
    def interrupt(self, *numbers, **variables):
        """Sends these signals to the script of a task while its program runs. Returns the task's exit status and
        stderr.
        """
        task = self.start(TBENCH_SUITE_BENCH=str(self.program("slow", SLOW_BENCH)), **variables)
        path, end = self.folder / "program", time.monotonic() + LONGEST
        while not (path.exists() and path.read_text().endswith("\n")) and time.monotonic() < end:
            time.sleep(0.05)
        seen = ""
        for number in numbers:
            task.send_signal(number)
            while number == signal.SIGTERM and "suite: SIGTERM" not in seen:  # pending signals arrive in no fixed order
                seen += task.stderr.readline()
        if signal.SIGTERM in numbers:  # Slurm sends it to both
            os.kill(int(path.read_text()), signal.SIGTERM)
        _, said = task.communicate(timeout=LONGEST)
        return task.returncode, seen + said

    def test_before_the_time_limit_the_program_ends_and_the_task_is_requeued(self):
        status, said = self.interrupt(signal.SIGUSR1)
        self.assertEqual(status, 130, said)
        self.assertIn("the time limit is near: starts again", said)
        self.assertEqual(self.requeued(), ["requeue 7_1"])

    def test_after_sigterm_slurm_decides(self):
        status, said = self.interrupt(signal.SIGTERM)
        self.assertEqual(status, 130, said)
        self.assertEqual(self.requeued(), [])
        self.assertFalse((self.out / "all.json.gz").exists())

    def test_the_program_is_waited_for_however_many_signals_there_are(self):
        status, said = self.interrupt(signal.SIGTERM, signal.SIGTERM, signal.SIGUSR1)
        self.assertEqual(status, 130, said)
        self.assertEqual(self.requeued(), [])

    def test_restarts_have_an_end(self):
        killed = str(self.program("killed", "#!/bin/sh\nkill -9 $$\n"))
        status, said = self.run_task(TBENCH_SUITE_BENCH=killed, SLURM_RESTART_COUNT="1", TBENCH_SUITE_RESTARTS="2")
        self.assertEqual(status, 137, said)
        self.assertEqual(self.requeued(), ["requeue 7_1"])
        status, said = self.run_task(TBENCH_SUITE_BENCH=killed, SLURM_RESTART_COUNT="2", TBENCH_SUITE_RESTARTS="2")
        self.assertEqual(status, 2, said)
        self.assertIn("after 2 restarts (TBENCH_SUITE_RESTARTS): look why, then 'scontrol requeue 7_1'", said)
        self.assertEqual(self.requeued(), ["requeue 7_1"])

    def test_a_refusal_of_transformer_bench_is_not_tried_again(self):
        status, said = self.run_task(TBENCH_SUITE_BENCH=str(self.program("refuses", "#!/bin/sh\nexit 2\n")))
        self.assertEqual((status, self.requeued()), (2, []), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
