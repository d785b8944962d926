#!/usr/bin/env python3
"""memory.pickle opens in PyTorch's own code, with the totals of the log.

    memory_viz_test.py MEMORY_WRITER
"""
import csv
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from skipping import skipped  # noqa: E402

try:
    import torch.cuda._memory_viz as memory_viz
except ImportError:
    sys.exit(skipped("there is no torch"))

BEFORE = 1_000
GRADIENT = 5_000_000_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        with open(pathlib.Path(folder) / "memory.pickle", "rb") as file:
            data = pickle.load(file)
        with open(pathlib.Path(folder) / "memory.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    events = data["device_traces"][0]
    allocated = sum(event["size"] for event in events if event["action"] == "alloc")
    freed = sum(event["size"] for event in events if event["action"] == "free_completed")
    assert allocated == 2 * (300 + GRADIENT) and freed == 600 + GRADIENT, (allocated, freed)
    # The end has the memory from before the log, and the gradient.
    live = BEFORE + GRADIENT
    assert sum(segment["total_size"] for segment in data["segments"]) == live
    summary = memory_viz.segsum(data)
    assert f"total_allocated: {memory_viz.Bytes(live)}" in summary, summary
    # The table has the same allocations.
    assert [int(row["bytes"]) for row in rows if int(row["bytes"]) > 0] == [
        event["size"] for event in events if event["action"] == "alloc"
    ]
    assert int(rows[-1]["allocated bytes"]) == live
    assert {(row["step"], row["phase"]) for row in rows} == {(s, p) for s in "12" for p in ("forward", "backward")}
    # The ranges are the stacks. The innermost range comes first, but in the flame graph the outermost does.
    flames = memory_viz.memory(data, format_flamegraph=lambda lines: lines)
    assert re.search(rf":BACKWARD;:0:layer\.1 {GRADIENT}\b", flames), flames
    assert f":0:(before the log) {BEFORE}" in flames, flames
    log = memory_viz.trace(data)
    assert log.count("free completed") == 5 and f"{len(events)} entries" in log, log


main()
