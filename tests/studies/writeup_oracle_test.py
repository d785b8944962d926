"""Recomputes tables of `tbench report --study writeup --json` from the results files alone.

writeup_oracle_test.py TBENCH FILE...: each file holds a case once, and no two files hold the same case.
"""

import gzip
import json
import re
import subprocess
import sys
import unittest

MIB = 1024 * 1024
LAYERS = {"small": 12, "medium": 24, "large": 36, "xl": 48, "2.7B": 32}
HEADS = {"small": 12, "medium": 16, "large": 20, "xl": 25, "2.7B": 32}
D_MODEL = {"small": 768, "medium": 1024, "large": 1280, "xl": 1600, "2.7B": 2560}
D_FF = {"small": 3072, "medium": 4096, "large": 5120, "xl": 6400, "2.7B": 10240}
VOCABULARY = 10_000
SOFTMAX_PASSES = {"elementwise": 2, "reduction": 1}  # over the scores, by class of kernel
KEYS = ("size", "ctx", "batch", "pass", "precision", "impl")


def read_records(paths):
    """The cases of a model by their parameters, and the records of other families."""
    records, others = {}, []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for benchmark in json.load(file)["benchmarks"]:
                record = benchmark["tbench"]
                if record["family"] == "Model":
                    key = tuple(record["parameters"][name] for name in KEYS)
                    assert key not in records, f"{path}: measured twice: {key}"
                    records[key] = record
                else:
                    others.append(record)
    return records, others


class Case:
    """One case, and the operations of its phases: {phase: [operation, ...]}."""

    def __init__(self, record):
        self.record = record
        self.phases = {}
        for operation in record.get("trace", {}).get("kernels", []):
            self.phases.setdefault(operation["phase"], []).append(operation)

    def phase(self, name):
        """The operations of a phase, or of several phases with those of one name taken together."""
        several = {"forward and backward": ("forward", "backward"), "step": tuple(self.phases)}
        together = {}
        for part in several.get(name, (name,)):
            for operation in self.phases[part]:
                own = together.setdefault(operation["name"], dict(operation, calls=0, total_s=0))
                own["calls"] += operation["calls"]
                own["total_s"] += operation["total_s"]
        return list(together.values())


def total_ms(operations):
    return 1e3 * sum(operation["total_s"] for operation in operations)


def calls(operations):
    return sum(operation["calls"] for operation in operations)


def of_class(operations, name):
    return [operation for operation in operations if operation["class"] == name]


def kernels(operations):
    return [operation for operation in operations if operation["class"] not in ("memcpy", "memset")]


def ranked_row(case, row, _):
    found = sorted(kernels(case.phase(row["phase"])), key=lambda operation: -operation["total_s"])
    kernel = found[int(row["rank"]) - 1]
    return {"calls": kernel["calls"], "calls a layer": kernel["calls"] / LAYERS[case.record["parameters"]["size"]],
            "total ms": 1e3 * kernel["total_s"], "% of phase": 100 * 1e3 * kernel["total_s"] / total_ms(case.phase(row["phase"])),
            "% of step": 100 * 1e3 * kernel["total_s"] / sum(total_ms(phase) for phase in case.phases.values()),
            "mean us": 1e6 * kernel["total_s"] / kernel["calls"], "kernel": kernel["name"]}


def longest_row(case, row, _):
    kernel = max(kernels(case.phase(row["phase"])), key=lambda operation: operation["total_s"])
    return {"calls": kernel["calls"], "total ms": 1e3 * kernel["total_s"], "min us": 1e6 * kernel["min_s"],
            "max us": 1e6 * kernel["max_s"], "kernel": kernel["name"]}


def products_row(case, row, _):
    products = of_class(case.phase(row["phase"]), "gemm")
    layers = LAYERS[case.record["parameters"]["size"]]
    outside = {"forward": 1, "backward": 2}[row["phase"]]
    return {"calls": calls(products), "layers": layers, "calls per layer": (calls(products) - outside) / layers,
            "total ms": total_ms(products), "% of phase": 100 * total_ms(products) / total_ms(case.phase(row["phase"]))}


