#!/usr/bin/env python3
"""Adds up kernel times that Nsight Compute took of a case, for `tbench report --ncu`.

    ncu --csv --clock-control none --cache-control none --print-kernel-base mangled --metrics gpu__time_duration.sum \
        --launch-skip N --launch-count M ./transformer_bench --tb_isolate=none --tb_trace=off \
        --benchmark_filter='^CASE$' >ncu.csv
    tools/ncu_kernel_times.py CASE ncu.csv ncu.json

N is at least the number of launches of the verification. M is a multiple of the launches of a step, so that every kernel
occurs as often as in whole steps. ncu runs kernels one by one, at the clock of a GPU that pauses between kernels.
"""
import argparse
import collections
import csv
import json
import pathlib
import sys

METRIC = "gpu__time_duration.sum"
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3}


def kernel_times(text: str) -> list[dict]:
    """Returns one dict per symbol: its launches and their total microseconds. Skips lines that the program printed."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    launches = collections.defaultdict(list)
    for row in csv.DictReader(lines):
        if row.get("Metric Name") != METRIC:
            continue
        unit = row["Metric Unit"]
        if unit not in MICROSECONDS:
            raise ValueError(f"{METRIC} in '{unit}': not one of {', '.join(MICROSECONDS)}")
        launches[row["Kernel Name"]].append(float(row["Metric Value"].replace(",", "")) * MICROSECONDS[unit])
    return [{"symbol": symbol, "launches": len(times), "total_us": sum(times)} for symbol, times in launches.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("json", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        kernels = kernel_times(arguments.csv.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"{arguments.csv}: {error}")
    if not kernels:
        sys.exit(f"{arguments.csv}: no line has {METRIC}; give what ncu --csv --metrics {METRIC} printed")
    arguments.json.write_text(json.dumps({"case": arguments.case, "kernels": kernels}, indent=0) + "\n")


if __name__ == "__main__":
    main()
