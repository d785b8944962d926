#!/usr/bin/env python3
"""Commands of tbench that are killed while they write, and twenty of them on one output.

    writers_test.py TBENCH FAKE_BENCH

Kills each command at work 8 times, with TBENCH_LONG_TESTS=1 100 times, at random moments. An output is then
as it was, or whole; a history is sound and loses nothing that a command had said to be in it; no file is left beside
them, nor in the folder of temporary files.
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TBENCH, FAKE_BENCH = sys.argv[1:3]
KILLS = 100 if os.environ.get("TBENCH_LONG_TESTS") == "1" else 8
WRITERS = 20


def becomes(is_so, limit=30):
    """Returns whether `is_so()` becomes true within `limit` seconds."""
    end = time.monotonic() + limit
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


class Writers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name, "work")
        self.temporary = pathlib.Path(scratch.name, "temporary")
        for folder in (self.folder, self.temporary):
            folder.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.moments = random.Random(self.id())
        self.kills = self.attempts = 0

    def measure(self, name, *flags, night=1, seed=1):
        changes = {"FAKE_DATE": f"2026-01-{night:02}T03:{seed:02}:00Z", "FAKE_SEED": str(100 * night + seed)}
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        subprocess.run([FAKE_BENCH, f"--benchmark_out={path}", *flags], env={**os.environ, **changes}, check=True)
        return path

    def start(self, *words):
        return subprocess.Popen([TBENCH, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment, cwd=self.folder)

    def finish(self, *words):
        began = time.monotonic()
        process = self.start(*words)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)
        self.duration = time.monotonic() - began

    def is_to_be_killed(self):
        self.attempts += 1
        self.assertLess(self.attempts, 10 * KILLS, "too few were killed while they worked")
        return self.kills < KILLS

    def killed(self, words):
        """Kills the command at a random moment within its last duration. Returns whether it ended successfully before
        the kill.
        """
        process, began = self.start(*words), time.monotonic()
        try:
            out, err = process.communicate(timeout=self.moments.uniform(0, self.duration))
            self.duration = time.monotonic() - began  # a busy machine may have delayed it before
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL), out + err)
        self.kills += process.returncode != 0
        self.assertEqual(list(self.temporary.iterdir()), [])
        return process.returncode == 0

    def together(self, *words):
        """Runs twenty instances of the command at once. Returns their exit statuses and outputs."""
        processes = [self.start(*words) for _ in range(WRITERS)]
        answers = [process.communicate() for process in processes]
        self.assertEqual(list(self.temporary.iterdir()), [])
        return [(process.returncode, *answer) for process, answer in zip(processes, answers)]

    def names(self):
        return {path.name for path in self.folder.iterdir()}

    def check_output(self, output, words, old=None):
        """Kills a command that writes `output`, whose previous contents are `old`, and then runs twenty instances of
        it.
        """
        def reset():
            output.unlink(missing_ok=True)
            if old is not None:
                output.write_text(old)

        allowed = self.names() | {output.name}
        reset()
        self.finish(*words)
        whole = output.read_bytes()
        unfinished = {whole, None if old is None else old.encode()}
        while self.is_to_be_killed():
            reset()
            is_done = self.killed(words)
            self.assertLessEqual(self.names(), allowed)
            self.assertIn(output.read_bytes() if output.exists() else None, {whole} if is_done else unfinished)
        reset()
        self.check_together(words)
        self.assertEqual(output.read_bytes(), whole)
        self.assertLessEqual(self.names(), allowed)

    def check_together(self, words):
        """Twenty instances of a command that was killed before must all succeed."""
        for status, out, err in self.together(*words):
            self.assertEqual(status, 0, out + err)
        print(f"{self.kills} killed at work, {WRITERS} at once", file=sys.stderr, end=" ... ")

    def test_merge(self):
        parts = [self.measure(f"{i}.json", f"--tb_shard={i}/2") for i in (1, 2)]
        self.check_output(self.folder / "all.json.gz", ["merge", *parts, "-o", "all.json.gz"])

    def test_report(self):
        self.check_output(self.folder / "page.html", ["report", self.measure("a.json"), "-o", "page.html"], "what was there")

    def test_report_in_a_document(self):
        self.measure("a.json")
        old = "Text.\n<!-- tbench:a report a.json -->\n<!-- /tbench:a -->\n"
        self.check_output(self.folder / "page.md", ["report", "--update=page.md"], old)

    def runs_in(self, database):
        """Returns the number of runs in a valid history; None if the database does not exist or is empty."""
        if not database.exists() or database.stat().st_size == 0:
            return None
        with contextlib.closing(sqlite3.connect(database)) as history:
            self.assertEqual(history.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            tables = {name for name, in history.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return history.execute("SELECT COUNT(*) FROM run").fetchone()[0] if "run" in tables else None

    def check_history(self, words, runs, others=()):
        """Kills a command that adds `runs` runs to history.db until it has added them; then runs twenty instances of
        it.
        """
        database, *others_of_sqlite = (self.folder / f"history.db{ending}" for ending in ("", "-journal", "-wal", "-shm"))
        before = self.names()
        self.finish(*words)
        self.assertEqual(self.runs_in(database), runs)
        allowed = before | {database.name, *(path.name for path in others_of_sqlite), *others}
        known = runs
        while self.is_to_be_killed():
            if known == runs:  # starts again from the first history whenever it is complete
                for path in (database, *others_of_sqlite):
                    path.unlink(missing_ok=True)
                known = 0
            is_done = self.killed(words)
            self.assertLessEqual(self.names(), allowed)
            now = self.runs_in(database) or 0
            self.assertGreaterEqual(now, runs if is_done else known)
            self.assertLessEqual(now, runs)
            known = now
        self.check_together([*words, "--wait=60"])
        self.assertEqual(self.runs_in(database), runs)
        self.assertLessEqual(self.names(), allowed)

    def test_gate(self):
        files = [self.measure(f"run{seed}.json", seed=seed) for seed in (1, 2, 3)]
        self.check_history(["gate", *files, "--db=history.db", "--junit=junit.xml"], 1, ["junit.xml"])

    def test_gate_that_runs_suspects_again(self):
        """Kills and stops the gate alternately. The night must stay unjudged, and every program that the gate started
        must end with it.
        """
        nights = [[self.measure(f"night{night}_{seed}.json", night=night, seed=seed) for seed in range(5)]
                  for night in range(1, 10)]
        for files in nights:
            self.finish("gate", *files, "--db=history.db")
        os.environ["FAKE_SLOW"] = slow = r"2\.7B/.*train_step"
        self.addCleanup(os.environ.pop, "FAKE_SLOW")
        tonight = [self.measure(f"tonight_{seed}.json", night=10, seed=seed) for seed in range(5)]
        database, names = self.folder / "history.db", self.names()
        shutil.copy(database, self.folder.parent / "before.db")
        words = ["gate", *tonight, "--db=history.db", f"--good=env -u FAKE_SLOW {FAKE_BENCH}", f"--new=env FAKE_SLOW='{slow}' {FAKE_BENCH}"]
        began = time.monotonic()
        process = self.start(*words)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("running 1 case again", err)
        longest = time.monotonic() - began
        while self.is_to_be_killed():
            shutil.copy(self.folder.parent / "before.db", database)
            process = self.start(*words)
            number, began = signal.SIGKILL if self.kills % 2 else signal.SIGTERM, time.monotonic()
            try:
                out, err = process.communicate(timeout=self.moments.uniform(longest / 4, longest))
                longest = time.monotonic() - began  # a busy machine may have delayed it before
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                out, err = process.communicate()
            self.assertIn(process.returncode, (1, -number, 128 + number), out + err)
            self.kills += process.returncode != 1
            self.assertTrue(becomes(lambda: not list(self.temporary.iterdir())), list(self.temporary.iterdir()))
            self.assertIn(self.runs_in(database), (9, 10))
            self.assertLessEqual(self.names(), names | {"history.db-journal", "history.db-wal", "history.db-shm"})

    def test_import(self):
        for night in range(1, 7):
            self.measure(f"nights/{night}.json", night=night)
        self.check_history(["history", "--db=history.db", "--import=nights"], 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
