#!/usr/bin/env python3
"""Kills the processes of a run of several ranks under torchrun at random moments, and checks what the others make of it.

    kill_ranks.py [--ranks N] [--kills N] [--supervisor_kills N] [--hangs N] [--seed S] [--within SECONDS] -- PROGRAM [FLAG...]

Workers: a random rank's worker gets SIGKILL, again and again while the run goes on. Every selected case has to end up in the
file exactly once, measured, `unsupported` or `crashed` with a rank named and a signal for the reason, with no more `crashed` than kills.
Supervisors: a random rank's supervisor gets SIGKILL. torchrun then ends the run; the resumed run has to keep every finished
case as it was, and to complete the rest.
Hangs: a random rank's worker is stopped (SIGSTOP) while a case runs. The case has to end as `timeout` that names that rank, and no other,
and the rest has to be measured. Give PROGRAM a short --tb_timeout.
Exits 0, or 1 with what went wrong.
"""
import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ATTEMPTS = 3
STATUSES_WITHOUT_A_KILL = {"ok", "unstable", "throttled", "unsupported"}


def fail(message):
    print(f"kill_ranks: {message}", file=sys.stderr)
    sys.exit(1)


def children_of(pid):
    """Returns the pids of its children; an empty list if the process has ended."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return []
    pids = []
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                pids += [int(child) for child in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return pids


def is_program(pid, program):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", program)
    except OSError:
        return False


class Run:
    """A run of several ranks under torchrun, in its own process group."""

    def __init__(self, arguments, path, resume=False):
        flags = [f"--benchmark_out={path}"] + (["--tb_resume"] if resume else [])
        self.program = arguments.program[0]
        self.output = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(
            [sys.executable, "-m", "torch.distributed.run", "--standalone", "--no-python", f"--nproc-per-node={arguments.ranks}"]
            + arguments.program + flags, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "RES_OPTIONS": "timeout:1 attempts:1"})  # do not wait for a name server

    def is_over(self):
        return self.child.poll() is not None

    def supervisors(self):
        return [pid for pid in children_of(self.child.pid) if is_program(pid, self.program)]

    def workers(self):
        return [pid for supervisor in self.supervisors() for pid in children_of(supervisor) if is_program(pid, self.program)]

    def finish(self, seconds):
        """Waits for the run's end. @return its exit status and its output"""
        try:
            self.child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.output.seek(0)
            fail(f"the run has not ended after {seconds} s: {self.output.read()[-2000:]}")
        self.output.seek(0)
        return self.child.returncode, self.output.read()


def records_of(path):
    with open(path) as file:
        return {entry["name"]: entry["tbench"] for entry in json.load(file)["benchmarks"]}


def selected_cases(arguments):
    listing = Run(arguments, os.devnull)
    listing_status, output = listing.finish(120)
    if listing_status != 0:
        fail(f"--benchmark_list_tests exited {listing_status}: {output}")
    return [line for line in output.split("\n") if re.fullmatch(r"\w+(/\w+:[^/ ]+)+", line)]


def kill_workers(arguments, moments, path):
    """@return how many workers were killed while the run went on"""
    run, kills = Run(arguments, path), 0
    while not os.path.exists(path) and not run.is_over():  # a worker that never starts is refused by design
        time.sleep(0.05)
    while kills < arguments.kills and not run.is_over():
        time.sleep(moments.uniform(0.2, arguments.within))
        workers = run.workers()
        if not workers:
            continue
        try:
            os.kill(moments.choice(workers), signal.SIGKILL)
            kills += 1
        except ProcessLookupError:
            pass
    status, output = run.finish(arguments.timeout)
    if not os.path.exists(path):
        fail(f"no results after {kills} kills of workers, exit {status}: {output[-2000:]}")
    return kills


def check_killed(path, selected, kills):
    records = records_of(path)
    if sorted(records) != sorted(selected):
        fail(f"the file has {len(records)} of {len(selected)} cases: {sorted(set(selected) - set(records))[:3]} are missing")
    crashed = {name: record for name, record in records.items() if record["status"] not in STATUSES_WITHOUT_A_KILL}
    for name, record in crashed.items():
        if record["status"] != "crashed" or not re.match(r"ranks? [\d, ]+: .*signal 9", record.get("reason", "")):
            fail(f"{name}: {record['status']}, {record.get('reason')}")
    if len(crashed) > kills:
        fail(f"{len(crashed)} cases crashed for {kills} kills")
    return len(crashed)


