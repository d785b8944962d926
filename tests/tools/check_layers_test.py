#!/usr/bin/env python3
"""Tests the rules of tools/check_layers.py with small trees: check_layers_test.py SOURCE_DIR"""
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(SOURCE / "tools"))

import check_layers  # noqa: E402


class CheckLayers(unittest.TestCase):
    def tree(self, files):
        """Makes the sources of a tree from {path: headers that the file includes, as they are spelled}."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        for name, headers in files.items():
            path = pathlib.Path(scratch.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"#include {header if header[0] == '<' else chr(34) + header + chr(34)}\n" for header in headers))
        return list(check_layers.sources_of(pathlib.Path(scratch.name)))

    def cycles(self, files):
        return list(check_layers.folder_cycles(self.tree(files)))

    def test_folders_that_include_each_other_are_found(self):
        files = {"src/html/page.cpp": ["html/charts/chart.hpp"], "src/html/page.hpp": [],
                 "src/html/charts/chart.hpp": ["html/page.hpp"], "src/html/icons/icon.hpp": ["html/page.hpp"]}
        self.assertEqual(self.cycles(files), ["src/html: in an include cycle of folders, through src/html/charts",
                                              "src/html/charts: in an include cycle of folders, through src/html"])

    def test_a_cycle_of_three_folders_is_one(self):
        files = {"src/model/a/x.hpp": ["model/b/x.hpp"], "src/model/b/x.hpp": ["model/c/x.hpp"], "src/model/c/x.hpp": ["model/a/y.hpp"],
                 "src/model/a/y.hpp": [], "src/model/d/x.hpp": ["model/a/x.hpp"]}
        self.assertEqual([line.split(":")[0] for line in self.cycles(files)], ["src/model/a", "src/model/b", "src/model/c"])

    def test_a_public_header_counts_as_the_folder_of_its_source(self):
        files = {"include/tbench/gate/report.hpp": [], "src/gate/report.cpp": ["tbench/gate/report.hpp", "gate/facts/facts.hpp"],
                 "src/gate/facts/facts.hpp": ["tbench/gate/report.hpp"]}
        self.assertEqual(len(self.cycles(files)), 2)
        del files["src/gate/report.cpp"]
        self.assertEqual(self.cycles(files), [])

    def test_a_public_header_without_a_source_stands_for_its_includes(self):
        files = {"include/tbench/gate/output.hpp": ["tbench/gate/report.hpp"], "include/tbench/gate/report.hpp": ["tbench/gate/output.hpp"],
                 "src/gate/report.cpp": ["tbench/gate/report.hpp", "gate/facts/facts.hpp"],
                 "src/gate/facts/facts.hpp": ["tbench/gate/output.hpp"]}
        self.assertEqual(len(self.cycles(files)), 2)

    def test_folders_of_a_program_count_and_other_layers_do_not(self):
        files = {"bench/main.cpp": ["bench/ranks/round.hpp"], "bench/main.hpp": ["tbench/gate/report.hpp"], "bench/ranks/round.hpp": ["bench/main.hpp"]}
        self.assertEqual([line.split(":")[0] for line in self.cycles(files)], ["bench", "bench/ranks"])
        files["bench/ranks/round.hpp"] = ["tbench/gate/report.hpp"]
        files["include/tbench/gate/report.hpp"] = []
        self.assertEqual(self.cycles(files), [])

    def test_arrows_between_layers_and_libraries(self):
        files = {"src/stats/mean.cpp": ["tbench/results/journal.hpp", "<torch/torch.h>", "results/disk.hpp", "tbench/core/text.hpp"]}
        self.assertEqual(list(check_layers.arrow_violations(self.tree(files))),
                         ["src/stats/mean.cpp:1: stats may not include results (tbench/results/journal.hpp)",
                          "src/stats/mean.cpp:2: stats may not use torch/torch.h",
                          "src/stats/mean.cpp:3: results/disk.hpp is private to results"])

    def test_a_folder_has_a_bounded_number_of_stems(self):
        files = {f"src/stats/f{i}.{suffix}": [] for i in range(check_layers.MAX_STEMS) for suffix in ("hpp", "cpp")}
        self.assertEqual(list(check_layers.full_folders(self.tree(files))), [])
        files["src/stats/one_more.hpp"] = []
        self.assertEqual(list(check_layers.full_folders(self.tree(files))), ["src/stats: 17 stems; at most 16"])


if __name__ == "__main__":
    unittest.main()