def other_class_row(case, row, _):
    operations = case.phase(row["phase"])
    own = ([operation for operation in operations if operation["class"] != "gemm"] if row["class"] == "(all)"
           else of_class(operations, row["class"]))
    return {"calls": calls(own), "total ms": total_ms(own), "% of phase": 100 * total_ms(own) / total_ms(operations)}


def class_row(case, row, _):
    step = [operation for operations in case.phases.values() for operation in operations]
    operations = step if row["phase"] == "(step)" else case.phases[row["phase"]]
    own = of_class(operations, row["class"])
    return {"operations": calls(own), "total ms": total_ms(own), "% of phase": 100 * total_ms(own) / total_ms(operations),
            "% of step": 100 * total_ms(own) / total_ms(step)}


def share_row(case, row, _):
    operations = case.phase(row["phase"])
    products = total_ms(of_class(operations, "gemm"))
    return {"matrix products ms": products, "kernels ms": total_ms(kernels(operations)),
            "of kernels %": 100 * products / total_ms(kernels(operations))}


def change_row(case, row, cases):
    parameters = dict(case.record["parameters"], **{"pass": "forward"})
    inference = cases[tuple(parameters[name] for name in KEYS)]

    def percent(of):
        step = kernels(of.phase("step"))
        return 100 * total_ms(of_class(step, row["class"])) / total_ms(step)

    return {"inference %": percent(inference), "training %": percent(case),
            "change pp": percent(case) - percent(inference)}


def time_row(case, _row, _):
    timing, memory = case.record["timing"], case.record["memory"]
    phases = {phase["name"]: 1e3 * phase["median_s"] for phase in timing.get("phases", [])}
    expected = {"mean ms": 1e3 * timing["mean_s"], "std ms": 1e3 * timing["standard_deviation_s"],
                "allocated MiB": memory["allocated_peak_bytes"] / MIB,
                "reserved MiB": memory["reserved_peak_bytes"] / MIB,
                "tokens/s": int(case.record["parameters"]["batch"]) * int(case.record["parameters"]["ctx"])
                / timing["mean_s"]}
    expected.update({f"{name} ms": value for name, value in phases.items()})
    return expected


def memory_row(case, _row, _):
    memory = case.record["memory"]
    return {"allocated MiB": memory["allocated_peak_bytes"] / MIB, "median ms": 1e3 * case.record["timing"]["median_s"],
            "parameters MiB": memory["split_bytes"].get("parameters", 0) / MIB}


def phase_memory_row(case, row, _):
    phase = next(phase for phase in case.record["memory"]["phases"] if phase["phase"] == row["phase"])
    return {"peak MiB": phase["allocated_peak_bytes"] / MIB, "held MiB": phase["held_bytes"] / MIB}


def phase_time_row(case, row, _):
    phases = case.record["timing"]["phases"]
    phase = next(phase for phase in phases if phase["name"] == row["phase"])
    return {"mean ms": 1e3 * phase["mean_s"], "std ms": 1e3 * phase["standard_deviation_s"],
            "% of step": 100 * phase["median_s"] / case.record["timing"]["median_s"],
            "/ forward": phase["median_s"] / phases[0]["median_s"]}


def range_kernel_row(case, row, _):
    trace = case.record["trace"]
    index = [entry["path"] for entry in trace["ranges"]].index(row["range"])
    own = [kernel for kernel in trace["range_kernels"] if kernel["range"] == index]
    named = [kernel for kernel in own if trace["kernels"][kernel["kernel"]]["name"] == row["kernel"]]
    total = sum(kernel["total_s"] for kernel in named)
    count = sum(kernel["calls"] for kernel in named)
    return {"calls": count, "total ms": 1e3 * total, "mean us": 1e6 * total / count,
            "% of range": 100 * total / sum(kernel["total_s"] for kernel in own)}


def range_gap_row(case, row, _):
    entry = next(entry for entry in case.record["trace"]["ranges"] if entry["path"] == row["range"])
    return {"operations": entry["operations"], "GPU ms": 1e3 * entry["gpu_sum_s"],
            "host gaps ms": 1e3 * entry["host_gaps_s"], "device gaps ms": 1e3 * entry["device_gaps_s"],
            "device gap us": 1e6 * entry["device_gaps_s"] / entry["operations"]}