def kill_supervisors(arguments, moments, path, selected):
    """Kills supervisors. Each kill ends a run, which is then resumed. @return how many kills ended a run"""
    kills, finished = 0, {}
    for _ in range(arguments.supervisor_kills):
        run = Run(arguments, path, resume=os.path.exists(path))
        time.sleep(moments.uniform(2.0, 2.0 + arguments.within))
        supervisors = run.supervisors()
        if supervisors:
            os.kill(moments.choice(supervisors), signal.SIGKILL)
        status, output = run.finish(arguments.timeout)
        kills += status != 0
        kept = records_of(path) if os.path.exists(path) else {}
        for name, record in finished.items():
            if kept.get(name) != record:
                fail(f"{name} was finished before a kill, and is not as it was: {output[-1000:]}")
        finished = kept
    status, output = Run(arguments, path, resume=os.path.exists(path)).finish(arguments.timeout)
    if status != 0:
        fail(f"the last resume exited {status}: {output[-2000:]}")
    records = records_of(path)
    if sorted(records) != sorted(selected):
        fail(f"after the last resume the file has {len(records)} of {len(selected)} cases")
    for name, record in finished.items():
        if records[name] != record:
            fail(f"{name} was finished before the last resume, and is not as it was")
    return kills


def rank_of(pid):
    with open(f"/proc/{pid}/environ") as file:
        return int(dict(line.split("=", 1) for line in file.read().split("\0") if "=" in line)["RANK"])


def finished_records(path):
    """Returns the finished records; none if the file does not exist yet or is being replaced."""
    try:
        return records_of(path)
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def hang_workers(arguments, moments, path, selected):
    """@return how many workers hung, in the first of a few runs whose last case had not finished by then"""
    for attempt in range(ATTEMPTS):
        hung = hang_workers_once(arguments, moments, path.replace(".json", f"_{attempt}.json"), selected)
        if hung:
            return hung
    fail(f"in {ATTEMPTS} runs no worker hung before the last case had finished")


def hang_workers_once(arguments, moments, path, selected):
    """@return how many workers hung; 0 if that was after the last case: a stopped worker finishes none"""
    run, hung, seen = Run(arguments, path), [], 0
    while len(hung) < arguments.hangs and not run.is_over():
        records = finished_records(path)
        timeouts = sum(record["status"] == "timeout" for record in records.values())
        if len(records) == seen or timeouts < len(hung):  # fresh workers must first finish a case
            time.sleep(0.05)
            continue
        seen = len(records) + 1
        time.sleep(moments.uniform(0.0, arguments.within))
        worker = moments.choice(run.workers() or [None])
        if worker is None:
            continue
        hung.append(rank_of(worker))
        os.kill(worker, signal.SIGSTOP)
    status, output = run.finish(arguments.timeout)
    records = records_of(path)
    if sorted(records) != sorted(selected):
        fail(f"the file has {len(records)} of {len(selected)} cases after {len(hung)} hangs: {output[-2000:]}")
    reasons = [record.get("reason", "") for record in records.values() if record["status"] not in STATUSES_WITHOUT_A_KILL]
    named = sorted(int(found.group(1)) for reason in reasons if (found := re.match(r"rank (\d+): no sign of life", reason)))
    if status == 0 and not reasons:
        return 0
    if len(named) != len(reasons) or named != sorted(hung):
        fail(f"the workers of ranks {hung} hung, the cases that failed say {reasons}")
    return len(hung)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--supervisor_kills", type=int, default=3)
    parser.add_argument("--hangs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=2.0, help="longest wait before the next kill, in seconds")
    parser.add_argument("--timeout", type=float, default=300, help="longest run, in seconds")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    selected = selected_cases(argparse.Namespace(**{**vars(arguments), "program": arguments.program + ["--benchmark_list_tests"]}))
    if len(selected) < 2:
        fail(f"needs at least two cases, {len(selected)} selected")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.kills:
            killed = os.path.join(folder, "killed.json")
            kills = kill_workers(arguments, moments, killed)
            crashed = check_killed(killed, selected, kills)
            print(f"{kills} workers killed, {crashed} of {len(selected)} cases crashed for it, none lost")
        if arguments.supervisor_kills:
            ended = kill_supervisors(arguments, moments, os.path.join(folder, "ended.json"), selected)
            print(f"{ended} runs ended by a killed supervisor, resumed without loss")
        if arguments.hangs:
            hung = hang_workers(arguments, moments, os.path.join(folder, "hung.json"), selected)
            print(f"{hung} workers hung, each named, none of {len(selected)} cases lost")


if __name__ == "__main__":
    main()
