"""Tests that the output of --json in every situation is valid by tools/tbench/output.schema.json, and that spoilt
documents are not.

Usage: output_schema_test.py SCHEMA TOOLS_TEST. Exit status 77: jsonschema is not installed.
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

LEAST_SITUATIONS = 20


def documents_of(tools_test):
    """Returns {situation's name: document}."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TBENCH_DOCUMENTS=folder)
        subprocess.run([tools_test, "--gtest_brief=1", "--gtest_filter=*/Situations.*"], check=True, env=environment)
        return {path.stem: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))}


# Each change makes a document contradict the results of its command.
OF_ALL = {
    "no outcome": without("outcome"),
    "no cause": without("why"),
    "an empty list of causes": with_value([], "why"),
    "no next command": without("next"),
    "an empty next command": with_value("", "next"),
    "another version": with_value("tbench.diff/1", "schema"),
    "an unknown outcome": with_value("FINE", "outcome"),
    "an unknown key": with_value(1, "surprise"),
}
SPOILERS = {
    "DiffSlower": {
        "a regression that exits with 0": with_value(0, "exit_status"),
        "an improvement that exits with 1": with_value("IMPROVED", "outcome"),
        "an outcome of the gate": with_value("PASSED", "outcome"),
        "an outcome of a case that is none": with_value("SLOWER", "cases", 0, "outcome"),
        "no cases": without("cases"),
    },
    "FleetSlow": {
        "a slow GPU that is sound": with_value("SOUND", "outcome"),
        "a standing that is not a word": with_value("bad", "resources", 0, "machines", 0, "verdict"),
    },
    "GateBlind": {"a blind gate that passed": with_value("PASSED", "outcome"), "no night": without("night")},
    "GateNullControlFailed": {"a failed control that exits with 0": with_value(0, "exit_status")},
    "HeartbeatNotFound": {"a heartbeat that was found": with_value("FOUND", "outcome")},
    "HistorySlower": {"a change without its ratio": with_value([{"index": 1}], "series", 0, "changes")},
    "ReportFailed": {
        "an unknown status": with_value("fine", "cases", 0, "status"),
        "a time of zero": with_value(0, "cases", 0, "median_s"),
    },
    "StudyIncomplete": {"a cell that is a number": with_value(1.5, "tables", 0, "rows", 0, 0, "text")},
    "LimitsHost": {"a limit without its numbers": with_value([{"what": "host"}], "cases", 0, "limits")},
    "ProfileOfAHost": {"a profile without steps": with_value(0, "steps")},
    "DiffUnreadable": {
        "an error without a command": with_value(None, "next"),
        "an error that exits with 0": with_value(0, "exit_status"),
    },
}


def main():
    schema_path, tools_test = sys.argv[1:]
    try:
        import jsonschema
    except ImportError:
        return skipped("needs jsonschema (pip install jsonschema)")
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not undescribed_numbers(schema), f"numbers without a unit: {undescribed_numbers(schema)}"
    validator = jsonschema.Draft202012Validator(schema)
    documents = documents_of(tools_test)
    assert len(documents) >= LEAST_SITUATIONS, f"{len(documents)} situations"
    kinds = {f"tbench.{kind['$ref'].split('/')[-1]}/2" for kind in schema["oneOf"]}
    assert {document["schema"] for document in documents.values()} == kinds, "every kind has a situation"
    for name, document in documents.items():
        problems = [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(document)]
        assert not problems, f"{name}: {problems}"
    spoilt = 0
    for name, document in documents.items():
        for what, spoil in {**OF_ALL, **SPOILERS.get(name, {})}.items():
            changed = copy.deepcopy(document)
            spoil(changed)
            assert not validator.is_valid(changed), f"{name}: the schema allows {what}"
            spoilt += 1
    assert not SPOILERS.keys() - documents.keys(), "a spoiler's situation is gone"
    print(f"{len(documents)} documents are valid, and {spoilt} spoilt ones are not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
