"""The prose of comments: blocks of C++ comments in a tree, and habits of style that make a reader read twice.

A block is a run of lines that are comments alone, `//` or `///`. Comments behind code are not blocks: they are fragments.
"""
import math
import pathlib
import re

FOLDERS = ("include", "src", "bench", "tools", "tests")
SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh", ".h")
WHOLE_LINE = re.compile(r"^\s*///?<?\s?(.*)$")
NOLINT = re.compile(r"^(NOLINT|clang-format|namespace\b|@)")

# A comment begins with a verb or a noun phrase. The words below begin neither, unless a clause with subject and verb follows:
# "As the swizzle wants it, tiles ...".
OPENING = re.compile(r"^(?:What|Of|As|By|From|Where|Who|That|Those|And|But)\b")
CLAUSE = re.compile(r"^(?:As|By|From|Where|That) (?:\S+ ){1,6}?(?:is|are|was|were|has|have|does|do|can|may|must|needs?|takes?|makes?"
                    r"|wants?|holds?|says?)\b[^.]*,")

# "that of" and "those of" without the noun that they stand for; a genitive at a phrase's end; "of any."; "As forward's".
OMITTED = re.compile(r"\b(?:[Tt]hat|[Tt]hose) of\b|\b[Oo]f (?:any|both|either|none)[.;,)]"
                     r"|\b(?!it|what|that|there|here|let|one)\w+(?:'s|s')(?=\s*(?:[.;:,)]|$))|^As \w+'s\b")

# "one a block", "a text a column": a rate takes "per".
UNITS = ("block|step|call|row|column|line|head|warp|warpgroup|thread|item|tile|case|sample|second|minute|hour|day|week|run|launch"
         "|process|GPU|rank|kernel|file|layer|token|multiprocessor|CTA|SM|element|name|device|machine|batch|record|phase|pass|test"
         "|architecture|task|team|precision|group|byte|repetition|operation|problem|point|key|range|target|night|page|cell|unit"
         "|program|panel|stage|lane|bucket|parameter")
COUNTED = (r"\d[\d.,]*|one|two|three|four|five|six|eight|ten|once|twice|times|bytes?|ns|us|ms|[KMG]i?B|rows|columns|threads|calls"
           "|launches|registers|words|elements|samples|kernels|items|blocks|warps|lines|steps|tiles")
DISTRIBUTIVE = re.compile(rf"\b(?:{COUNTED}) an? (?:distinct |whole |traced )?(?:{UNITS})\b(?!'| (?:is|of|that|which|has)\b)"
                          rf"|\b[Aa]n? \w+ an? (?:{UNITS})(?=[.,;:)]|$)")

HABITS = {"openings": OPENING, "omitted_nouns": OMITTED, "distributive_a": DISTRIBUTIVE}
WORDS = {"openings": "begin with What, Of, As, By, From, Where, Who, That, And or But",
         "omitted_nouns": "leave out the noun of a genitive, or of `that of`",
         "distributive_a": "say `a` for `per`"}


def blocks_of(text):
    """Yields (line, text) of each comment block of a source; the markers and line ends are gone."""
    start, lines = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        whole = WHOLE_LINE.match(line)
        if whole:
            start = start or number
            lines.append(whole[1].strip())
            continue
        if lines:
            yield start, " ".join(lines)
            start, lines = 0, []


def comment_blocks(root):
    """Yields (file, line, text) of every comment block below `root` that is prose."""
    for folder in FOLDERS:
        for file in sorted((pathlib.Path(root) / folder).rglob("*")):
            if file.suffix in SUFFIXES:
                for line, text in blocks_of(file.read_text()):
                    if text and not NOLINT.match(text):
                        yield file, line, text


def rates(blocks):
    """Returns {habit: percent of the blocks that have it}, rounded up to a tenth."""
    counts = {habit: sum(has_habit(habit, text) for _, _, text in blocks) for habit in HABITS}
    return {habit: math.ceil(1000 * count / len(blocks)) / 10 for habit, count in counts.items()}


def has_habit(habit, text):
    """Whether the text of a block has the habit, a key of HABITS."""
    if habit == "openings":
        return OPENING.match(text) is not None and CLAUSE.match(text) is None
    return HABITS[habit].search(text) is not None
