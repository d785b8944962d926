#!/usr/bin/env python3
"""Checks the prose of the tree.

    prose_test.py SOURCE_DIR                 checks everything
    prose_test.py SOURCE_DIR --list HABIT    lists the comments that have a habit: openings, omitted_nouns, distributive_a
    prose_test.py SOURCE_DIR --long          lists the sentences of pages and comments that have more than 45 words
    prose_test.py SOURCE_DIR --lower         writes today's rates into tests/data/prose_rates.json where they have fallen

- Markdown pages: their links and the paths that they name exist.
- Comments: the percentage of comment blocks with each habit is at most its ceiling in tests/data/prose_rates.json. A ceiling
  may only fall; the goals are 2, 0.3 and 0 %.
- Sentences of more than 45 words are counted and reported. They fail nothing.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

import comment_prose  # noqa: E402
import page_prose  # noqa: E402

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|include|bench|tools|ci|tests)/[\w./*-]+)`")


def pages(root):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    return [*root.glob("*.md"), *(page for top in ("bench", "ci", "src", "tools") for page in (root / top).rglob("*.md"))]


def broken(root, page):
    text = page.read_text()
    for target in LINK.findall(text):
        if not (page.parent / target).exists():
            yield f"the link to '{target}' leads nowhere"
    for path in PATH.findall(text):
        if not any(root.glob(path.rstrip("/").replace("NAME", "*"))):
            yield f"there is no '{path}'"


def rates_over_their_ceiling(rates, ceilings):
    for habit, rate in rates.items():
        if rate > ceilings[habit]:
            yield (f"comments: {rate} % {comment_prose.WORDS[habit]}; the ceiling is {ceilings[habit]} %. "
                   f"`tests/prose_test.py . --list {habit}` lists them.")


def list_comments(root, habit):
    for file, line, text in comment_prose.comment_blocks(root):
        if comment_prose.has_habit(habit, text):
            print(f"{file.relative_to(root)}:{line}: {text}")


def long_sentences(root):
    """Yields (place, words, sentence) of each sentence of a page or comment that is too long."""
    for page in pages(root):
        for paragraph in page_prose.paragraphs(page.read_text()):
            for words, sentence in page_prose.long_sentences(paragraph):
                yield str(page.relative_to(root)), words, sentence
    for file, line, text in comment_prose.comment_blocks(root):
        for words, sentence in page_prose.long_sentences(text):
            yield f"{file.relative_to(root)}:{line}", words, sentence


def lower_ceilings(path, rates):
    """Writes the rates that are below their ceilings; a ceiling never rises."""
    ceilings = json.loads(path.read_text())
    path.write_text(json.dumps({habit: min(ceiling, rates[habit]) for habit, ceiling in ceilings.items()}, indent=2) + "\n")


def main():
    root = pathlib.Path(sys.argv[1])
    if sys.argv[2:3] == ["--list"]:
        return list_comments(root, sys.argv[3])
    if sys.argv[2:] == ["--long"]:
        for place, words, sentence in long_sentences(root):
            print(f"{place}: {words} words: {sentence}")
        return None
    ceilings = root / "tests/data/prose_rates.json"
    rates = comment_prose.rates(list(comment_prose.comment_blocks(root)))
    if sys.argv[2:] == ["--lower"]:
        return lower_ceilings(ceilings, rates)
    wrong = [f"{page.relative_to(root)}: {what}" for page in pages(root) for what in broken(root, page)]
    wrong += rates_over_their_ceiling(rates, json.loads(ceilings.read_text()))
    print(f"sentences of more than {page_prose.LONGEST_SENTENCE} words: {sum(1 for _ in long_sentences(root))}. "
          "`tests/prose_test.py . --long` lists them.")
    if wrong:
        sys.exit("\n".join(wrong))
    return None


if __name__ == "__main__":
    main()
