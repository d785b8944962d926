#!/usr/bin/env python3
"""Checks that every test is run by at least one of the two halves of ci/test.sh, and that both halves have tests.

    halves_test.py FOLDER

FOLDER is the one whose list of tests has both builds, as ci/test.sh makes it. An entry is run by the half whose name it has
as a label. A test program that one half does not build has one disabled entry there, PROGRAM_NOT_BUILT.
"""
import json
import pathlib
import re
import subprocess
import sys

HALVES = ("sanitizers", "release")


class Entry:
    """An entry of ctest: its `name` without the prefix of its half, its `program`'s file name, and the `halves` that
    run it.
    """

    def __init__(self, listed):
        properties = {one["name"]: one["value"] for one in listed["properties"]}
        self.name = listed["name"].removeprefix("asan/")
        self.program = pathlib.Path(listed.get("command", ["?"])[0]).name
        self.halves = [half for half in HALVES if half in properties.get("LABELS", [])]
        self.is_built = not self.name.endswith("_NOT_BUILT")


def programs_of(folder):
    """Returns the names of the test programs of both builds. tbench_test() includes a script for each program."""
    builds = re.findall(r'^subdirs\("([^"]+)"\)', (pathlib.Path(folder) / "CTestTestfile.cmake").read_text(), re.MULTILINE)
    lists = [path.read_text() for build in builds for path in pathlib.Path(build, "tests").rglob("CTestTestfile.cmake")]
    return {name for text in lists for name in re.findall(r'/(\w+)_tests\.cmake"', text)}


def entries_of(folder):
    listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return [Entry(one) for one in json.loads(listed.stdout)["tests"]]


def problems(programs, entries):
    run = {entry.name for entry in entries if entry.halves}
    for program in programs - {entry.program for entry in entries if entry.halves}:
        yield f"{program}: no half runs a test of this program"
    for half in HALVES:
        if not any(half in entry.halves for entry in entries):
            yield f"the half '{half}' runs no test"
    if not any(len({half for same in entries if same.name == entry.name for half in same.halves}) == 2 for entry in entries):
        yield "no test is run by both halves"
    for entry in entries:
        if entry.is_built and entry.name not in run:
            yield f"{entry.name}: no half runs it"


def main():
    wrong = sorted(set(problems(programs_of(sys.argv[1]), entries_of(sys.argv[1]))))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
