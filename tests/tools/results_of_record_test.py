#!/usr/bin/env python3
"""Checks that SHA256SUMS of each folder lists all committed results, and that their unpacked bytes have these sums.

    results_of_record_test.py RESULTS_DIR
"""
import gzip
import hashlib
import pathlib
import sys


def wrong_of(folder):
    listed = dict(reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text().splitlines())
    there = {path.relative_to(folder).as_posix().removesuffix(".gz"): path for path in folder.rglob("*.json.gz")}
    yield from (f"{name}: listed, and not there" for name in listed.keys() - there.keys())
    yield from (f"{name}: not listed" for name in there.keys() - listed.keys())
    for name in listed.keys() & there.keys():
        if hashlib.sha256(gzip.decompress(there[name].read_bytes())).hexdigest() != listed[name]:
            yield f"{name}: other bytes than those listed"


def main():
    folders = [path.parent for path in pathlib.Path(sys.argv[1]).glob("*/SHA256SUMS")]
    wrong = [f"{folder.name}/{what}" for folder in folders for what in wrong_of(folder)]
    if not folders:
        wrong = [f"{sys.argv[1]}: no folder has a list SHA256SUMS"]
    if wrong:
        sys.exit("\n".join(sorted(wrong)))


if __name__ == "__main__":
    main()
