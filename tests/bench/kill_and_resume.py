#!/usr/bin/env python3
"""Kills a benchmark run with SIGKILL at random moments, and checks that nothing finished is ever lost.

    kill_and_resume.py [--kills N] [--seed S] [--longest SECONDS] -- PROGRAM [FLAG...]

After every kill the result file parses, file and journal together hold every case that the program had shown as
finished, and there is no other file. With TBENCH_LONG_TESTS=1 it kills at least 100 times. The run is resumed after every kill; the last resume completes it with every selected case exactly once.
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


def fail(message):
    print(f"kill_and_resume: {message}", file=sys.stderr)
    sys.exit(1)


def finished_on_disk(path):
    """Returns the names in the file and in the journal's complete lines."""
    names = set()
    if os.path.exists(path):
        with open(path) as file:
            names |= {entry["name"] for entry in json.load(file)["benchmarks"]}
    if os.path.exists(path + ".journal"):
        with open(path + ".journal") as file:
            lines = file.read().split("\n")
        for line in lines[1:-1]:  # the first is the header, the last is empty or incomplete
            record = json.loads(line[:line.rindex(" #")])  # each line ends with a checksum
            names.add("/".join([record["family"]] + [f"{key}:{value}" for key, value in record["parameters"].items()]))
    return names


def finished_on_console(output, selected):
    """Returns the cases whose row was complete on the console."""
    rows = output.split("\n")[:-1]
    words = {word for row in rows for word in re.split(r"\s+", row)}
    return {name for name in selected if name in words}


def run(program, path, resume, kill_after):
    flags = [f"--benchmark_out={path}"] + (["--tb_resume"] if resume else [])
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(program + flags, stdout=out, stderr=err)
        killed = False
        try:
            child.wait(timeout=kill_after)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
            killed = True
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read(), err.read(), killed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=0, help="latest moment of a kill; default: a whole run's time")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    wanted = max(arguments.kills, 100) if os.environ.get("TBENCH_LONG_TESTS") == "1" else arguments.kills

    listing = subprocess.run(arguments.program + ["--benchmark_list_tests"], capture_output=True, text=True, check=True)
    selected = listing.stdout.split()
    if len(selected) < 2:
        fail(f"needs at least two cases, {len(selected)} selected")

    with tempfile.TemporaryDirectory() as folder:
        longest = arguments.longest
        if longest == 0:
            began = time.monotonic()
            status, _, errors, _ = run(arguments.program, os.path.join(folder, "whole.json"), False, None)
            if status != 0:
                fail(f"the undisturbed run exited {status}: {errors}")
            longest = time.monotonic() - began
        kills = completions = 0
        path, resume, known = os.path.join(folder, "killed.json"), False, set()
        while kills < wanted:
            status, output, errors, killed = run(arguments.program, path, resume, moments.uniform(0.05, longest))
            known |= finished_on_console(output, selected)
            on_disk = finished_on_disk(path)
            if not known <= on_disk:
                fail(f"lost after kill {kills}: {sorted(known - on_disk)}")
            known |= on_disk
            left = set(os.listdir(folder)) - {"whole.json", "killed.json", "killed.json.journal"}
            if left:
                fail(f"left behind after kill {kills}: {sorted(left)}")
            if killed:
                kills += 1
                resume = bool(on_disk) or (os.path.exists(path + ".journal") and os.path.getsize(path + ".journal") > 0)
            elif status == 0:  # it ended before the kill: begin another run
                completions += 1
                os.remove(path)
                resume, known = False, set()
            else:
                fail(f"exited {status}: {errors}")
        status, _, errors, _ = run(arguments.program, path, resume, None)
        if status != 0:
            fail(f"the last resume exited {status}: {errors}")
        with open(path) as file:
            names = [entry["name"] for entry in json.load(file)["benchmarks"]]
        if sorted(names) != sorted(selected):
            fail(f"after the last resume the file holds {len(names)} cases of {len(selected)}")
        if os.path.exists(path + ".journal"):
            fail("the journal is still there after a complete run")
        print(f"{kills} kills, {completions} runs completed in between, nothing lost, {len(names)} cases in the end")


if __name__ == "__main__":
    main()
