"""Runs the build backend of setuptools on a copy of this folder, so that a read-only checkout can be installed.

setuptools writes next to its sources. pip calls these functions (PEP 517, PEP 660).
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from setuptools import build_meta

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ("pyproject.toml", "MANIFEST.in", "README.md", "backend.py", "tbench/*.py", "tbench/*.tsv", "tbench/py.typed")

# An editable installation points to this folder itself.
build_editable = build_meta.build_editable


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    to = os.path.abspath(wheel_directory)
    with _copied_sources():
        return build_meta.build_wheel(to, config_settings)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    to = os.path.abspath(sdist_directory)
    with _copied_sources():
        return build_meta.build_sdist(to, config_settings)


@contextlib.contextmanager
def _copied_sources() -> Iterator[None]:
    """Makes a copy of the sources the working folder, as setuptools expects. Permissions are not copied."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for pattern in SOURCES:
            for file in HERE.glob(pattern):
                copy = pathlib.Path(folder, file.relative_to(HERE))
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(file, copy)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
