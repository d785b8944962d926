"""The counters of bench/counters.md: their names, and their values from a record. Journals have only records.

The formulas are the same as in src/core/counters.cpp. A test compares them with every committed file.
"""

from __future__ import annotations

import math
from typing import Any

Record = dict[str, Any]

# The counters that any family may have, in the order of the page. A family's own counters follow if a file has them.
GENERAL = (
    "real_time", "median_ms", "p10_ms", "p90_ms", "min_ms", "mean_ms", "std_ms", "relative_iqr", "first_ms", "forward_ms",
    "backward_ms", "optimizer_ms", "wall_ms", "enqueue_ms", "drain_ms", "host_bound", "device_ms", "idle_share",
    "host_share", "launch_budget_us", "queue_gap_us", "longest_gap_us", "kernels_per_step", "launches_per_step", "launches_per_sample", "resolution_limited", "duty",
    "cpu_time", "tokens_per_second", "flop_per_second", "bytes_per_second", "ceiling_share", "floor_share", "above_ceiling",
    "mfu", "hfu", "peak_share_at_clock", "peak_requested_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "joules_per_step", "joules_per_token",
    "sm_clock_mhz", "power_w",
)  # fmt: skip
FLAGS = ("host_bound", "resolution_limited", "above_ceiling")  # 0 or 1
MEASUREMENT_ERROR = 1.02  # a share of a ceiling above it means that the formula or the timing is wrong
COPIES = ("memcpy", "memset")  # the classes of a trace's operations that are not kernels
QUEUE_GAP_S = 1.35e-6  # gap between two operations of a queue that is never empty
HOST_BOUND_SHARE = 0.03  # fraction of a step; if the host's share is larger, the host limits the step
HOST_BOUND_DRAIN = 0.05  # fraction of a step; if less is left after the last enqueue, the device kept up
LONGEST_TRACE = 1.02  # ratio to the timed step; a longer device time disagrees with the step


def counters_of(record: Record) -> dict[str, float]:
    """Returns every counter of bench/counters.md that the record has, in the units of that page."""
    counters = {name: float(value) for name, value in record["counters"].items()}
    timing = record.get("timing")
    if timing is not None:
        counters |= _times(timing) | _rates(record, timing["median_s"]) | _device(record)
        if "trace" in record:
            counters |= _trace(record)
    counters |= _memory(record.get("memory", {}))
    return {name: value for name, value in counters.items() if math.isfinite(value)}


def _renamed(source: Record, names: dict[str, str], scale: float = 1.0) -> dict[str, float]:
    return {name: source[key] * scale for key, name in names.items() if key in source}


def _times(timing: Record) -> dict[str, float]:
    in_ms = {"median_s": "real_time", "cpu_s": "cpu_time", "standard_deviation_s": "std_ms"}
    counters = _renamed(timing, in_ms, 1e3)
    same = ("median", "p10", "p90", "min", "mean", "wall", "enqueue", "drain")
    counters |= _renamed(timing, {f"{name}_s": f"{name}_ms" for name in same}, 1e3)
    counters |= _renamed(timing["warm_up"], {"first_s": "first_ms"}, 1e3)
    counters |= {f"{phase['name']}_ms": phase["median_s"] * 1e3 for phase in timing["phases"]}
    counters |= _renamed(timing, {"relative_iqr": "relative_iqr"})
    counters["host_bound"] = float(timing["host_bound"])
    if timing.get("regime") == "burst":
        bursts = ("launches_per_sample", "resolution_limited", "duty")
        counters |= {name: float(timing[name]) for name in bursts if name in timing}
    return counters


