#!/usr/bin/env python3
"""Where ./tbench and ./transformer_bench point: top_folder_links_test.py SOURCE_DIR BINARY_DIR

Run in any build: the links are the release build's, of which the others must not take hold. Exit status 0, or 1 with what
went wrong.
"""
import pathlib
import sys


def main():
    source, binary = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    release = source / "build/release"
    programs = {"tbench": "tools/tbench/tbench", "transformer_bench": "bench/transformer_bench"}
    wrong = []
    for name, path in programs.items():
        link = source / name
        target = link.readlink() if link.is_symlink() else None
        if (release / path).exists() and target != release / path:
            wrong.append(f"./{name} points to {target}, not to {release / path}")
        if target is not None and binary != release and binary.name != "host" and target.is_relative_to(binary):
            wrong.append(f"./{name} points into {binary}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
