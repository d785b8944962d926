#!/usr/bin/env python3
"""Cells of the Model family that several processes measured: those that move are flagged `host_bound`, quiet ones are not.

    python_host_bound_test.py SOURCE_DIR SERIES_WRITER

A cell is a case of stock libraries on a stream, on one GPU model; builds for other architectures, of the folder portable,
do not count. The GPU's own time of a cell repeats, so that a process without a trace has that of the one with the shortest.
Exit status 77: pandas is not installed.
"""

import collections
import unittest

from python_support import RESULTS, entries_of, load, main

from tbench.counters import counters_of

MOVING, QUIET = 1.05, 1.0075  # the slowest process over the fastest one


def counts(record):
    own = record["parameters"].get("impl") == "fused" or "exec" in record["parameters"]
    return record["family"] == "Model" and "timing" in record and not own


def cells():
    """Records by GPU and name, those of copied files once."""
    found = collections.defaultdict(dict)
    for path in RESULTS.rglob("*.json.gz"):
        if "portable" in path.parts or "tbench" not in (file := load(path)).get("context", {}):
            continue
        gpu = file["context"]["tbench"]["environment"]["gpu"]["name"]
        for entry in entries_of(file):
            if counts(record := entry["tbench"]):
                found[gpu, entry["name"]][tuple(record["timing"]["samples_s"])] = record
    return [list(records.values()) for records in found.values() if len(records) > 1]


def is_flagged(records):
    traces = [record["trace"] for record in records if "trace" in record]
    shortest = min(traces, key=lambda trace: trace["device_s"])
    return any(counters_of({"trace": shortest} | record)["host_bound"] for record in records)


class Cells(unittest.TestCase):
    def test_moving_ones_are_flagged_and_quiet_ones_are_not(self):
        moving, quiet = [], []
        for records in cells():
            if not any("trace" in record for record in records):
                continue
            medians = [record["timing"]["median_s"] for record in records]
            spread = max(medians) / min(medians)
            if spread > MOVING:
                moving.append(is_flagged(records))
            elif spread < QUIET:
                quiet.append(is_flagged(records))
        # Results that are added later add cells.
        self.assertGreaterEqual(len(moving), 38)
        self.assertGreaterEqual(len(quiet), 20)
        self.assertGreaterEqual(sum(moving) / len(moving), 36 / 38)
        self.assertLessEqual(sum(quiet) / len(quiet), 1 / 20)


if __name__ == "__main__":
    main()
