#!/usr/bin/env python3
"""Compares the machine code of two builds of the kernels, function by function, through the map of names.

    compare_sass.py OLD.a NEW.a [--renames renames.tsv] [--arch sm_80 --arch sm_90a]

Both files are objects or archives with machine code of CUDA. Functions are paired by their demangled names. The map
is applied to the names of both files, so that either may have old or new names. Two functions are equal if their
instructions, the encodings of these, and their resources are equal. The resources are registers, stack (for spilled
registers), static shared memory, local memory and constants.

Prints each difference and exits with status 1, or prints the number of equal functions and exits with status 0. Exits
with status 2 if a file cannot be read, an architecture has no functions, or there is no cuobjdump (the CUDA toolkit and
PyTorch's Triton have one).
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import renames

ARCHITECTURES = ("sm_80", "sm_90a")
HEADER = re.compile(r"^arch = (\w+)")
SASS_FUNCTION = re.compile(r"^\s*Function : (\S+)")
RESOURCE_FUNCTION = re.compile(r"^\s*Function (\S+):$")
MANGLED = re.compile(r"\b_Z\w+")
TOOLS = ("/usr/local/cuda/bin/cuobjdump",)
IN_WHEELS = "lib/python3*/site-packages/triton/backends/nvidia/bin/cuobjdump"


class Unusable(Exception):
    """The comparison cannot be made; the message says why, and what to do."""


def find_tool() -> str:
    """Returns the path of cuobjdump, from PATH, the system's CUDA toolkit or the Triton of the Python environment."""
    environments = (pathlib.Path(sys.prefix), pathlib.Path(__file__).resolve().parents[1] / ".venv")
    in_wheels = (str(path) for environment in environments for path in environment.glob(IN_WHEELS))
    for candidate in (shutil.which("cuobjdump"), *TOOLS, *in_wheels):
        if candidate and pathlib.Path(candidate).is_file():
            return candidate
    raise Unusable("there is no cuobjdump. Put the one of a CUDA toolkit on PATH.")


