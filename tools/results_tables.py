#!/usr/bin/env python3
"""Tables that compare results files with others than `tbench` reads, as Markdown.

    results_tables.py pytorch PYTORCH.json RESULTS.json [RESULTS.json ...]   eager in C++ against time_pytorch_model.py
    results_tables.py repeat RESULTS.json RESULTS.json [RESULTS.json ...]    the same cases in fresh processes
    results_tables.py attention --cases=REGEX RESULTS.json [RESULTS.json ...]    impl:flash against the other implementations
    results_tables.py grid_naive RESULTS.json [RESULTS.json ...]             times of impl:naive over impl:flash's, by length
    results_tables.py grid_library RESULTS.json [RESULTS.json ...]           of the fastest ATen backend over impl:flash's
    results_tables.py grid_tf32 RESULTS.json [RESULTS.json ...]              of fp32's sdpa_efficient over tf32's impl:flash
    results_tables.py model_flash RESULTS.json [RESULTS.json ...]            times of Model impl:sdpa over impl:flash's, by ctx
    results_tables.py ceilings PYTORCH.json RESULTS.json                     Ceiling cases by process, and PyTorch on the same
    results_tables.py aa VERDICT.json                                        aa_check.py: a build against itself
    ... --update FILE.md --section NAME    write between <!-- tbench:NAME --> and <!-- /tbench:NAME --> of the file
"""
import argparse
import json
import pathlib
import re
import statistics
import sys


def timed(document):
    """Case name: entry, for the cases of a results file that have a time."""
    return {e["name"]: e for e in document["benchmarks"] if "real_time" in e}


def timed_entries(path):
    return timed(json.loads(pathlib.Path(path).read_text()))


def timed_entries_of_one_gpu(paths, table):
    """The same of several files, of which a later one wins."""
    documents = [json.loads(pathlib.Path(path).read_text()) for path in paths]
    gpus = {document["context"]["tbench"]["environment"]["gpu"]["uuid"] for document in documents}
    if len(gpus) > 1:
        sys.exit(f"results_tables: {table}: files of {len(gpus)} GPUs given ({', '.join(sorted(gpus))}); give files of one")
    return {name: entry for document in documents for name, entry in timed(document).items()}


def paired(entries, ours, theirs):
    """The entries whose names end in `ours`, each with that of the same name but for `theirs` at its end."""
    for name, entry in entries.items():
        other = entries.get(name.removesuffix(ours) + theirs)
        if name.endswith(ours) and other:
            yield entry, other


def short(name):
    return " ".join(part.split(":", 1)[1] for part in name.split("/")[1:])


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " ---: |" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def pytorch_table(paths):
    theirs = json.loads(pathlib.Path(paths[0]).read_text())
    ours = {}
    for path in reversed(paths[1:]):  # the first file wins
        ours |= timed_entries(path)
    rows = [[short(name), f"{theirs[name]['median_ms']:.2f}", f"{ours[name]['real_time']:.2f}",
             f"{ours[name]['real_time'] / theirs[name]['median_ms']:.3f}"] for name in theirs if name in ours]
    return markdown(["case", "PyTorch, ms", "eager, ms", "ratio"], rows)


def repeat_table(paths):
    runs = [timed_entries(path) for path in paths]
    rows = []
    for name in runs[-1]:
        found = [run[name] for run in runs if name in run]
        if len(found) < 3:
            continue
        times = [entry["real_time"] for entry in found]
        clocks = [entry["sm_clock_mhz"] for entry in found]
        same = len({entry["peak_allocated_bytes"] for entry in found}) == 1
        rows.append([short(name), ", ".join(f"{t:.2f}" for t in times),
                     f"{(max(times) - min(times)) / statistics.median(times) * 100:.2f}",
                     ", ".join(f"{clock:.0f}" for clock in clocks), "same" if same else "differ"])
    return markdown(["case", "medians, ms", "range, %", "SM clock, MHz", "peak bytes"], rows)


