#!/usr/bin/env python3
"""ci/slurm/suite.sbatch and ci/slurm/nightly.sbatch, and two ranks under srun, in a real Slurm of one node.

    slurm_test.py SOURCE_DIR TRANSFORMER_BENCH TBENCH FAKE_BENCH [TEST...]

Runs the tests, named as unittest does, or all, in one Slurm. Exit status 77: Slurm or munge is not installed, or this is not root.
"""

import contextlib
import gzip
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest

SOURCE, BENCH, TOOL, FAKE_BENCH = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/support"))

from skipping import skipped  # noqa: E402
from slurm import SLOTS, Slurm, descendants, parents, wait_until, why_not  # noqa: E402

SUITE, NIGHTLY = SOURCE / "ci/slurm/suite.sbatch", SOURCE / "ci/slurm/nightly.sbatch"
SHARDS = 4
LONGEST, LONGEST_RUN = 240, 800  # seconds that a job and all tests may take on a busy machine
CASES = ["--tb_device=cpu", "--tb_suite=smoke", "--benchmark_filter=^(Gemm|Kernel)/.*precision:fp32"]
BRIEF = ["--benchmark_min_warmup_time=0.02", "--benchmark_min_time=0.02"]
LONG_ENOUGH = ["--benchmark_min_warmup_time=0.02", "--benchmark_min_time=1"]  # long enough to interrupt a shard


def load(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def records_in(path):
    """Returns {name: record} of the file and of the complete lines of the journal next to it."""
    records = {}
    if path.exists():
        records = {entry["name"]: entry["tbench"] for entry in load(path)["benchmarks"]}
    journal = pathlib.Path(f"{path}.journal")
    if journal.exists():
        for line in journal.read_text().split("\n")[1:-1]:  # the first is the header, the last is empty or torn
            record = json.loads(line)
            records["/".join([record["family"]] + [f"{key}:{value}" for key, value in record["parameters"].items()])] = record
    return records


def commands():
    """Returns {process: words of its command line}."""
    found = {}
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found[process] = pathlib.Path(f"/proc/{process}/cmdline").read_text().split("\0")[:-1]
    return found


class InSlurm(unittest.TestCase):
    """Provides the Slurm of all tests, and a folder with something like a checkout."""

    slurm: Slurm

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.checkout = self.folder / "checkout"
        self.checkout.mkdir()
        for link, target in (("transformer_bench", BENCH), ("tbench", TOOL), ("ci", SOURCE / "ci")):
            (self.checkout / link).symlink_to(target)

    def submit(self, *words, **variables):
        """Submits a job and returns its number."""
        return self.slurm.checked("sbatch", "--parsable", *words, cwd=self.checkout, variables=variables).strip()

    def log(self, name):
        path = self.checkout / f"slurm-{name}.out"
        return path.read_text() if path.exists() else ""

    def wait_for_end(self, job):
        wait_until(lambda: not self.slurm.queued(job), f"the end of job {job}", LONGEST)
        return self.slurm.shown(job)["JobState"]


class Suite(InSlurm):
    def listed(self, *flags):
        return self.slurm.checked(BENCH, *CASES, *flags, "--benchmark_list_tests").split()

    def program_of(self, number):
        """Returns the process that supervises a shard. Its parent is the script of the task."""
        parent = parents()
        own = {process: words for process, words in commands().items() if f"--tb_shard={number}/{SHARDS}" in words}
        found = [process for process in own if parent.get(process) not in own and pathlib.Path(own[process][0]).name == "transformer_bench"]
        return found[0] if len(found) == 1 else None

    def test_tasks_that_are_cut_short_go_on_and_the_last_one_merges(self):
        names = self.listed()
        self.assertGreaterEqual(len(names), 20)
        folder = self.folder / "a suite"
        job = self.submit(f"--array=1-{SHARDS}", "--cpus-per-task=1", SUITE, *CASES, *LONG_ENOUGH, TBENCH_SUITE_DIR=str(folder))
        whole_job = self.submit("--array=1-1", "--cpus-per-task=1", SUITE, *CASES, *BRIEF)

        interruptions = {
            2: lambda: self.slurm.checked("scontrol", "requeue", f"{job}_2"),
            3: lambda: os.kill(wait_until(lambda: self.program_of(3), "the program of task 3", 20), signal.SIGKILL),
            4: lambda: self.slurm.checked("scancel", "--batch", "--signal=USR1", f"{job}_4"),  # as before the time limit
        }
        parts = {number: folder / f"part_{number}.json.gz" for number in interruptions}
        left = dict(interruptions)
        while left:  # one may be done before another begins
            has_time = lambda: [number for number in left if any("timing" in record for record in records_in(parts[number]).values())]
            number, *_ = wait_until(has_time, f"a time of one of the tasks {[*left]}", 120)
            left.pop(number)()
        finished = {}
        for number in interruptions:
            self.slurm.wait_for_requeue(f"{job}_{number}")
            finished[number] = records_in(parts[number])
            self.assertLess(len(finished[number]), len(self.listed(f"--tb_shard={number}/{SHARDS}")))
            self.assertFalse((folder / "all.json.gz").exists())
        self.assertIn("the time limit is near: starts again", self.log(f"{job}_4"))
        self.assertIn("transformer_bench ended with status 137: starts again", self.log(f"{job}_3"))
        for number in interruptions:
            self.slurm.start_now(f"{job}_{number}")

        self.wait_for_end(job)
        for number in range(1, SHARDS + 1):
            log = self.log(f"{job}_{number}")
            self.assertEqual(self.slurm.shown(f"{job}_{number}")["JobState"], "COMPLETED", log)
            self.assertEqual(log.count("suite: shard "), 2 if number in interruptions else 1, log)
        merged = records_in(folder / "all.json.gz")
        self.assertEqual([entry["name"] for entry in load(folder / "all.json.gz")["benchmarks"]], names)
        for number, records in finished.items():
            for name, record in records.items():
                self.assertEqual(merged[name], record, f"{name} was measured again")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["all.json.gz", *(f"part_{number}.json.gz" for number in range(1, SHARDS + 1))])

        self.assertEqual(self.wait_for_end(whole_job), "COMPLETED", self.log(f"{whole_job}_1"))
        whole = records_in(self.checkout / "results" / whole_job / "all.json.gz")
        kind = {"unstable": "ok"}  # two tasks share a processor
        self.assertEqual({name: kind.get(record["status"], record["status"]) for name, record in merged.items()},
                         {name: kind.get(record["status"], record["status"]) for name, record in whole.items()})

        # Submits the same array for the same folder again. Every case is done.
        again = self.submit(f"--array=1-{SHARDS}", "--cpus-per-task=1", SUITE, *CASES, *LONG_ENOUGH, TBENCH_SUITE_DIR=str(folder))
        self.wait_for_end(again)
        self.assertEqual(records_in(folder / "all.json.gz"), merged)

    def test_what_always_fails_is_not_started_again_forever(self):
        program = self.folder / "killed"
        program.write_text("#!/bin/sh\nkill -9 $$\n")
        program.chmod(0o755)
        job = self.submit("--array=1-1", "--gpus=0", SUITE, TBENCH_SUITE_BENCH=str(program), TBENCH_SUITE_RESTARTS="1")
        self.slurm.wait_for_requeue(f"{job}_1")
        self.slurm.start_now(f"{job}_1")
        self.assertEqual(self.wait_for_end(job), "FAILED")
        self.assertIn(f"after 1 restarts (TBENCH_SUITE_RESTARTS): look why, then 'scontrol requeue {job}_1'", self.log(f"{job}_1"))


