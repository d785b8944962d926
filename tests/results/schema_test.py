"""Tests that our files are valid by bench/results.schema.json, and that spoilt ones are not.

Usage: schema_test.py SCHEMA WRITE_RESULTS GOLDEN. Exit status 77: jsonschema is not installed.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from described import undescribed_numbers  # noqa: E402
from skipping import skipped  # noqa: E402
from spoilers import with_value, without  # noqa: E402


def load(path):
    with open(path) as file:
        return json.load(file, parse_constant=lambda name: sys.exit(f"{path}: {name} is not JSON"))


# In the golden file, entry 0 has everything, entry 1 failed, entries 2 and 3 are repetitions, entry 4 is their mean,
# and the last entry is a burst.
SPOILERS = {
    "another version": with_value(12, "context", "tbench", "schema_version"),
    "a negative least_flop": with_value(-1, "benchmarks", 0, "tbench", "work", "least_flop"),
    "no environment": without("context", "tbench", "environment"),
    "a host name": with_value("x", "context", "host_name"),
    "an unknown field of the run": with_value(1, "context", "tbench", "surprise"),
    "an unknown field of the GPU": with_value(1, "context", "tbench", "environment", "gpu", "surprise"),
    "an unknown field of a record": with_value(1, "benchmarks", 0, "tbench", "surprise"),
    "an unknown field of a timing": with_value(1, "benchmarks", 0, "tbench", "timing", "surprise"),
    "no samples": with_value([], "benchmarks", 0, "tbench", "timing", "samples_s"),
    "no median": without("benchmarks", 0, "tbench", "timing", "median_s"),
    "an unknown field of a trace": with_value(1, "benchmarks", 0, "tbench", "trace", "surprise"),
    "a trace without steps": with_value(0, "benchmarks", 0, "tbench", "trace", "steps"),
    "a kernel without a name": without("benchmarks", 0, "tbench", "trace", "kernels", 0, "name"),
    "a null": with_value(None, "benchmarks", 0, "tbench", "memory", "device_used_bytes"),
    "no timing for a case that is ok": without("benchmarks", 0, "tbench", "timing"),
    "an unknown status": with_value("fine", "benchmarks", 0, "tbench", "status"),
    "no real_time for a case that is ok": without("benchmarks", 0, "real_time"),
    "a time of zero": with_value(0.0, "benchmarks", 0, "real_time"),
    "a time of a failed case": with_value(1.0, "benchmarks", 1, "real_time"),
    "a failed case that has a time": with_value("ok", "benchmarks", 1, "tbench", "status"),
    "a failed case without a reason": without("benchmarks", 1, "error_message"),
    "a failed case of the time unit of others": with_value("ms", "benchmarks", 1, "time_unit"),
    "a counter that is a text": with_value("fast", "benchmarks", 0, "tokens_per_second"),
    "an aggregate of an unknown kind": with_value("mode", "benchmarks", 4, "aggregate_name"),
    "an unknown regime": with_value("bursts", "benchmarks", -1, "tbench", "timing", "regime"),
    "an unknown state of the cache": with_value("tepid", "benchmarks", -1, "tbench", "timing", "l2"),
    "host times of a burst": with_value(0.1, "benchmarks", -1, "tbench", "timing", "wall_s"),
    "a burst without its launches": without("benchmarks", -1, "tbench", "timing", "launches_per_sample"),
    "steps with a state of the cache": with_value("cold", "benchmarks", 0, "tbench", "timing", "l2"),
    "steps without host times": without("benchmarks", 0, "tbench", "timing", "wall_s"),
    "an unknown field of the file": with_value(1, "surprise"),
}


def main():
    schema_path, write_results, golden_path = sys.argv[1:]
    try:
        import jsonschema
    except ImportError:
        return skipped("needs jsonschema (pip install jsonschema)")
    schema = load(schema_path)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not undescribed_numbers(schema), f"numbers without a unit: {undescribed_numbers(schema)}"
    validator = jsonschema.Draft202012Validator(schema)
    golden = load(golden_path)
    validator.validate(golden)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_results, "compare", folder], check=True)
        for name in ("a.json", "failed.json"):
            validator.validate(load(os.path.join(folder, name)))
    for name, spoil in SPOILERS.items():
        spoilt = copy.deepcopy(golden)
        spoil(spoilt)
        assert not validator.is_valid(spoilt), f"the schema allows {name}"
    print(f"valid files are, and {len(SPOILERS)} spoilt ones are not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