def api_row(case, row, _):
    phase = next(phase for phase in case.record["trace"]["phases"] if phase["phase"] == row["phase"])
    found = [call for call in phase["calls"] if re.sub(r"_v\d+$", "", call["name"]) == row["function"]]
    host = sum(call["host_s"] for call in found)
    count = sum(call["calls"] for call in found)
    return {"calls": count, "host ms": 1e3 * host, "mean us": 1e6 * host / count}


def attention_row(case, row, _):
    attention = next(part for part in case.record["trace"]["attention"] if part["phase"] == row["phase"])
    softmax, scores, context, rest = (1e3 * attention[f"{part}_s"] for part in ("softmax", "scores", "context", "other"))
    return {"softmax ms": softmax, "QK^T ms": scores, "context ms": context, "rest ms": rest,
            "softmax % of all": 100 * softmax / (softmax + scores + context + rest),
            "softmax / matmul: time %": 100 * softmax / (scores + context)}


def attention_flop(case):
    """The FLOP of QK^T, softmax and context in one layer, and their bytes: each input and output once."""
    parameters = case.record["parameters"]
    batch, context, heads = int(parameters["batch"]), int(parameters["ctx"]), HEADS[parameters["size"]]
    head_dim = D_MODEL[parameters["size"]] // heads
    scores = batch * heads * context ** 2
    element = 4 if parameters["precision"] == "fp32" else 2
    product = (2 * scores * head_dim, element * (scores + 2 * batch * heads * context * head_dim))
    return {"QK^T": product, "softmax": (5 * scores, 2 * element * scores), "context": product}


def attention_flop_row(case, row, _):
    layers = 1 if row["part"] == "one layer" else LAYERS[case.record["parameters"]["size"]]
    flop = {name: 1e-9 * layers * flop for name, (flop, _) in attention_flop(case).items()}
    return {**{f"{name} GFLOP": value for name, value in flop.items()}, "sum GFLOP": sum(flop.values())}


def attention_times(case):
    attention = next(part for part in case.record["trace"]["attention"] if part["phase"] == "forward")
    return {"QK^T": attention["scores_s"], "softmax": attention["softmax_s"], "context": attention["context_s"],
            "rest": attention["other_s"]}


def attention_share_row(case, row, _):
    parts = {"products": ("QK^T", "context"), "softmax": ("softmax",), "rest": ("rest",)}[row["part"]]
    times, flop = attention_times(case), attention_flop(case)
    time = sum(times[part] for part in parts)
    found = {"ms": 1e3 * time, "% of time": 100 * time / sum(times.values())}
    if row["part"] != "rest":
        found["% of FLOP"] = 100 * sum(flop[part][0] for part in parts) / sum(count for count, _ in flop.values())
        found["time % / FLOP %"] = found["% of time"] / found["% of FLOP"]
    return found


def ceilings(cases, precision):
    """The rates of a large product and of the fastest large copies from device to device in training steps."""
    product = next(record for record in Oracle.others
                   if record["parameters"] == {"what": f"gemm_{precision}", "regime": "sustained"})
    copies = [2 * copy["bytes"] / copy["total_s"] for case in cases.values()
              for phase in case.record.get("trace", {}).get("phases", []) for copy in phase["copies"]
              if copy["name"] == "Memcpy DtoD" and copy["bytes"] >= 16 * MIB * copy["count"]
              and case.record["parameters"]["pass"] == "train_step"]
    return product["work"]["flop"] / product["timing"]["median_s"], max(copies)


def moved_by_softmax(case):
    trace = case.record["trace"]
    index = [entry["path"] for entry in trace["ranges"]].index("FORWARD/layer.*/attention/attention.softmax")
    passes = sum(kernel["calls"] * SOFTMAX_PASSES[trace["kernels"][kernel["kernel"]]["class"]]
                 for kernel in trace["range_kernels"] if kernel["range"] == index)
    return passes * attention_flop(case)["softmax"][1] / 2


