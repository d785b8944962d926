"""Recomputes the rows of the parts of attention, and of the classes with softmax, for writeup_oracle_test.py."""

import re

from oracle_cases import LAYERS, total_ms


def is_inside(path, label):
    return label in path.split("/")


def core_operations(case, phase):
    """The operations of attention's core in a phase as (part, word, is a kernel, calls, ms)."""
    trace = case.record["trace"]
    for entry in trace["range_kernels"]:
        path, kernel = trace["ranges"][entry["range"]]["path"], trace["kernels"][entry["kernel"]]
        if kernel["phase"] != phase or not re.search(r"attention\.(scores|softmax|context)", path):
            continue
        part = "others"
        if is_inside(path, "attention.softmax"):
            part = "softmax"
        elif kernel["class"] == "gemm":
            part = "QK^T" if is_inside(path, "attention.scores") else "attention times V"
        yield part, step_of_softmax(kernel), not kernel["class"].startswith("mem"), entry["calls"], 1e3 * entry["total_s"]


def step_of_softmax(kernel):
    """The step of ATen's kernels by a part of their name that no other step has."""
    parts = {"MaxNanFunctor": "maximum", "CUDAFunctor_add": "subtraction", "exp_kernel_cuda": "exponential",
             "sum_functor": "sum", "DivFunctor": "division"}
    found = [step for part, step in parts.items() if part in kernel["name"]]
    return "cast" if kernel["class"] == "cast" else found[0] if found else "other"


def selected_operations(operations, name):
    """The operations of a row, whose name may be that of a sum."""
    softmax = [operation for operation in operations if operation[0] == "softmax"]
    with_steps = {"(softmax with exponential)": lambda step: True,
                  "(softmax without exponential)": lambda step: step != "exponential",
                  "(subtraction and exponential)": lambda step: step in ("subtraction", "exponential")}
    if name in ("(core)", "(all)"):
        return operations
    if name in ("softmax", "QK^T", "attention times V", "others"):
        return [operation for operation in operations if operation[0] == name]
    wanted = with_steps.get(name if name.startswith("(") else f"({name})", lambda step: step == name)
    return [operation for operation in softmax if wanted(operation[1])]


def ms_of(operations):
    return sum(ms for *_, ms in operations)


def kernels_of(operations):
    return sum(count for _, _, is_kernel, count, _ in operations if is_kernel)


def part_row(case, row, _):
    core = list(core_operations(case, "forward"))
    own = ms_of(selected_operations(core, row["part"]))
    return {"ms": own, "% of core": 100 * own / ms_of(core),
            "% of forward": 100 * own / total_ms(case.phase("forward"))}


def softmax_row(case, row, _):
    own = selected_operations(list(core_operations(case, "forward")), row["step"])
    return {"kernels": kernels_of(own), "ms": ms_of(own),
            "% of forward": 100 * ms_of(own) / total_ms(case.phase("forward"))}


def layer_row(case, row, _):
    core = list(core_operations(case, row["phase"]))
    own = selected_operations(core, row["part"])
    layers = LAYERS[case.record["parameters"]["size"]]
    return {"kernels": kernels_of(own) / layers, "mean us": 1e3 * ms_of(own) / layers,
            "% of core": 100 * ms_of(own) / ms_of(core), "% of phase": 100 * ms_of(own) / total_ms(case.phase(row["phase"]))}


def softmax_class_row(case, row, _):
    trace = case.record["trace"]
    names = {"gemm": "matrix products", "elementwise": "elementwise", "optimizer": "optimizer", "reduction": "reduction"}
    found = {}

    def add(name, count, ms):
        for one in (name, "(all)"):
            known = found.get(one, (0, 0))
            found[one] = (known[0] + count, known[1] + ms)

    for kernel in trace["kernels"]:
        add(names.get(kernel["class"], "other"), kernel["calls"], 1e3 * kernel["total_s"])
    for entry in trace["range_kernels"]:
        kernel = trace["kernels"][entry["kernel"]]
        if is_inside(trace["ranges"][entry["range"]]["path"], "attention.softmax"):
            add(names.get(kernel["class"], "other"), -entry["calls"], -1e3 * entry["total_s"])
            add(f"softmax {kernel['phase']}", entry["calls"], 1e3 * entry["total_s"])
    count, ms = found[row["class"]]
    return {"operations": count, "total ms": ms, "% of GPU time": 100 * ms / found["(all)"][1]}
