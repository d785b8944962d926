"""Recomputes tables of `tbench report --study writeup --json` from the results files alone.

writeup_oracle_test.py TBENCH FILE...: each file holds a case once, and no two files hold the same case.
"""

import json
import re
import subprocess
import sys
import unittest

from attention_oracle import layer_row, part_row, softmax_class_row, softmax_row
from oracle_cases import KEYS, LAYERS, MIB, Case, calls, kernels, of_class, read_records, total_ms
from roofline_oracle import (attention_flop_row, attention_rate_row, attention_row, attention_share_row, flop_share_row,
                             operation_row)


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
    ("The classes of a training step with softmax as a class", softmax_class_row, 32),
    ("The parts of attention's core in the forward pass", part_row, 60),
    ("The kernels of softmax in the forward pass", softmax_row, 80),
    ("The core of one layer's attention in a training step", layer_row, 90),
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
    tbench, files = None, []

    @classmethod
    def setUpClass(cls):
        command = [cls.tbench, "report", "--study", "writeup", "--json", *cls.files]
        cls.tables = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["tables"]
        records, others = read_records(cls.files)
        cls.cases = {key: Case(record, others) for key, record in records.items() if "timing" in record}

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


    def check_sums(self, caption, column, is_part):
        table = next(table for table in self.tables if caption in table["caption"])
        sums = {}
        for cells in table["rows"]:
            row = dict(zip(table["columns"], cells))
            names = [cell["text"] for cell in cells if "value" not in cell]
            if is_part(names[-1]):
                sums[tuple(names[:-1])] = sums.get(tuple(names[:-1]), 0) + row[column]["value"]
        self.assertTrue(sums)
        for names, total in sums.items():
            self.assertAlmostEqual(total, 100, places=6, msg=(caption, names))

    def test_the_parts_of_the_core_sum_to_100_percent(self):
        is_part = lambda name: not name.startswith("(")
        self.check_sums("The parts of attention's core in the forward pass", "% of core", is_part)
        self.check_sums("The core of one layer's attention in a training step", "% of core", is_part)
        self.check_sums("The classes of a training step with softmax as a class", "% of GPU time", is_part)


def add_test(caption, recompute, least):
    name = "test_" + re.sub(r"\W+", "_", caption.lower()).strip("_")
    setattr(Oracle, name, lambda self: self.check(caption, recompute, least))


for entry in TABLES:
    add_test(*entry)

if __name__ == "__main__":
    Oracle.tbench, *Oracle.files = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=1)
