"""Code that the tests of the Python package share. The test's first arguments are SOURCE_DIR and SERIES_WRITER.

Ends the program as skipped if pandas is not installed.
"""

import gzip
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

SOURCE, SERIES_WRITER = pathlib.Path(sys.argv[1]), sys.argv[2]
PACKAGE, RESULTS = SOURCE / "tools/python", SOURCE / "bench/results"
GOLDEN = SOURCE / "tests/data/results_golden.json"

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from skipping import skipped  # noqa: E402

if importlib.util.find_spec("pandas") is None:
    sys.exit(skipped("needs pandas (pip install pandas)"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(PACKAGE))


def load(path):
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def entries_of(results):
    """Returns the entries that have a record. Means of repetitions have none."""
    return [entry for entry in results["benchmarks"] if "tbench" in entry]


def counters_of_entry(entry):
    """Returns an entry's times and counters. Only they have a point or an exponent in the file."""
    return {key: value for key, value in entry.items() if type(value) is float}


def bits(counters):
    return {name: value.hex() for name, value in counters.items()}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        path.write_bytes(content)
        return path


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
