"""Tests tests/bench/aa_check.py with a transformer_bench that measures nothing: which results pass, and which do not.

Usage: aa_check_test.py TBENCH FAKE_BENCH.
"""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parent.parent / "bench" / "aa_check.py"
PLANTED = "Model/size:medium/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa"


def check(folder, tbench, bench, *flags):
    """Returns the exit status, the output and verdict.json of a run in a new folder."""
    out = tempfile.mkdtemp(dir=folder)
    result = subprocess.run([sys.executable, CHECK, "--out", out, "--bench", bench, "--tbench", tbench, "--cases", f"{folder}/cases", "--planted", PLANTED, *flags],
                            capture_output=True, text=True)
    path = pathlib.Path(out, "verdict.json")
    return result, json.loads(path.read_text()) if path.exists() else None, out


def changed(folder, bench, name, set_name, changes):
    """Makes a program that behaves differently in one of the three sets."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\ncase "$*" in */{set_name}.json*) export {changes} ;; esac\nexec {bench} "$@"\n')
    os.chmod(path, stat.S_IRWXU)
    return path


def main():
    tbench, bench = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([bench, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
        names = [name for name in listed.split() if name.startswith("Model/")]
        with open(f"{folder}/cases", "w") as file:
            file.write("\n".join(names))

        result, verdict, out = check(folder, tbench, bench)
        assert result.returncode == 0, result.stdout + result.stderr
        assert verdict["passed"] and not verdict["false_alarms"] and PLANTED in verdict["found"], verdict
        row = next(row for row in verdict["cases"] if row["case"] == PLANTED)
        assert abs(row["factor"] - 1.03) < 1e-9, row  # a model step: tau is 2 %
        assert abs(row["planted_ratio"] / row["ab_ratio"] - row["factor"]) < 1e-6, row
        assert all(row["others_regressed"] == [] for row in verdict["cases"]), verdict
        assert len(os.listdir(f"{out}/planted")) == 2 * len(names), os.listdir(f"{out}/planted")
        again = subprocess.run([sys.executable, CHECK, "--out", out, "--bench", "/no/such/program", "--tbench", tbench, "--cases", f"{folder}/cases",
                                "--planted", PLANTED, "--reuse"], capture_output=True, text=True)
        assert again.returncode == 0, again.stderr

        # If either set is slower than the first, the check must report a false alarm.
        for number, set_name in enumerate(("a2", "b")):
            slower = changed(folder, bench, f"slower{number}", set_name, "FAKE_SLOW=large/.*forward")
            result, verdict, _ = check(folder, tbench, slower)
            assert result.returncode == 1, result.stdout
            assert len(verdict["false_alarms"]) == 1 and "size:large" in verdict["false_alarms"][0], verdict

        # If the set is faster by 4 %, the injected slowdown of 3 % cannot be found.
        faster = changed(folder, bench, "faster", "b", "FAKE_SLOW=medium/.*forward FAKE_FACTOR=0.96")
        result, verdict, _ = check(folder, tbench, faster)
        assert result.returncode == 1 and not verdict["false_alarms"] and PLANTED not in verdict["found"], result.stdout

        failing = changed(folder, bench, "failing", "a2", "FAKE_FAIL=small/.*forward")
        for command, flags, words in ((failing, (), "set a2"), ("/bin/true", (), "no case"), (bench, ("--planted", "x"), "--planted")):
            result, verdict, _ = check(folder, tbench, command, *flags)
            assert result.returncode == 2 and words in result.stderr and verdict is None, (result.returncode, result.stderr)
    print("false alarms and slowdowns that are not found fail the check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
