"""The present names of this project's kernels, whatever the build of a results file called them."""

from __future__ import annotations

import functools
import importlib.resources
import re

QUALIFIED = re.compile(r"(?<![\w:])tbench(?:::\w+)+")


@functools.cache
def _renames() -> dict[str, str]:
    """Old name to new one, both with their namespaces: src/profile/kernel_renames.tsv of the project."""
    text = (importlib.resources.files(__package__) / "kernel_renames.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {old: new for old, new in rows}


def _renamed(match: re.Match[str]) -> str:
    """Renames the longest part of a qualified name that ends where one of its names does."""
    parts = match[0].split("::")
    for length in range(len(parts), 1, -1):
        new = _renames().get("::".join(parts[:length]))
        if new is not None:
            return "::".join([new, *parts[length:]])
    return match[0]


@functools.lru_cache(maxsize=4096)
def current_kernel_name(name: str) -> str:
    """Returns a kernel's present name, with its template arguments and parameters renamed, too. Other kernels keep theirs."""
    return QUALIFIED.sub(_renamed, name)
