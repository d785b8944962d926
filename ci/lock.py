#!/usr/bin/env python3
"""Writes ci/requirements.lock: every wheel that ci/requirements*.txt require, with the SHA-256 of its file, for each Python
that the project supports on Linux on x86_64. Asks pip's index, and downloads no wheel.

    lock.py       after a change of ci/requirements*.txt
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
CI = pathlib.Path(__file__).resolve().parent
HEADER = """\
# Every wheel that requirements.txt and requirements-cuda.txt bring, for Python {first} to {last} on Linux on x86_64, with the
# SHA-256 of its file. ci/setup.sh installs no other. Written by ci/lock.py.
"""


def ask_pip(python, requirements, names):
    """Returns pip's report of what it would install for a Python."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        files = [word for file in requirements for word in ("-r", file)]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:",
                        "--python-version", python, "--target", scratch, "--report", report, *files, *names],
                       check=True, env={**os.environ, "PIP_FIND_LINKS": "", "PIP_USER": "0", "PIP_CONSTRAINT": ""})
        return json.loads(report.read_text())


def dependencies_of(wheel, extras, environment):
    """Returns the requirements of a wheel of the report, with these extras."""
    for text in wheel["metadata"].get("requires_dist", []):
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({**environment, "extra": e}) for e in ["", *extras]):
            yield requirement


def needs_of(wheels, environment):
    """Returns, by name, the names that a wheel needs, with the extras that the user and other wheels request."""
    extras = {name: set(wheel.get("requested_extras", [])) for name, wheel in wheels.items()}
    while True:
        needs = {name: list(dependencies_of(wheel, extras[name], environment)) for name, wheel in wheels.items()}
        before = sum(map(len, extras.values()))
        for requirement in (r for needed in needs.values() for r in needed):
            extras.get(canonicalize_name(requirement.name), set()).update(requirement.extras)
        if sum(map(len, extras.values())) == before:
            return {name: {canonicalize_name(r.name) for r in needed} for name, needed in needs.items()}


def resolve(python, requirements):
    """Returns the wheels for a Python, by name. pip evaluates conditions on the Python for its own Python. What they leave out
    is asked for by name."""
    names = set()
    while True:
        report = ask_pip(python, requirements, sorted(names))
        environment = {**report["environment"], "python_version": python, "python_full_version": python + ".0"}
        wheels = {canonicalize_name(w["metadata"]["name"]): w for w in report["install"]}
        needs = needs_of(wheels, environment)
        missing = set().union(*needs.values()) - wheels.keys()
        if not missing:
            for name in names:
                wheels[name]["requested"] = False
            return wheels, needs
        names |= missing


def collect(requirements):
    """Returns, by name and version, the Pythons that use a wheel, its hashes, and the wheels that need it."""
    locked = collections.defaultdict(lambda: {"pythons": [], "hashes": set(), "via": set()})
    for python in PYTHONS:
        wheels, needs = resolve(python, requirements)
        for name, wheel in wheels.items():
            entry = locked[name, wheel["metadata"]["version"]]
            entry["pythons"].append(python)
            entry["hashes"].add(wheel["download_info"]["archive_info"]["hashes"]["sha256"])
            entry["via"] |= {needing for needing, needed in needs.items() if name in needed}
            entry["via"] |= {"ci/requirements"} if wheel["requested"] else set()
    return locked


def marker_of(pythons):
    """Returns the condition for a version that only some Pythons use; these are consecutive versions."""
    parts = []
    if pythons[0] != PYTHONS[0]:
        parts.append(f'python_version >= "{pythons[0]}"')
    if pythons[-1] != PYTHONS[-1]:
        parts.append(f'python_version < "{PYTHONS[PYTHONS.index(pythons[-1]) + 1]}"')
    return " ; " + " and ".join(parts) if parts else ""


def to_text(wheels):
    lines = [HEADER.format(first=PYTHONS[0], last=PYTHONS[-1]).rstrip()]
    for (name, version), entry in sorted(wheels.items()):
        lines.append(f"{name}=={version}{marker_of(entry['pythons'])} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{digest}" for digest in sorted(entry["hashes"])))
        lines.append("    # via " + ", ".join(sorted(entry["via"])))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (CI / "requirements.lock").write_text(to_text(collect([CI / "requirements.txt", CI / "requirements-cuda.txt"])))
