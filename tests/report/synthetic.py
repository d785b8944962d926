"""Results files for the browser tests, made from the golden one: records of families and sizes that it does not hold."""

import copy
import itertools
import json


def refreshed(results):
    """Fields outside of `tbench` repeat it and have to agree."""
    for entry in results["benchmarks"]:
        if "tbench" not in entry:
            continue
        record = entry["tbench"]
        name = "/".join([record["family"], *(f"{k}:{v}" for k, v in record["parameters"].items())])
        entry["name"] = entry["run_name"] = name
    return results


def entry_like(timed, family, parameters, median_s=None, **counters):
    """An entry with a time; where the median is given, all samples are it."""
    entry = copy.deepcopy(timed)
    record = entry["tbench"]
    record["family"], record["parameters"] = family, parameters
    record["counters"] = counters
    if median_s is not None:
        timing = record["timing"]
        timing["samples_s"], timing["flagged_samples"], timing["median_s"] = [median_s] * 3, [], median_s
    return entry


def grid(**axes):
    """All combinations, the last axis fastest."""
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def attention_parameters(**changes):
    axes = {"batch": ["8"], "heads": ["1"], "d_model": ["64"], "seq_len": ["256", "1024", "4096", "16384"], "causal": ["1"],
            "pass": ["forward", "backward"], "precision": ["bf16"], "impl": ["naive", "flash", "sdpa_flash"]}
    return grid(**(axes | changes))


def attention(golden):
    """The attention grid: time grows with the square of the length, naive is out of memory at 16384; three ceilings of
    bursts and one of chained steps, and two operations whose bytes are counted."""
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
    for op in ("rmsnorm", "softmax"):
        entry = entry_like(timed, "Kernel", {"op": op, "impl": "aten"}, 1e-3)
        entry["tbench"]["work"] = {"flop": 1e9, "tokens": 0, "bytes": 2_000_000_000}
        entries.append(entry)
    return refreshed({"context": golden["context"], "benchmarks": entries})


def many(golden, count, samples):
    """So many cases of the Model family, each with so many samples that all differ."""
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
        timing["median_s"], timing["flagged_samples"] = sorted(timing["samples_s"])[samples // 2], [1]
        entries.append(entry)
    assert len(entries) == count
    return refreshed({"context": golden["context"], "benchmarks": entries})


def load(path):
    with open(path) as file:
        return json.load(file)
