#!/usr/bin/env python3
"""Runs that share an output, and outputs that cannot be written.

    output_lock_test.py PLANTED_PROGRAM NO_LOCKS [CLASS...]

Runs the tests of the classes, or all. One run at a time has an output; the others are refused at once, by the number of
the process that has it, and lose nothing of it. A run that could not write what it measured exits with 3. NO_LOCKS is a
library that takes the place of locks. Cases take a fixed number of steps: no time has to settle.
"""
import fcntl
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM, NO_LOCKS, *CLASSES = sys.argv[1:]
WRITERS = 20
FLAGS = ["--tb_device=cpu", "--tb_suite=full", "--tb_axis=Planted.index=" + ",".join(map(str, range(1, WRITERS + 1))),
         "--tb_warmup=2", "--tb_samples=20"]
AT_ONCE = 120  # seconds; far longer than a start, but a run that waited for the lock would never end


class InFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "out.json"
        self.journal = self.folder / "out.json.journal"

    def command(self, *flags, indices="1,2,3"):
        pattern = "|".join(indices.split(","))
        return [PROGRAM, *FLAGS, f"--benchmark_filter=^Planted/fault:none/index:({pattern})$", *flags]

    def run_it(self, *flags, indices="1,2,3", **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run(self.command(*flags, indices=indices), text=True, cwd=self.folder, **options)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def indices(self):
        return sorted(entry["tbench"]["parameters"]["index"] for entry in json.loads(self.out.read_text())["benchmarks"])

    def refusal(self, pid):
        return f"transformer_bench: 'out.json': process {pid} is writing it. Wait for it, or name another --benchmark_out.\n"


class Locks(InFolder):
    def test_an_output_that_another_process_has(self):
        self.assertEqual(self.run_it("--benchmark_out=out.json").returncode, 0)
        before = self.out.read_bytes()
        (self.folder / "link.json").symlink_to("out.json")
        holder = open(self.journal, "w")
        self.addCleanup(holder.close)
        fcntl.flock(holder, fcntl.LOCK_EX)
        for flags in ([], ["--tb_resume"], ["--tb_shard=1/2"], ["--tb_shard=1/2", "--tb_resume"]):
            done = self.run_it("--benchmark_out=out.json", *flags, timeout=AT_ONCE)
            self.assertEqual((done.returncode, done.stderr), (2, self.refusal(os.getpid())), flags)
        done = self.run_it("--benchmark_out=link.json")
        self.assertEqual((done.returncode, done.stderr), (2, self.refusal(os.getpid()).replace("out.json", "link.json")))
        self.check_ranks()
        self.assertEqual(self.out.read_bytes(), before)
        self.assertEqual(self.run_it("--benchmark_out=other.json").returncode, 0)
        fcntl.flock(holder, fcntl.LOCK_UN)
        done = self.run_it("--benchmark_out=out.json", "--tb_resume", indices="1,2,3,4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.indices(), ["1", "2", "3", "4"])
        self.assertEqual(self.names(), ["link.json", "other.json", "out.json"])

    def check_ranks(self):
        """Only rank 0 holds the output. It tells the other ranks that it was refused."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        launch = {**os.environ, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        command = [PROGRAM, "--tb_device=cpu", "--tb_suite=smoke", "--benchmark_out=out.json"]
        ranks = [subprocess.Popen(command, env={**launch, "RANK": rank, "LOCAL_RANK": rank},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
                 for rank in ("0", "1")]
        messages = "".join(rank.communicate()[1] for rank in ranks)
        self.assertEqual([rank.returncode for rank in ranks], [2, 2], messages)
        self.assertEqual(messages.count(f"process {os.getpid()} is writing it"), 1, messages)

    def test_an_empty_journal_is_none(self):
        self.journal.touch()
        done = self.run_it("--benchmark_out=out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), ["out.json"])

    def test_a_file_system_without_locks(self):
        done = self.run_it("--benchmark_out=out.json", env={**os.environ, "LD_PRELOAD": NO_LOCKS})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, f"note: '{self.journal.name}': its file system has no locks (Operation not supported). "
                                      "Start no second run with this output.\n")
        self.assertEqual(self.indices(), ["1", "2", "3"])
        self.assertEqual(self.names(), ["out.json"])


class Runs(InFolder):
    def test_twenty_runs_of_one_output(self):
        runs = {index: subprocess.Popen(self.command("--benchmark_out=out.json", "--tb_resume", indices=str(index)),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
                for index in range(1, WRITERS + 1)}
        pids = {run.pid for run in runs.values()}
        written = []
        for index, run in runs.items():
            _, err = run.communicate()
            if run.returncode == 0:
                written.append(str(index))
                continue
            self.assertEqual(run.returncode, 2, err)
            self.assertIn(err, {self.refusal(pid) for pid in pids})
        self.assertGreater(len(written), 0)
        self.assertLess(len(written), WRITERS, "no two were at work at once")
        self.assertEqual(self.indices(), sorted(written), "what every run that ended well has measured, and no more")
        self.assertEqual(self.names(), ["out.json"])
        print(f"{len(written)} ran, {WRITERS - len(written)} were refused", file=sys.stderr, end=" ... ")


class Disks(InFolder):
    def test_a_full_disk_during_the_run(self):
        wide = ",".join(map(str, range(1, WRITERS + 1)))
        done = self.run_it("--benchmark_out=out.json", indices=wide,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000)))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"transformer_bench: cannot write '.*out.json.*': File too large. Raise the limit")
        shown = {word for word in done.stdout.split() if word.startswith("Planted/")}
        self.assertGreater(len(shown), 0)
        self.assertEqual(self.names(), ["out.json", "out.json.journal"])
        done = self.run_it("--benchmark_out=out.json", "--tb_resume", indices=wide)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(shown & set(done.stdout.split()), "measured again")
        self.assertEqual(len(self.indices()), WRITERS)

    def test_a_full_standard_output(self):
        with open("/dev/full", "w") as full:
            for flags in (["--help"], ["--benchmark_list_tests"], ["--benchmark_out=out.json"], ["--benchmark_format=json"]):
                done = self.run_it(*flags, stdout=full)
                self.assertEqual(done.returncode, 3, flags)
                self.assertTrue(done.stderr.endswith("transformer_bench: cannot write the output: No space left on device. "
                                                     "Free some space there, or choose another folder.\n"), done.stderr)
        self.assertEqual(self.run_it("--tb_resume=x").returncode, 2)

    def test_no_standard_output(self):
        done = subprocess.run(["/bin/sh", "-c", 'exec "$0" "$@" >&-', *self.command("--benchmark_out=out.json")],
                              stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Bad file descriptor. Start the program with its standard output open.", done.stderr)
        self.assertEqual(self.names(), ["out.json"], "nothing that was printed went into another file")
        self.assertEqual(self.indices(), ["1", "2", "3"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *CLASSES], verbosity=2)
