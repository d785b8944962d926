#!/usr/bin/env python3
"""Checks the Markdown pages: their links and the paths that they name exist, and the two main pages keep their length.

    prose_test.py SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

LONGEST = {"README.md": 1500, "bench/README.md": 2500}  # words
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
        if not any(root.glob(path.rstrip("/"))):
            yield f"there is no '{path}'"


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = [f"{page.relative_to(root)}: {what}" for page in pages(root) for what in broken(root, page)]
    for name, longest in LONGEST.items():
        words = len((root / name).read_text().split())
        if words > longest:
            wrong.append(f"{name}: {words} words; {longest} are the most")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
