#!/usr/bin/env python3
"""Tests the counts of support/comment_prose.py and support/page_prose.py, and what prose_test.py makes of them.

    comment_prose_test.py SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))

import comment_prose  # noqa: E402
import page_prose  # noqa: E402

BAD = {
    "openings": ["Of the counter.", "What a file says.", "As forward's.", "Where what lies in memory; bytes.", "That of a case.",
                 "By name and, of each name, by phase.", "From a kernel's name to its class.", "And nothing else."],
    "omitted_nouns": ["Gradients are the parameters'.", "Rows of memory, those of ddp from other cases.", "Of a team, of any.", "As forward's.",
                      "The kept build and the candidate's, in turns."],
    "distributive_a": ["At most one a multiprocessor.", "2 to 4 us a launch while it traces.", "A text a column.", "Asked ten times a second.",
                       "Threads take 64 bytes a thread, contiguous."],
}
GOOD = {
    "openings": ["Returns the counter's bytes.", "The kernels of a case.", "As the swizzle wants it, tiles start at multiples of 1,024.",
                 "Where the copy engine reads, rows are aligned to 16 bytes, which is checked.", "Office hours.", "Whether a file is there."],
    "omitted_nouns": ["The parameters' gradients.", "It's not this process's turn.", "The part of the candidate's build.", "What that says."],
    "distributive_a": ["One per multiprocessor.", "Once a file is read, it is closed.", "One a reader would miss.", "Two blocks, a warp's first ones."],
}


class Habits(unittest.TestCase):
    def test_finds_habits_in_bad_comments_only(self):
        for habit in comment_prose.HABITS:
            for text in BAD[habit]:
                self.assertTrue(comment_prose.has_habit(habit, text), f"{habit}: {text}")
            for text in GOOD[habit]:
                self.assertFalse(comment_prose.has_habit(habit, text), f"{habit}: {text}")

    def test_blocks_are_runs_of_lines_that_are_comments_alone(self):
        text = "/// One.\n// Two.\nint x;  // of a line\n\n  // Three.\nchar* url = \"http://x\";\n//\n"
        self.assertEqual(list(comment_prose.blocks_of(text)), [(1, "One. Two."), (5, "Three."), (7, "")])


class Sentences(unittest.TestCase):
    def test_above_45_words_are_long(self):
        self.assertEqual(page_prose.long_sentences("A b. W" + "ord w" * 44 + "ord. C d."), [])
        self.assertEqual([words for words, _ in page_prose.long_sentences("A b. W" + "ord w" * 45 + "ord. C d.")], [46])

    def test_of_a_comment_end_at_tags_and_entries(self):
        words = "word " * 30
        self.assertEqual(page_prose.long_sentences(f"{words}@param a  {words}@throws  E  {words}- {words}- `b`: {words}"), [])

    def test_of_a_page_end_at_paragraphs_entries_and_cells_and_skip_code(self):
        page = ("# Title\nOne\ntwo [three](a.md).\n\n- Four\n- five\n| six | seven |\n```\ncode\n```\n"
                "<!-- tbench:x report -->\n| 8 |\n<!-- /tbench:x -->\nNine\n")
        self.assertEqual(list(page_prose.paragraphs(page)), ["One two three.", "- Four", "- five", "six", "seven", "Nine"])


class Ceilings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for page in ("README.md", "src/a.hpp", "tests/data/prose_rates.json"):
            (self.root / page).parent.mkdir(parents=True, exist_ok=True)
            (self.root / page).write_text("")

    def run_test(self, comments, ceilings, *arguments):
        (self.root / "src/a.hpp").write_text("".join(f"// {text}\nint x{i};\n" for i, text in enumerate(comments)))
        (self.root / "tests/data/prose_rates.json").write_text(json.dumps(ceilings))
        program = [sys.executable, str(SOURCE / "tests/prose_test.py"), str(self.root), *arguments]
        return subprocess.run(program, capture_output=True, text=True)

    def test_a_rate_above_its_ceiling_fails(self):
        comments = ["Of a case.", *["Returns the case."] * 9]
        self.assertEqual(self.run_test(comments, {"openings": 10, "omitted_nouns": 0, "distributive_a": 0}).returncode, 0)
        result = self.run_test(comments, {"openings": 9.9, "omitted_nouns": 0, "distributive_a": 0})
        self.assertEqual(result.returncode, 1)
        self.assertIn("comments: 10.0 % begin with What, Of, As", result.stderr)
        self.assertIn("the ceiling is 9.9 %", result.stderr)

    def test_a_ceiling_falls_and_never_rises(self):
        self.run_test(["Of a case.", "Returns the case."], {"openings": 20, "omitted_nouns": 7.5, "distributive_a": 0}, "--lower")
        self.assertEqual(json.loads((self.root / "tests/data/prose_rates.json").read_text()),
                         {"openings": 20, "omitted_nouns": 0.0, "distributive_a": 0})

    def test_long_sentences_are_reported_and_fail_nothing(self):
        (self.root / "README.md").write_text("Word " + "and word " * 30 + "end.\n")
        ceilings = {"openings": 0, "omitted_nouns": 0, "distributive_a": 0}
        result = self.run_test(["Returns it."], ceilings)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("sentences of more than 45 words: 1.", result.stdout)
        self.assertIn("README.md: 62 words: Word and word", self.run_test(["Returns it."], ceilings, "--long").stdout)

    def test_the_comments_with_a_habit_are_listed(self):
        result = self.run_test(["Of a case.", "Returns the case."], {}, "--list", "openings")
        self.assertEqual(result.stdout, "src/a.hpp:1: Of a case.\n")


if __name__ == "__main__":
    unittest.main()
