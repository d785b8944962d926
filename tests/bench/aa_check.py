#!/usr/bin/env python3
"""Compares a build with itself on a GPU. No case may be REGRESSED between two sets of processes, and a planted slowdown
must be found.

    aa_check.py --out DIR [--bench COMMAND] [--tbench COMMAND] [--processes N] [--cases FILE] [--planted NAME] [--reuse]

Measures the cases below in three sets of five fresh processes each, DIR/a.json, DIR/a2.json and DIR/b.json. `tbench
diff` then compares a with a2 and a with b. All sets are from the same build, so that a REGRESSED is a false alarm. Then,
for every case in turn, a slowdown is planted in the data: the samples of this case in b are multiplied by 1 + tau + 1 %,
and `tbench diff` compares a with the result. tau is the case's threshold (2 % for a model step, 3 % for a kernel, 5 % for
a kernel under 100 us). The slowdown of the case of --planted, which is chosen before anything is measured, has to be
found. The program also prints how many of the others are found.

Writes DIR/aa.json, DIR/ab.json, DIR/planted/N.json (results) and N.diff.json, and DIR/verdict.json. Exit status: 0
passed; 1 a false alarm, or the planted slowdown was not found; 2 a program could not be run. --reuse: use the sets that
are in DIR already.

On an H200 the 15 processes take about four minutes. Ceilings that the program measures without being asked take
additional time: turn them off with its flag in --bench.
"""
import argparse
import copy
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from entries import follow_record  # noqa: E402


def model(size, ctx, run, precision, impl):
    return f"Model/size:{size}/ctx:{ctx}/batch:4/pass:{run}/precision:{precision}/impl:{impl}"


def attention(d_model, seq_len, impl):
    return f"Attention/batch:8/heads:1/d_model:{d_model}/seq_len:{seq_len}/causal:1/pass:forward/precision:bf16/impl:{impl}"


PLANTED = model("small", 512, "forward", "fp32", "eager")  # limited by the device: a host's noise would hide 3 %
CASES = [
    model("small", 128, "train_step", "bf16", "sdpa"),  # limited by the host
    model("small", 512, "forward", "bf16", "eager"),
    PLANTED,
    model("small", 512, "train_step", "tf32", "eager"),
    model("medium", 512, "forward", "bf16", "sdpa"),
    attention(64, 1024, "sdpa_flash"),  # takes less than 100 us
    attention(64, 1024, "flash"),
    attention(64, 4096, "naive"),
    attention(64, 4096, "sdpa_flash"),
    attention(64, 4096, "sdpa_cudnn"),
    attention(64, 4096, "flash"),
    attention(128, 16384, "flash"),
]
BEYOND = 0.01  # share by which the injected slowdown exceeds the threshold
SETS = ("a", "a2", "b")
OF_SAMPLES = ("median_s", "p10_s", "p90_s", "min_s", "mean_s", "standard_deviation_s")


def fail(message):
    print(f"aa_check: {message}", file=sys.stderr)
    sys.exit(2)


def exact_filter(names):
    return "^(" + "|".join(re.sub(r"([\\.\[\]{}()*+?^$|])", r"\\\1", name) for name in names) + ")$"


def load(path):
    with open(path) as file:
        return json.load(file)


def save(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=1)


def measure(arguments, names):
    flags = [*shlex.split(arguments.bench), "--tb_suite=full", f"--benchmark_filter={exact_filter(names)}"]
    listed = subprocess.run([*flags, "--benchmark_list_tests"], capture_output=True, text=True)
    missing = [name for name in names if name not in listed.stdout.split("\n")]
    if missing:
        fail(f"the program has no case '{missing[0]}'; {listed.stderr.strip()}")
    for label in SETS:
        path = arguments.out / f"{label}.json"
        began = time.monotonic()
        status = subprocess.run([*flags, f"--tb_processes={arguments.processes}", f"--benchmark_out={path}"], stdout=sys.stderr).returncode
        if status != 0:
            fail(f"set {label}: the program ended with status {status}")
        print(f"set {label}: {arguments.processes} processes of {len(names)} cases took {time.monotonic() - began:.0f} s")


