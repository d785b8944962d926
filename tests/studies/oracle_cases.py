"""Reads the cases of results files, and sums their operations, for writeup_oracle_test.py."""

import gzip
import json

MIB = 1024 * 1024
LAYERS = {"small": 12, "medium": 24, "large": 36, "xl": 48, "2.7B": 32}
HEADS = {"small": 12, "medium": 16, "large": 20, "xl": 25, "2.7B": 32}
D_MODEL = {"small": 768, "medium": 1024, "large": 1280, "xl": 1600, "2.7B": 2560}
D_FF = {"small": 3072, "medium": 4096, "large": 5120, "xl": 6400, "2.7B": 10240}
VOCABULARY = 10_000
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
    """One case, the operations of its phases: {phase: [operation, ...]}, and the records of other families."""

    def __init__(self, record, others):
        self.record = record
        self.others = others
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