def implementations_by_cell(path):
    """Name of a case without its implementation: {implementation: entry}, cases that failed included."""
    cells = {}
    for entry in json.loads(pathlib.Path(path).read_text())["benchmarks"]:
        parameters = entry.get("tbench", {}).get("parameters", {})
        if "impl" in parameters:
            cells.setdefault(entry["name"].replace(f"/impl:{parameters['impl']}", ""), {})[parameters["impl"]] = entry
    return cells


def attention_table(paths, cases):
    """Of the cells whose names without the implementation have a match for `cases`. Each file is one run, which holds both
    sides of its cells; a later one wins."""
    others = ("naive", "compiled", "sdpa_flash", "sdpa_efficient", "sdpa_cudnn")
    cells = {}
    for path in paths:
        cells |= {name: entries for name, entries in implementations_by_cell(path).items()
                  if "flash" in entries and re.search(cases, name)}
    rows = []
    for name, entries in cells.items():
        ours = entries["flash"]
        if "real_time" not in ours:
            rows.append([short(name), ours["tbench"]["status"], *[""] * (len(others) + 2)])
            continue
        times = {i: entries[i]["real_time"] for i in others if "real_time" in entries.get(i, {})}
        ratios = [f"{times[i] / ours['real_time']:.3f}" if i in times else "" for i in others]
        best = min(times, key=times.get, default="")
        rows.append([short(name), f"{ours['real_time']:.4g}", f"{ours['flop_per_second'] / 1e12:.1f}", *ratios, best])
    return markdown(["case", "flash, ms", "TFLOP/s", *(f"{i} / flash" for i in others), "best other"], rows)


def row_and_length(entry):
    """Of a case of Attention: its row in a grid's table, which names all but length and implementation; and its length."""
    parameters = dict(entry["tbench"]["parameters"])
    length = int(parameters.pop("seq_len"))
    del parameters["impl"]
    parameters["causal"] = "causal" if parameters["causal"] == "1" else "full"
    if parameters.pop("deterministic", "0") == "1":
        parameters["pass"] += ", same bits every time"
    return tuple(parameters.values()), length


def lengths_table(names, rows):
    """Rows by their names, cells by length."""
    lengths = sorted({length for row in rows.values() for length in row})
    return markdown([names, *map(str, lengths)],
                    [[" ".join(key), *(row.get(length, "") for length in lengths)] for key, row in rows.items()])


ATTENTION_ROW = "batch heads d_model mask pass precision"


def limited(entry):
    return "~" if entry["resolution_limited"] else ""


def grid_table(paths, others):
    """Least time of `others` over flash's: a row for each cell but for its length, a column for each length. Each file is
    one run, which holds both sides of its cells."""
    rows = {}
    for path in paths:
        for entries in implementations_by_cell(path).values():
            times = {i: entry["real_time"] for i, entry in entries.items() if "real_time" in entry}
            best = min((i for i in others if i in times), key=times.get, default=None)
            if "flash" not in times or best is None:
                continue
            row, length = row_and_length(entries["flash"])
            letter = f" {best.removeprefix('sdpa_')[0]}" if len(others) > 1 else ""
            rows.setdefault(row, {})[length] = f"{times[best] / times['flash']:.2f}{letter}{limited(entries['flash'])}"
    return lengths_table(ATTENTION_ROW, rows)


def tf32_grid_table(paths):
    """Time of sdpa_efficient, which heeds no TF32 setting and is in the suite as fp32 alone, over tf32's flash."""
    entries = timed_entries_of_one_gpu(paths, "grid_tf32")
    rows = {}
    for ours, theirs in paired(entries, "precision:tf32/impl:flash", "precision:fp32/impl:sdpa_efficient"):
        row, length = row_and_length(ours)
        rows.setdefault(row, {})[length] = f"{theirs['real_time'] / ours['real_time']:.2f}{limited(ours)}"
    return lengths_table(ATTENTION_ROW, rows)


