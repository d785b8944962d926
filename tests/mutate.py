#!/usr/bin/env python3
"""Changes one operator or constant of the sources at a time and asks the unit tests: each change has to fail one.

    tests/mutate.py [--count=10] [--seed=1] [--build=build/host]

Draws places of src/{core,stats,compare,gate} with the seed, one per file, and for each builds core_test, stats_test,
compare_test and gate_test of an existing build and runs them, until `count` mutations have compiled. Prints each with the
first test that failed, or SURVIVED. The sources are as before afterwards, also on Ctrl-C. Exits 0 if all were killed, 1 if one
survived, 2 on bad usage or if the tests fail without a mutation.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("core", "stats", "compare", "gate")
PROGRAMS = tuple(f"{folder}_test" for folder in FOLDERS)
# Each entry has a pattern and its replacement. Blanks on both sides exclude templates, references and streams.
SWAPS = (
    (r" < ", " >= "), (r" <= ", " < "), (r" > ", " <= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r"return true;", "return false;"), (r"return false;", "return true;"), (r"\b(0\.\d+)\b", r"(0.5 * \1)"),
)
NOT_CODE = re.compile(r'^\s*(//|#|static_assert|using |template|namespace)|operator')


def code_of(line):
    """Returns the line without its strings and its comment. Columns do not change."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda found: "_" * len(found.group()), line)
    return re.sub(r"//.*", "", line)


def places():
    """Yields every mutation of every source, by file: line number, column range and replacement."""
    for folder in FOLDERS:
        for path in sorted((ROOT / "src" / folder).rglob("*.cpp")):
            found = []
            for number, line in enumerate(path.read_text().splitlines()):
                if NOT_CODE.search(line):
                    continue
                for pattern, replacement in SWAPS:
                    for match in re.finditer(pattern, code_of(line)):
                        found.append((number, match.start(), match.end(), match.expand(replacement)))
            if found:
                yield path, found


def mutated(text, place):
    number, begin, end, replacement = place
    lines = text.splitlines(keepends=True)
    lines[number] = lines[number][:begin] + replacement + lines[number][end:]
    return "".join(lines)


def build(folder):
    made = subprocess.run(["cmake", "--build", folder, "--target", *PROGRAMS], capture_output=True, text=True)
    return made.returncode == 0


def first_failure(folder):
    """Returns the name of the first test that fails; empty if none fails."""
    for program in PROGRAMS:
        path = next(pathlib.Path(folder).rglob(program))
        try:
            ran = subprocess.run([path, "--gtest_brief=1", "--gtest_fail_fast"], capture_output=True, text=True, timeout=300,
                                 cwd=path.parent)
        except subprocess.TimeoutExpired:
            return f"{program}, which hangs"
        if ran.returncode != 0:
            found = re.search(r"\[  FAILED  \] (\S+)", ran.stdout)
            return found.group(1).rstrip(",") if found else f"{program}, which crashes"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default=str(ROOT / "build/host"))
    arguments = parser.parse_args()
    if not (pathlib.Path(arguments.build) / "CMakeCache.txt").exists():
        print(f"--build={arguments.build}: not a build. Run ci/build.sh host.", file=sys.stderr)
        return 2
    candidates = list(places())
    if not 1 <= arguments.count <= len(candidates):
        print(f"--count={arguments.count}: there are {len(candidates)} files. Give 1 to that many.", file=sys.stderr)
        return 2
    if not build(arguments.build) or (failure := first_failure(arguments.build)):
        print(f"{failure or 'the build'} fails without a mutation", file=sys.stderr)
        return 2

    draw = random.Random(arguments.seed)
    draw.shuffle(candidates)
    survived = compiled = 0
    for path, found in candidates:
        if compiled == arguments.count:
            break
        place = draw.choice(found)
        text = path.read_text()
        change = mutated(text, place)
        try:
            path.write_text(change)
            if not build(arguments.build):
                continue
            failure = first_failure(arguments.build)
        finally:
            path.write_text(text)
        compiled += 1
        survived += not failure
        print(f"{path.relative_to(ROOT)}:{place[0] + 1}: {change.splitlines()[place[0]].strip()}\n"
              f"    {'killed by ' + failure if failure else 'SURVIVED'}", flush=True)
    build(arguments.build)
    print(f"{compiled - survived} of {compiled} killed (seed {arguments.seed})")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
