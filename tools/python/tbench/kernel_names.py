"""The current names of this project's kernels, whatever the build of a results file called them."""

from __future__ import annotations

import functools
import importlib.resources
import re

QUALIFIED = re.compile(r"(?<![\w:])tbench(?:::\w+)+")


@functools.cache
def _renames() -> dict[str, str]:
    """Returns new names by old names, both with their namespaces, from the project's src/profile/kernel_renames.tsv."""
    text = (importlib.resources.files(__package__) / "kernel_renames.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {old: new for old, new in rows}


def _renamed(match: re.Match[str]) -> str:
    """Renames the longest prefix of a qualified name that is an old name."""
    parts = match[0].split("::")
    for length in range(len(parts), 1, -1):
        new = _renames().get("::".join(parts[:length]))
        if new is not None:
            return "::".join([new, *parts[length:]])
    return match[0]


@functools.lru_cache(maxsize=4096)
def current_kernel_name(name: str) -> str:
    """Returns a kernel's current name, with renamed template arguments and parameters. Other names do not change."""
    return QUALIFIED.sub(_renamed, name)