def attention_rate_row(case, row, cases):
    part, precision = row["part"], case.record["parameters"]["precision"]
    flop, copied = (LAYERS[case.record["parameters"]["size"]] * count for count in attention_flop(case)[part])
    time = attention_times(case)[part]
    compute, memory = ceilings(cases, "fp32" if part == "softmax" else precision)
    found = {"TFLOP/s": 1e-12 * flop / time, "max TFLOP/s": 1e-12 * compute, "TB/s": 1e-12 * copied / time,
             "max TB/s": 1e-12 * memory, "FLOP/byte": flop / copied, "ridge": compute / memory,
             "limit": "memory" if flop / copied < compute / memory else "compute"}
    if part == "softmax" and precision == "fp32":
        found["moved TB/s"] = 1e-12 * moved_by_softmax(case) / time
    return found


def forward_counts(case):
    """The FLOP of a forward pass's matrix products, and (FLOP, bytes in float32) of each other operation."""
    parameters = case.record["parameters"]
    size, batch, context = parameters["size"], int(parameters["batch"]), int(parameters["ctx"])
    layers, width, hidden = LAYERS[size], D_MODEL[size], D_FF[size]
    tokens, scores = batch * context, layers * batch * HEADS[size] * context ** 2
    weights = layers * (4 * width ** 2 + 3 * width * hidden) + VOCABULARY * width
    products = 2 * tokens * weights + 4 * scores * width // HEADS[size]
    stream = tokens * width
    operations = {  # the number of elements, and FLOP and elements moved for each
        "embedding": (stream, 0, 2), "RMSNorm": ((2 * layers + 1) * stream, 4, 2), "RoPE": (2 * layers * stream, 3, 2),
        "scale and mask": (scores, 1, 2), "softmax": (scores, 5, 2), "SwiGLU": (layers * tokens * hidden, 5, 3),
        "residual": (2 * layers * stream, 1, 3)}
    return products, {name: (flop * count, 4 * moved * count) for name, (count, flop, moved) in operations.items()}


def flop_share_row(case, row, _):
    products, operations = forward_counts(case)
    other = sum(flop for flop, _ in operations.values())
    kernel_ms = total_ms(kernels(case.phase("forward")))
    product_ms = total_ms(of_class(case.phase("forward"), "gemm"))
    is_product = row["part"] == "matrix products"
    flop, ms = (products, product_ms) if is_product else (other, kernel_ms - product_ms)
    found = {"GFLOP": 1e-9 * flop, "% of FLOP": 100 * flop / (products + other), "ms": ms,
             "of kernels %": 100 * ms / kernel_ms}
    found["time % / FLOP %"] = found["of kernels %"] / found["% of FLOP"]
    return found


OPERATIONS = {"embedding": "embedding", "norm": "RMSNorm", "attention.rope_q": "RoPE", "attention.rope_k": "RoPE",
              "attention.scores": "scale and mask", "attention.mask": "scale and mask", "attention.softmax": "softmax",
              "ffn": "SwiGLU", "layer.*": "residual"}


def operation_row(case, row, cases):
    trace, times = case.record["trace"], {}
    for kernel in trace["range_kernels"]:
        last = trace["ranges"][kernel["range"]]["path"].split("/")[-1]
        if trace["kernels"][kernel["kernel"]]["class"] not in ("gemm", "memcpy", "memset"):
            for name in (OPERATIONS.get(last, "other"), "(all)"):
                times[name] = times.get(name, 0) + kernel["total_s"]
    _, operations = forward_counts(case)
    operations["(all)"] = tuple(sum(counts) for counts in zip(*operations.values()))
    time = times[row["part"]]
    found = {"ms": 1e3 * time, "of kernels %": 100 * 1e3 * time / total_ms(kernels(case.phase("forward")))}
    if row["part"] != "other":
        flop, moved = operations[row["part"]]
        found.update({"GFLOP": 1e-9 * flop, "GB": 1e-9 * moved, "TB/s": 1e-12 * moved / time,
                      "max TB/s": 1e-12 * ceilings(cases, "fp32")[1], "FLOP/byte": flop / moved})
    return found


