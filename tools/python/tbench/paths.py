"""Expands the paths that a user gives (files, folders, patterns) to files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import MAKE_RESULTS_FILE, ReadError

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
ENDINGS = (".json", ".json.gz")
JOURNAL = ".journal"
WILDCARDS = "*?["


@dataclass(frozen=True)
class Candidate:
    """A file to read. A file from a folder or a pattern may have other JSON."""

    path: str
    is_named: bool


def candidates(paths: Paths) -> list[Candidate]:
    """Returns the files for `paths`, each once, in the order of the paths. Those of a folder or pattern are sorted.

    Raises ReadError for a path without files.
    """
    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not named:
        raise ReadError("[]", "no path was given", MAKE_RESULTS_FILE)
    found: dict[str, Candidate] = {}
    for path in named:
        for candidate in _candidates_of(os.fspath(path)):
            found.setdefault(os.path.realpath(candidate.path), candidate)
    return list(found.values())


def _candidates_of(path: str) -> list[Candidate]:
    path = path.removesuffix(JOURNAL)
    if os.path.isdir(path):
        return _of_folder(path)
    if os.path.exists(path) or os.path.exists(path + JOURNAL):
        return [Candidate(path, is_named=True)]
    if not any(character in path for character in WILDCARDS):
        raise ReadError(path, "no such file", MAKE_RESULTS_FILE)
    files = _without_journals(glob.glob(path, recursive=True))
    if not files:
        raise ReadError(path, "the pattern matches no file", "check it against the names in the folder")
    return [Candidate(file, is_named=False) for file in files]


def _of_folder(folder: str) -> list[Candidate]:
    files = _without_journals(str(file) for file in Path(folder).rglob("*"))
    files = [file for file in files if file.endswith(ENDINGS)]
    if not files:
        raise ReadError(folder, "no file in this folder ends in .json or .json.gz", MAKE_RESULTS_FILE)
    return [Candidate(file, is_named=False) for file in files]


def _without_journals(paths: Iterable[str]) -> list[str]:
    """Returns the files among `paths`, sorted. A journal stands for its results file; an empty journal is left out."""
    files = (path for path in paths if os.path.isfile(path))
    return sorted({path.removesuffix(JOURNAL) for path in files if not path.endswith(JOURNAL) or os.path.getsize(path)})