def listing(tool: str, option: str, file: str):
    """Yields the lines that `cuobjdump OPTION FILE` prints. Raises Unusable with its messages if it fails."""
    with subprocess.Popen([tool, option, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield from process.stdout
        errors = process.stderr.read()
    if process.returncode != 0:
        raise Unusable(f"'{file}': cuobjdump {option} failed: {errors.strip()}")


def demangled(symbols) -> dict[str, str]:
    """Returns {symbol: C++ name}. The name of a symbol that is not mangled is the symbol itself."""
    symbols = sorted(symbols)
    if not symbols:
        return {}
    output = subprocess.run(["c++filt"], input="\n".join(symbols) + "\n", capture_output=True, text=True, check=True).stdout
    return dict(zip(symbols, output.splitlines(), strict=True))


class Function:
    """Instructions and resources of one function for one architecture."""

    def __init__(self, architecture: str, symbol: str):
        self.architecture = architecture
        self.symbol = symbol
        self.resources = ""
        self._lines = []
        self._packed = None

    def add(self, line: str):
        self._lines.append(line.strip())

    def pack(self):
        """Replaces the text by its compressed form, since the listing of all kernels has some hundred MB."""
        if self._packed is None:
            self._packed = zlib.compress("\n".join(self._lines).encode(), 1)
            self._lines = []

    def text(self) -> str:
        self.pack()
        return zlib.decompress(self._packed).decode()


def read_sass(lines) -> list[Function]:
    """Reads the output of `cuobjdump -sass`: the lines of each function that have an instruction or its encoding."""
    functions = []
    architecture = ""
    for line in lines:
        if header := HEADER.match(line):
            architecture = header[1]
        elif name := SASS_FUNCTION.match(line):
            if functions:
                functions[-1].pack()
            functions.append(Function(architecture, name[1]))
        elif functions and line.lstrip().startswith("/*"):
            functions[-1].add(line)
    return functions


def read_resources(lines) -> dict[tuple[str, str], list[str]]:
    """Reads the output of `cuobjdump -res-usage`: {(architecture, symbol): ["REG:36 STACK:0 ...", one per object]}."""
    resources = collections.defaultdict(list)
    architecture = symbol = ""
    for line in lines:
        if header := HEADER.match(line):
            architecture = header[1]
        elif name := RESOURCE_FUNCTION.match(line):
            symbol = name[1]
        elif symbol and "REG:" in line:
            resources[architecture, symbol].append(line.strip())
            symbol = ""
    return resources


def read_functions(tool: str, file: str, current_name) -> dict[tuple[str, str], list[Function]]:
    """Returns {(architecture, current name): functions}. An instance of a template may be in several objects."""
    functions = read_sass(listing(tool, "-sass", file))
    resources = read_resources(listing(tool, "-res-usage", file))
    names = demangled({function.symbol for function in functions})
    found = collections.defaultdict(list)
    for function in functions:
        usage = resources.get((function.architecture, function.symbol))
        if not usage:
            raise Unusable(f"'{file}': cuobjdump tells no resources of {names[function.symbol]}")
        function.resources = usage.pop(0)
        found[function.architecture, current_name(names[function.symbol])].append(function)
    return found


def comparable(function: Function, current_name) -> str:
    """The function's text with the symbols in it replaced by their current names."""
    text = function.text()
    names = demangled(set(MANGLED.findall(text)))
    return MANGLED.sub(lambda match: current_name(names[match[0]]), text)


def difference(old: Function, new: Function, current_name) -> str | None:
    """Returns the first difference of two functions of one name, or None."""
    if old.resources != new.resources:
        return f"resources {old.resources} became {new.resources}"
    if old.text() == new.text():
        return None
    before = comparable(old, current_name).splitlines()
    after = comparable(new, current_name).splitlines()
    for number, (was, is_now) in enumerate(zip(before, after), 1):
        if was != is_now:
            return f"line {number} of its code: '{was}' became '{is_now}'"
    if len(before) != len(after):
        return f"{len(before)} lines of code became {len(after)}"
    return None


def order(function: Function):
    """Sorts functions of one name by their contents, not by the places of their objects in an archive."""
    return function.resources, function.text()


def differences(old, new, current_name, architectures):
    """Yields a line for each function that only one file has, or that differs between the files."""
    for key in sorted({*old, *new}):
        architecture, name = key
        if architecture not in architectures:
            continue
        befores, afters = old.get(key, []), new.get(key, [])
        if len(befores) != len(afters):
            yield f"{architecture} {name}: {len(befores)} in the old file, {len(afters)} in the new one"
            continue
        for before, after in zip(sorted(befores, key=order), sorted(afters, key=order)):
            if found := difference(before, after, current_name):
                yield f"{architecture} {name}: {found}"


def compare(tool: str, old_file: str, new_file: str, current_name, architectures) -> int:
    old = read_functions(tool, old_file, current_name)
    new = read_functions(tool, new_file, current_name)
    for architecture in architectures:
        for file, functions in ((old_file, old), (new_file, new)):
            if not any(key[0] == architecture for key in functions):
                raise Unusable(f"'{file}' has no machine code for {architecture}. Build it for {', '.join(architectures)}.")
    found = list(differences(old, new, current_name, architectures))
    for line in found:
        print(line)
    counts = ", ".join(f"{sum(len(new[key]) for key in new if key[0] == a)} for {a}" for a in architectures)
    print(f"{len(found)} differences; functions in the new file: {counts}")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the machine code of two builds of the kernels, function by function.")
    parser.add_argument("old", help="object or archive of the old build")
    parser.add_argument("new", help="object or archive of the new build")
    parser.add_argument("--renames", help="map of names (default: none)")
    parser.add_argument("--arch", action="append", help=f"architecture, may be repeated (default: {' and '.join(ARCHITECTURES)})")
    arguments = parser.parse_args()
    try:
        rows = renames.read(pathlib.Path(arguments.renames)) if arguments.renames else []
        return compare(find_tool(), arguments.old, arguments.new, renames.NameMap(rows), arguments.arch or ARCHITECTURES)
    except (Unusable, renames.RenamesError, OSError) as error:
        print(f"compare_sass.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
