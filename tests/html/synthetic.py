"""Results files for the browser tests, made from the golden file: records of families and sizes that it does not have.
"""

import copy
import itertools
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from entries import follow_record  # noqa: E402

HOSTILE = "</script><img src=x onerror=window.hacked=1>&{{data}}"


def quantile(ordered, share):
    """Returns a quantile by linear interpolation."""
    position = (len(ordered) - 1) * share
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def with_statistics(timing):
    """Returns the timing with statistics that follow from its samples."""
    ordered = sorted(timing["samples_s"])
    count, median = len(ordered), quantile(ordered, 0.5)
    for name in ("standard_deviation_s", "relative_iqr", "relative_half_width"):
        timing.pop(name, None)
    timing |= {"median_s": median, "p10_s": quantile(ordered, 0.1), "p90_s": quantile(ordered, 0.9), "min_s": ordered[0],
               "mean_s": statistics.fmean(ordered)}
    if count > 1:
        timing["standard_deviation_s"] = statistics.stdev(ordered)
        timing["relative_iqr"] = (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / median
    low = math.floor(count / 2 - 0.98 * math.sqrt(count))
    high = math.ceil(1 + count / 2 + 0.98 * math.sqrt(count))
    if low >= 1 and high <= count:
        timing["relative_half_width"] = (ordered[high - 1] - ordered[low - 1]) / 2 / median
    return timing


def refreshed(results):
    """Updates everything that repeats the records or follows from their samples."""
    for entry in results["benchmarks"]:
        if "tbench" not in entry:
            continue
        if "timing" in entry["tbench"]:
            with_statistics(entry["tbench"]["timing"])
        follow_record(entry)
    return results


def entry_like(timed, family, parameters, median_s=None, **counters):
    """Returns an entry with a time. If the median is given, all samples equal it, and the GPU works for nine tenths of
    it.
    """
    entry = copy.deepcopy(timed)
    record = entry["tbench"]
    record["family"], record["parameters"] = family, parameters
    record["counters"] = counters
    if median_s is not None:
        timing = record["timing"]
        timing["samples_s"], timing["flagged_samples"] = [median_s] * 3, []
        if "trace" in record:
            record["trace"]["device_s"] = 0.9 * median_s
    return entry


def grid(**axes):
    """Returns all combinations. The last axis varies fastest."""
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def attention_parameters(**changes):
    axes = {"batch": ["8"], "heads": ["1"], "d_model": ["64"], "seq_len": ["256", "1024", "4096", "16384"], "causal": ["1"],
            "pass": ["forward", "backward"], "precision": ["bf16"], "impl": ["naive", "flash", "sdpa_flash"]}
    return grid(**(axes | changes))


def ceiling_entries(timed, ceilings):
    """Returns ceilings by `what`, in bytes or FLOP per second, in both regimes. Sustained ones are lower by a tenth."""
    entries = []
    for regime, factor in (("burst", 1), ("sustained", 0.9)):
        for what, moved, flop in ceilings:
            entry = entry_like(timed, "Ceiling", {"what": what, "regime": regime}, 1e-3)
            entry["tbench"]["work"] = {"flop": flop * factor * 1e-3, "tokens": 0, "bytes": round(moved * factor * 1e-3)}
            entries.append(entry)
    return entries


def held_against(entry, flop, moved, ceiling, per_second):
    """Sets the work of the entry, and the ceiling of its rate."""
    entry["tbench"]["work"] = {"flop": flop, "tokens": 0, "bytes": round(moved), "ceiling": ceiling}
    entry["tbench"]["ceiling_per_second"] = per_second
    return entry


SQUARES = ("256", "1024", "2048", "4096", "8192", "16384")
SHAPES = (("2048", "4096", "1024"), ("2048", "1024", "4096"))


def operations(golden):
    """Returns ceilings, matrix products of squares and of two other shapes, kernels by operation (one of them above its
    ceiling), and a case with labels.
    """
    timed = golden["benchmarks"][0]
    entries = ceiling_entries(timed, (("copy", 4e12, 0), ("l2_read", 1e13, 0), ("gemm_bf16", 0, 8e14), ("gemm_fp32", 0, 5e13)))
    for precision, peak in (("bf16", 8e14), ("fp32", 5e13)):
        for impl, share in (("cublas", 0.9), ("cublaslt", 0.95)):
            for m, n, k in [(size,) * 3 for size in SQUARES] + list(SHAPES):
                flop = 2.0 * int(m) * int(n) * int(k)
                parameters = {"m": m, "n": n, "k": k, "precision": precision, "impl": impl}
                entry = entry_like(timed, "Gemm", parameters, flop / (peak * share * int(m) / (int(m) + 512)))
                entries.append(held_against(entry, flop, 0, f"gemm_{precision}", peak))
    for parameters in grid(op=["rmsnorm", "softmax", "swiglu", "adamw"], size=["small", "xl"], ctx=["512"], batch=["4"],
                           **{"pass": ["forward", "backward"]}, precision=["bf16"], impl=["aten", "fused"]):
        share = 0.4 if parameters["impl"] == "aten" else 1.1 if parameters["op"] == "adamw" else 0.85
        moved = 1e8 if parameters["size"] == "small" else 4e8
        entry = entry_like(timed, "Kernel", parameters, moved / (4e12 * share))
        entries.append(held_against(entry, moved / 4, moved, "copy", 4e12))
    found = entry_like(timed, "Autocast", {"precision": "fp16"}, 1e-4)
    found["tbench"]["findings"] = {"layer_norm": "float32", "linear": "float16 " + HOSTILE}
    entries.append(found)
    results = {"context": copy.deepcopy(golden["context"]), "benchmarks": entries}
    return refreshed(results)


def training(golden, implementations):
    """Returns training steps of two sizes at four contexts for every implementation. The last implementation has no
    medium.
    """
    timed = golden["benchmarks"][0]
    entries = []
    for number, parameters in enumerate(grid(size=["small", "medium"], ctx=["128", "256", "512", "1024"], batch=["4"], **{"pass": ["train_step"]},
                                             precision=["bf16"], impl=list(implementations))):
        if parameters["size"] == "medium" and parameters["impl"] == implementations[-1]:
            continue
        entry = entry_like(timed, "Model", parameters, 1e-3 * (8 + number))
        entry["tbench"]["work"]["tokens"] = 4 * int(parameters["ctx"])
        entries.append(entry)
    return refreshed({"context": copy.deepcopy(golden["context"]), "benchmarks": entries})


def kernel(phase, kernel_class, calls, total_ms):
    return {"phase": phase, "class": kernel_class, "name": f"{kernel_class}_of_{phase}", "calls": calls, "total_s": total_ms * 1e-3,
            "min_s": 1e-6, "max_s": total_ms * 1e-3}


STEP = [("forward", "gemm", 85, 4), ("forward", "softmax_forward", 12, 1.5), ("forward", "elementwise", 60, 1), ("forward", "norm", 25, 0.5),
        ("backward", "gemm", 170, 8), ("backward", "softmax_backward", 12, 1.25), ("backward", "elementwise", 120, 2), ("backward", "memset", 1, 0.01),
        ("optimizer", "optimizer", 12, 3), ("optimizer", "memcpy", 1, 0.01)]


RANGES = [("FORWARD", 7), ("FORWARD/layer.*", 6), ("FORWARD/layer.*/attention", 4), ("FORWARD/layer.*/attention/attention.qkv", 3), ("FORWARD/layer.*/ffn", 2), ("FORWARD/loss", 0.5), ("BACKWARD", 11.26),
          ("OPTIMIZER", 3.01)]  # path, ms on the GPU


def ranges(golden, factor):
    """Returns RANGES in the form of a trace, with times multiplied by `factor`."""
    one = golden["benchmarks"][0]["tbench"]["trace"]["ranges"][0]
    return [one | {"path": path, "gpu_sum_s": factor * ms * 1e-3} for path, ms in RANGES]


def traced(golden):
    """Returns training steps of two sizes with the trace STEP. For sdpa, fused attention replaces gemm and softmax. The
    host limits the small size. Also returns a kernel with one phase and one operation, and a step without a trace.
    """
    timed = golden["benchmarks"][0]
    entries = []
    for parameters in grid(size=["small", "xl"], ctx=["512"], batch=["4"], **{"pass": ["train_step"]}, precision=["bf16"], impl=["eager", "sdpa"]):
        factor = 1 if parameters["size"] == "small" else 10
        host, device, others = (5, 0.5, 0.1) if parameters["size"] == "small" else (0, 3, 0.2)
        kernels = [kernel(phase, "attention_fused" if parameters["impl"] == "sdpa" and "softmax" in name else name, calls, factor * ms) for phase, name, calls, ms in STEP]
        work = sum(k["total_s"] for k in kernels)
        entry = entry_like(timed, "Model", parameters, work + 1e-3 * (device + others))
        entry["tbench"]["trace"] |= {"span_s": work + 1e-3 * (host + device + others), "device_s": work, "host_gaps_s": 1e-3 * host, "device_gaps_s": 1e-3 * device,
                                     "other_gaps_s": 1e-3 * others, "longest_gap_s": 2e-4, "launches": 498, "kernels": kernels,
                                     "ranges": ranges(golden, factor)}
        entries.append(entry)
    alone = entry_like(timed, "Kernel", {"op": "rmsnorm", "size": "xl", "ctx": "512", "batch": "4", "pass": "forward", "precision": "bf16", "impl": "aten"}, 1e-3)
    alone["tbench"]["trace"] |= {"span_s": 1e-3, "device_s": 1e-3, "host_gaps_s": 0, "device_gaps_s": 0, "other_gaps_s": 0, "longest_gap_s": 0, "launches": 1,
                                 "kernels": [kernel("forward", "norm", 1, 1)]}
    untraced = entry_like(timed, "Model", timed["tbench"]["parameters"] | {"size": "large", "impl": "eager"}, 0.1)
    del untraced["tbench"]["trace"]
    return refreshed({"context": copy.deepcopy(golden["context"]), "benchmarks": [*entries, alone, untraced]})


def steps(golden):
    """Returns training steps of two sizes, for two implementations and executions, with ceilings of 400 TFLOP/s and 4
    TB/s. The trace is STEP, and ten times longer for xl. The host limits steps on a stream. Graphs are shorter than
    the GPU's own time, so their idle time is below 0. flash as a graph of xl is out of memory.
    """
    timed, failed = golden["benchmarks"][0], golden["benchmarks"][1]
    entries = [held_against(entry_like(timed, "Ceiling", {"what": "copy", "regime": "burst"}, 1e-3), 0, 4e9, "", 0)]
    del entries[0]["tbench"]["work"]["ceiling"], entries[0]["tbench"]["ceiling_per_second"]
    for parameters in grid(size=["small", "xl"], ctx=["512"], batch=["4"], **{"pass": ["train_step"]}, precision=["bf16"], impl=["eager", "sdpa", "flash"],
                           exec=["", "graph"]):
        if not parameters["exec"]:
            del parameters["exec"]
        if parameters["size"] == "xl" and parameters["impl"] == "flash" and "exec" in parameters:
            entry = copy.deepcopy(failed)
            entry["tbench"]["family"], entry["tbench"]["parameters"] = "Model", parameters
            entries.append(entry)
            continue
        factor = 10 if parameters["size"] == "xl" else 1
        kernels = [kernel(phase, "attention_fused" if parameters["impl"] != "eager" and "softmax" in name else name, calls, factor * ms)
                   for phase, name, calls, ms in STEP]
        work = sum(k["total_s"] for k in kernels)
        entry = entry_like(timed, "Model", parameters, work * (0.98 if "exec" in parameters else 1.25))
        entry["tbench"]["trace"] |= {"span_s": work, "device_s": work, "host_gaps_s": 0, "device_gaps_s": 0, "other_gaps_s": 0, "longest_gap_s": 0,
                                     "launches": 498, "kernels": kernels}
        entry["tbench"]["work"]["ceiling"], entry["tbench"]["ceiling_per_second"] = "gemm_bf16", 4e14
        entries.append(entry)
    return refreshed({"context": copy.deepcopy(golden["context"]), "benchmarks": entries})


PROCESSES = 5


def processes(golden, factors):
    """Returns five processes of a training step for each size. `factors` says by size how much longer it takes."""
    timed = golden["benchmarks"][0]
    entries = []
    for number, size in enumerate(["small", "medium", "large", "xl"]):
        for index in range(PROCESSES):
            parameters = timed["tbench"]["parameters"] | {"size": size}
            noise = 1 + 0.001 * ((3 * index + number) % PROCESSES)
            entry = entry_like(timed, "Model", parameters, 0.02 * (1 + number) * noise * factors.get(size, 1))
            entry["tbench"]["repetition_index"], entry["tbench"]["repetitions"] = index, PROCESSES
            entries.append(entry)
    results = {"context": copy.deepcopy(golden["context"]), "benchmarks": entries}
    results["context"]["tbench"]["options"]["processes"] = str(PROCESSES)
    return refreshed(results)


def attention(golden):
    """Returns the attention grid. Time grows with the square of the length, and naive is out of memory at 16384. Also
    returns three ceilings in bursts and one of chained steps, two operations whose bytes are counted, one of them
    also in fp16, which has no ceiling, and a step whose bytes are not counted.
    """
    timed, failed = golden["benchmarks"][0], golden["benchmarks"][1]
    entries = []
    for parameters in attention_parameters():
        if parameters["impl"] == "naive" and parameters["seq_len"] == "16384":
            entry = copy.deepcopy(failed)
            entry["tbench"]["family"], entry["tbench"]["parameters"] = "Attention", parameters
        else:
            entry = entry_like(timed, "Attention", parameters, 1e-9 * int(parameters["seq_len"]) ** 2)
        entries.append(entry)
    for what, regime, flop, moved in (("copy", "burst", 0, 4.3e9), ("gemm_bf16", "burst", 8e11, 0),
                                      ("gemm_bf16", "sustained", 7e11, 0), ("gemm_fp32", "burst", 5e10, 0)):
        entry = entry_like(timed, "Ceiling", {"what": what, "regime": regime}, 1e-3)
        entry["tbench"]["work"] = {"flop": flop, "tokens": 0, "bytes": int(moved)}
        entries.append(entry)
    for op, precision in (("rmsnorm", "bf16"), ("softmax", "bf16"), ("softmax", "fp16")):
        entry = entry_like(timed, "Kernel", {"op": op, "precision": precision, "impl": "aten"}, 1e-3)
        entry["tbench"]["work"] = {"flop": 1e9, "tokens": 0, "bytes": 2_000_000_000}
        entries.append(entry)
    entries.append(entry_like(timed, "Warmup", {"size": "small", "ctx": "512"}, 1e-3))
    return refreshed({"context": golden["context"], "benchmarks": entries})


def many(golden, count, samples):
    """Returns `count` cases of the Model family, each with `samples` different samples."""
    timed = golden["benchmarks"][0]
    parameters = grid(size=["small", "medium", "large", "xl", "2.7B"], ctx=["64", "128", "256", "512", "1024"],
                      batch=[str(2 ** i) for i in range(9)], **{"pass": ["forward", "forward_backward", "train_step"]},
                      precision=["fp32", "tf32", "bf16", "fp16"], impl=["eager", "sdpa", "fused", "other"])
    entries = []
    for number, values in enumerate(parameters[:count]):
        entry = entry_like(timed, "Model", values)
        base = 1e-3 * (1 + number % 97)
        timing = entry["tbench"]["timing"]
        timing["samples_s"] = [base * (1 + 1e-4 * ((number * 31 + i * 7) % 101)) for i in range(samples)]
        timing["flagged_samples"] = [1]
        entries.append(entry)
    assert len(entries) == count
    return refreshed({"context": golden["context"], "benchmarks": entries})


def load(path):
    with open(path) as file:
        return json.load(file)