def model_flash_table(paths):
    """Time of a model's step with ATen's fused attention over that with ours."""
    entries = timed_entries_of_one_gpu(paths, "model_flash")
    rows = {}
    for ours, theirs in paired(entries, "/impl:flash", "/impl:sdpa"):
        both, parameters = (ours, theirs), ours["tbench"]["parameters"]
        mark = ("h" if any(entry["host_bound"] for entry in both) else "") + (
            "*" if any(entry["tbench"]["status"] != "ok" for entry in both) else "")
        key = tuple(parameters[axis] for axis in ("size", "pass", "precision"))
        rows.setdefault(key, {})[int(parameters["ctx"])] = f"{theirs['real_time'] / ours['real_time']:.2f}{mark}"
    return lengths_table("size pass precision", rows)


def rate_of(entry):
    """A rate and its unit; of what counts neither FLOP nor bytes, a time."""
    if entry["tbench"]["parameters"]["what"] == "dispatch":
        return entry["dispatch_us"], "us"
    for counter, factor, unit in (("bytes_per_second", 1e-9, "GB/s"), ("flop_per_second", 1e-12, "TFLOP/s")):
        if counter in entry:
            return entry[counter] * factor, unit
    return entry["real_time"] * 1e3, "us"


def ceilings_table(paths):
    theirs = json.loads(pathlib.Path(paths[0]).read_text())
    processes = {}
    for entry in json.loads(pathlib.Path(paths[1]).read_text())["benchmarks"]:
        if "tbench" in entry and "real_time" in entry:
            processes.setdefault(entry["name"], []).append(entry)
    rows = []
    for name in sorted(processes, key=lambda name: ("gemm" in name, "_p" in name, name)):
        found = sorted(processes[name], key=lambda entry: entry["repetition_index"])
        rates, unit = [rate_of(entry)[0] for entry in found], rate_of(found[0])[1]
        middle = statistics.median(rates)
        ratio = ""
        if name in theirs and unit != "us":
            per_second = theirs[name]["per_second"] * (1e-9 if unit == "GB/s" else 1e-12)
            ratio = f"{middle / per_second:.3f}"
        clocks = ", ".join(f"{entry['sm_clock_mhz']:.0f}" for entry in found if "sm_clock_mhz" in entry)
        rows.append([short(name), unit, ", ".join(f"{rate:.4g}" for rate in rates),
                     f"{(max(rates) / min(rates) - 1) * 100:.2f}", clocks, ratio])
    return markdown(["what", "unit", "three processes", "range, %", "SM clock, MHz", "of PyTorch's"], rows)


def aa_table(paths):
    def seen(case, which):
        return f"{(case[f'{which}_ratio'] - 1) * 100:+.2f} {case[f'{which}_verdict']}"
    rows = [[short(case["case"]), seen(case, "aa"), seen(case, "ab"), f"{(case['factor'] - 1) * 100:+.2f}", seen(case, "planted"),
             f"{case['finds'] * 100:.1f}"] for case in json.loads(pathlib.Path(paths[0]).read_text())["cases"]]
    return markdown(["case", "A to A', %", "A to B, %", "planted in B, %", "A to planted B, %", "finds, %"], rows)


def update(path, section, table):
    text = pathlib.Path(path).read_text()
    begin, end = f"<!-- tbench:{section} -->", f"<!-- /tbench:{section} -->"
    if begin not in text or end not in text:
        sys.exit(f"results_tables: {path}: no section '{section}': add the lines {begin} and {end}")
    before, rest = text.split(begin, 1)
    pathlib.Path(path).write_text(before + begin + "\n" + table + end + rest.split(end, 1)[1])


def main():
    tables = {"pytorch": pytorch_table, "repeat": repeat_table,
              "attention": lambda paths: attention_table(paths, arguments.cases),
              "grid_naive": lambda paths: grid_table(paths, ("naive",)),
              "grid_library": lambda paths: grid_table(paths, ("sdpa_flash", "sdpa_efficient", "sdpa_cudnn")),
              "grid_tf32": tf32_grid_table, "model_flash": model_flash_table, "ceilings": ceilings_table, "aa": aa_table}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=tables)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cases", metavar="REGEX", default="", help="attention: the cells to show [default: all]")
    parser.add_argument("--update", metavar="FILE.md")
    parser.add_argument("--section", metavar="NAME")
    arguments = parser.parse_args()
    table = tables[arguments.table](arguments.files)
    if arguments.update:
        update(arguments.update, arguments.section or arguments.table, table)
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
