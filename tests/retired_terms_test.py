#!/usr/bin/env python3
"""Checks that terms which the field has better ones for do not spread: data/retired_terms.tsv.

    retired_terms_test.py SOURCE_DIR [--lower]

A row has a pattern, the folders that it holds for (all, where empty), the field's term, and how many lines have the pattern.
That number may only fall: --lower writes the present numbers, where they are less. Pages of results, data of tests and
CHANGELOG.md, which names what was renamed, do not count.
"""
import pathlib
import re
import subprocess
import sys

SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh", ".h", ".md")
LEFT_OUT = ("bench/results/", "tests/data/", "CHANGELOG.md")


def texts_of(source):
    """Returns {path: lines} of each source and page."""
    listed = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.splitlines() if path.endswith(SUFFIXES) and not path.startswith(LEFT_OUT)]
    return {path: (source / path).read_text().splitlines() for path in paths if (source / path).exists()}


def places(texts, pattern, folders):
    """Yields `path:line` for every line in the folders that matches the pattern."""
    expression = re.compile(pattern)
    for path, lines in texts.items():
        if not folders or path.startswith(folders):
            yield from (f"{path}:{number}" for number, line in enumerate(lines, 1) if expression.search(line))


def main():
    source, lowers = pathlib.Path(sys.argv[1]).resolve(), "--lower" in sys.argv
    table = source / "tests/data/retired_terms.tsv"
    head, *rows = table.read_text().splitlines()
    texts, written, wrong = texts_of(source), [head], []
    if not texts:
        sys.exit(f"{source}: no sources; give a checkout of the project")
    for row in rows:
        pattern, scope, term, ceiling = row.split("\t")
        found = list(places(texts, pattern, tuple(f"{folder}/" for folder in scope.split(", ") if folder)))
        if len(found) > int(ceiling):
            wrong.append(f"{pattern}: {len(found)} lines, {ceiling} before; write '{term}'. Among them: {', '.join(found[-5:])}")
        written.append("\t".join((pattern, scope, term, str(min(len(found), int(ceiling))))))
    if wrong:
        sys.exit("\n".join(wrong))
    if lowers:
        table.write_text("\n".join(written) + "\n")


if __name__ == "__main__":
    main()