def diff(arguments, names, base, new, out):
    """Returns {case: verdict} from the output of `tbench diff`."""
    command = [*shlex.split(arguments.tbench), "diff", str(base), "--to", str(new), "--filter", exact_filter(names), "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode not in (0, 1):
        fail(f"{shlex.join(command)}: {result.stderr.strip()}")
    out.write_text(result.stdout)
    cases = {case["name"]: case for case in json.loads(result.stdout)["cases"]}
    missing = [name for name in names if name not in cases]
    if missing:
        fail(f"'{new}' has no case '{missing[0]}'")
    return cases


def plant(results, name, factor):
    """Returns the results with the samples of one case, and every value of its record that follows from them,
    multiplied by `factor`. This includes the GPU's traced time, but not the counters for other programs. The options
    name the change.
    """
    planted = copy.deepcopy(results)
    planted["context"]["tbench"]["options"]["planted"] = f"samples of {name} times {factor:g}"
    for entry in planted["benchmarks"]:
        timing = entry.get("tbench", {}).get("timing")
        if entry["name"] != name or timing is None:
            continue
        timing["samples_s"] = [factor * sample for sample in timing["samples_s"]]
        for field in OF_SAMPLES:
            if field in timing:
                timing[field] *= factor
        for phase in timing["phases"]:
            phase["median_s"] *= factor
        if "trace" in entry["tbench"]:
            entry["tbench"]["trace"]["device_s"] *= factor
        follow_record(entry)
    return planted


def regressed(cases):
    return [name for name, case in cases.items() if case["outcome"] == "REGRESSED"]


def percent(ratio):
    return f"{100 * (ratio - 1):+.2f}"


def find_planted(arguments, names, aa, ab):
    """Returns for each case the factor, and the verdicts on it and on the other cases when it is slowed down."""
    results = load(arguments.out / "b.json")
    folder = arguments.out / "planted"
    folder.mkdir(exist_ok=True)
    rows = []
    for number, name in enumerate(names):
        factor = 1 + aa[name]["threshold"] + BEYOND
        save(folder / f"{number}.json", plant(results, name, factor))
        cases = diff(arguments, names, arguments.out / "a.json", folder / f"{number}.json", folder / f"{number}.diff.json")
        others = [other for other in regressed(cases) if other != name]
        rows.append({"case": name, "factor": factor, "aa_outcome": aa[name]["outcome"], "aa_ratio": aa[name]["ratio"], "ab_outcome": ab[name]["outcome"],
                     "ab_ratio": ab[name]["ratio"], "planted_outcome": cases[name]["outcome"], "planted_ratio": cases[name]["ratio"],
                     "finds": cases[name].get("smallest_detectable_change"), "others_regressed": others})
    return rows


def show(rows):
    print(f"{'A/A %':>7} {'outcome':12} {'A/B %':>7} {'outcome':12} {'planted %':>9} {'seen %':>7} {'outcome':12} {'finds %':>7}  case")
    for row in rows:
        finds = "" if row["finds"] is None else f"{100 * row['finds']:.1f}"
        print(f"{percent(row['aa_ratio']):>7} {row['aa_outcome']:12} {percent(row['ab_ratio']):>7} {row['ab_outcome']:12} {percent(row['factor']):>9}"
              f" {percent(row['planted_ratio']):>7} {row['planted_outcome']:12} {finds:>7}  {row['case']}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the results and the verdict")
    parser.add_argument("--bench", default="./transformer_bench", help="command that runs transformer_bench, including flags")
    parser.add_argument("--tbench", default="./tbench")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--cases", type=pathlib.Path, help="file with other cases, one name per line")
    parser.add_argument("--planted", default=PLANTED, help="the case whose planted slowdown has to be found")
    parser.add_argument("--reuse", action="store_true", help="use the sets that are in DIR already")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    names = arguments.cases.read_text().split() if arguments.cases else CASES
    if arguments.planted not in names:
        fail(f"--planted: '{arguments.planted}' is none of the cases")
    os.makedirs(arguments.out, exist_ok=True)
    if not arguments.reuse:
        measure(arguments, names)
    base = arguments.out / "a.json"
    aa = diff(arguments, names, base, arguments.out / "a2.json", arguments.out / "aa.json")
    ab = diff(arguments, names, base, arguments.out / "b.json", arguments.out / "ab.json")
    not_timed = [name for name in names if "ratio" not in aa[name] or "ratio" not in ab[name]]
    if not_timed:
        fail(f"'{not_timed[0]}' has no time")
    rows = find_planted(arguments, names, aa, ab)
    show(rows)
    false_alarms = sorted({*regressed(aa), *regressed(ab)})
    found = [row["case"] for row in rows if row["planted_outcome"] == "REGRESSED"]
    passed = not false_alarms and arguments.planted in found
    save(arguments.out / "verdict.json", {"passed": passed, "false_alarms": false_alarms, "planted": arguments.planted, "found": found, "cases": rows})
    for name in false_alarms:
        print(f"false alarm: {name}")
    print(f"planted in the data: {'found' if arguments.planted in found else 'NOT found'} in {arguments.planted}; in {len(found)} of {len(names)} cases")
    print("PASSED" if passed else "FAILED")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