def _rates(record: Record, step_s: float) -> dict[str, float]:
    """Returns the counters that are rates. `step_s`: the median step in seconds."""
    work = record.get("work")
    if work is None:
        return {}
    counters: dict[str, float] = {}
    if work["tokens"] > 0:
        counters["tokens_per_second"] = work["tokens"] / step_s
    if work.get("bytes", 0) > 0:
        counters["bytes_per_second"] = work["bytes"] / step_s
    if "bus_factor" in record["counters"]:
        counters["bus_bytes_per_second"] = record["counters"]["bus_factor"] * work["bytes"] / step_s
    if work["flop"] > 0:
        counters["flop_per_second"] = work["flop"] / step_s
        if "datasheet_peak_flop_per_s" in record:
            counters["peak_share_at_clock"] = work["flop"] / step_s / record["datasheet_peak_flop_per_s"]
        if "boost_peak_flop_per_s" in record:
            counters["mfu"] = work.get("least_flop", work["flop"]) / step_s / record["boost_peak_flop_per_s"]
            counters["hfu"] = work["flop"] / step_s / record["boost_peak_flop_per_s"]
    if "floor_s" in record:
        counters["floor_share"] = record["floor_s"] / step_s
    numerator = work.get("bytes", 0) or work.get("least_flop", work["flop"])
    if "ceiling_per_second" in record and numerator > 0:
        share = numerator / step_s / record["ceiling_per_second"]
        timing = record["timing"]
        may_lie_in_caches = work.get("bytes", 0) > 0 and timing.get("regime") == "burst" and timing.get("l2") != "cold"
        counters |= {"ceiling_share": share, "above_ceiling": float(share > MEASUREMENT_ERROR and not may_lie_in_caches)}
    return counters


def _trace(record: Record) -> dict[str, float]:
    trace, timing = record["trace"], record["timing"]
    # Added term by term: sum() compensates rounding errors since Python 3.12, and the C++ code does not.
    kernels = operations = 0.0
    for kernel in trace["kernels"]:
        kernels += 0 if kernel["class"] in COPIES else kernel["calls"]
        operations += kernel["calls"]
    counters = {
        "longest_gap_us": trace["longest_gap_s"] * 1e6,
        "kernels_per_step": kernels,
        "launches_per_step": float(trace["launches"]),
    }
    if "queue_gap_s" in record:
        counters["queue_gap_us"] = record["queue_gap_s"] * 1e6
    device_s, step_s = _device_time(record), timing["median_s"]
    if device_s > step_s * LONGEST_TRACE:
        return counters
    counters |= {"device_ms": device_s * 1e3, "idle_share": 1 - device_s / step_s}
    if timing.get("regime") == "burst":
        return counters
    busy_s = device_s + max(record.get("queue_gap_s", QUEUE_GAP_S), QUEUE_GAP_S) * operations
    counters["host_share"] = 1 - busy_s / step_s
    if trace["launches"] > 0:
        counters["launch_budget_us"] = busy_s / trace["launches"] * 1e6
    has_exchange = any(kernel["class"] == "collective" for kernel in trace["kernels"])
    is_caught_up = "drain_s" in timing and timing["drain_s"] < step_s * HOST_BOUND_DRAIN
    counters["host_bound"] = float(counters["host_share"] > HOST_BOUND_SHARE or (is_caught_up and has_exchange))
    return counters


def _device_time(record: Record) -> float:
    """Returns the GPU's own seconds in a step. If cycles were counted in the timed and in the traced steps, the time is
    converted to the clock of the timed steps. This conversion does not make it longer than the step."""
    traced = record["trace"].get("sm_clock_counted_hz", 0)
    timed = record.get("device", {}).get("sm_clock_counted_hz", 0)
    as_traced = record["trace"]["device_s"]
    scaled = as_traced * (traced / timed) if traced and timed else as_traced
    return scaled if scaled < as_traced else max(as_traced, min(scaled, record["timing"]["median_s"]))


def _device(record: Record) -> dict[str, float]:
    device = record.get("device", {})
    counters = _renamed(device, {"power_w": "power_w", "energy_per_step_j": "joules_per_step"})
    if "sm_clock_p50_hz" in device:
        counters["sm_clock_mhz"] = device["sm_clock_p50_hz"] / 1e6
    tokens = record.get("work", {}).get("tokens", 0)
    if "energy_per_step_j" in device and tokens > 0:
        counters["joules_per_token"] = device["energy_per_step_j"] / tokens
    return counters


def _memory(memory: Record) -> dict[str, float]:
    peaks = ("allocated", "requested", "reserved")
    return {f"peak_{name}_bytes": float(memory[f"{name}_peak_bytes"]) for name in peaks if f"{name}_peak_bytes" in memory}