class Night(InSlurm):
    def test_a_night_runs_on_a_node_of_its_own(self):
        history = self.folder / "a history"
        job = self.submit(NIGHTLY, history, TBENCH_NIGHT_BENCH=str(FAKE_BENCH), TBENCH_NIGHT_TOOL=str(TOOL))
        after = self.submit("--gpus=0", NIGHTLY, history, TBENCH_NIGHT_BENCH=str(FAKE_BENCH), TBENCH_NIGHT_TOOL=str(TOOL))
        self.assertEqual(self.wait_for_end(job), "COMPLETED", self.log(job))
        self.assertEqual(self.wait_for_end(after), "COMPLETED", self.log(after))
        self.assertEqual(len(list((history / "runs").iterdir())), 2)
        for one in (job, after):
            self.assertIn("PASSED: 8 ", self.log(one))
        self.assertEqual(self.slurm.shown(job)["NumCPUs"], str(SLOTS))  # the whole node


class Ranks(InSlurm):
    def test_two_ranks_of_a_step_measure_together(self):
        out = self.folder / "collective.json"
        flags = ["--tb_device=cpu", "--benchmark_filter=Collective/.*bytes:1024/.*", "--benchmark_min_warmup_time=0.02", "--benchmark_min_time=0.02", f"--benchmark_out={out}"]
        self.slurm.checked("srun", "-n2", BENCH, *flags, timeout=LONGEST)
        file = json.loads(out.read_text())
        options = file["context"]["tbench"]["options"]
        self.assertEqual((options["ranks"], options["launcher"]), ("2", "slurm"))
        records = [entry["tbench"] for entry in file["benchmarks"]]
        self.assertEqual(len(records), 6 * 2)  # operations, precisions
        for record in records:
            self.assertIn(record["status"], ("ok", "unstable"))
            self.assertTrue(record["verification"]["passed"])
            self.assertEqual(record["parameters"]["gpus"], "2")


def main():
    if why_not():
        sys.exit(skipped(why_not(), is_allowed_in_ci=os.geteuid() != 0))
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.default_int_handler)  # the exception stops Slurm; no test catches it
    signal.alarm(LONGEST_RUN)
    with tempfile.TemporaryDirectory() as scratch, Slurm(scratch) as InSlurm.slurm:
        unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)


if __name__ == "__main__":
    main()