def by_key(key):
    """Compares the columns `key:value` with the median step time of the case with that value."""
    def expected(case, row, cases):
        found = {}
        for column in row:
            if not column.startswith(key + ":") or " " in column:
                continue
            parameters = dict(case.record["parameters"], **{key: column.split(":", 1)[1]})
            other = cases.get(tuple(parameters[name] for name in KEYS))
            if other is not None:
                found[column] = 1e3 * other.record["timing"]["median_s"]
        return found
    return expected


# What the caption of a table says, the function that recomputes a row, and the least number of rows with a measurement.
TABLES = [
    ("mean and deviation are of a call. Percentages are of", ranked_row, 80),
    ("The longest kernel of each phase;", longest_row, 20),
    ("The LM head's kernels,", products_row, 8),
    ("Everything but matrix products, by class", other_class_row, 30),
    ("a cast is a copy to another type", class_row, 60),
    ("The same by phase; ms of a step", share_row, 60),
    ("and of the whole training step; the change", change_row, 20),
    ("Means over the samples, tokens/s of the mean", time_row, 40),
    ("Peaks of two steps in a pass of their own", memory_row, 40),
    ("By phase of a step: the highest allocated bytes", phase_memory_row, 8),
    ("Median ms by context; time ~ ctx^exponent", by_key("ctx"), 12),
    ("by events at the phases' boundaries", phase_time_row, 40),
    ("The longest kernels, copies and fills of each range", range_kernel_row, 60),
    ("By range, with its inner ranges: the gaps", range_gap_row, 80),
    ("By function, of a step. A function of the runtime", api_row, 12),
    ("context is the product of the weights and V; the rest", attention_row, 100),
    ("FLOP of attention's core in one forward pass", attention_flop_row, 40),
    ("Shares of attention's core", attention_share_row, 120),
    ("FLOP of inference's forward pass", flop_share_row, 80),
    ("Inference's operations outside matrix products", operation_row, 40),
    ("4 bytes per element; moved", attention_rate_row, 60),
    ("2 bytes per element; moved", attention_rate_row, 60),
]


class Oracle(unittest.TestCase):
    tbench, files, others = None, [], []

    @classmethod
    def setUpClass(cls):
        command = [cls.tbench, "report", "--study", "writeup", "--json", *cls.files]
        cls.tables = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["tables"]
        records, cls.others = read_records(cls.files)
        cls.cases = {key: Case(record) for key, record in records.items() if "timing" in record}

    def parameters(self, table, row):
        found = dict(re.findall(r"(\w+):(\S+)", table["caption"].split(". ")[0].replace(". ", " ")))
        found = {name: value.rstrip(".") for name, value in found.items()}
        found.update({name: row[name] for name in KEYS if name in row})
        return found

    def check(self, caption, recompute, least):
        table = next(table for table in self.tables if caption in table["caption"])
        checked = 0
        for cells in table["rows"]:
            row = {column: cell.get("full", cell["text"]) for column, cell in zip(table["columns"], cells)}
            values = {column: cell.get("full", cell.get("value", cell["text"]))
                      for column, cell in zip(table["columns"], cells)}
            parameters = self.parameters(table, row)
            for name, value in (("ctx", "128"), ("size", "small")):  # keys that the table spreads over columns
                parameters.setdefault(name, value)
            case = self.cases.get(tuple(parameters.get(name) for name in KEYS))
            if case is None or row.get("class", row.get("phase", " ")) == "":
                continue
            for column, expected in recompute(case, row, self.cases).items():
                if isinstance(expected, str):
                    self.assertEqual(values[column], expected, (caption, row))
                else:
                    self.assertAlmostEqual(values[column], expected, delta=1e-6 * max(abs(expected), 1e-6),
                                           msg=(caption, column, row))
            checked += 1
        self.assertGreaterEqual(checked, least, caption)


def add_test(caption, recompute, least):
    name = "test_" + re.sub(r"\W+", "_", caption.lower()).strip("_")
    setattr(Oracle, name, lambda self: self.check(caption, recompute, least))


for entry in TABLES:
    add_test(*entry)

if __name__ == "__main__":
    Oracle.tbench, *Oracle.files = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=1)
