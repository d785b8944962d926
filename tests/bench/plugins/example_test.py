#!/usr/bin/env python3
"""Builds the example from an installed prefix with the command of its page, and measures it; the header is plain C too.

    example_test.py BUILD_DIR NVCC
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, **options)


def commands_of(page, prefix, without_gpu):
    """The lines of the page's first block of commands, for this prefix."""
    block = re.search(r"```\n(.*?)```", page, re.DOTALL)[1]
    for line in block.splitlines():
        words = [word.replace("PREFIX", str(prefix)) for word in shlex.split(line)]
        if without_gpu and "-arch=native" in words:
            words.remove("-arch=native")
        yield words


def main():
    build, nvcc = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix, stdout=subprocess.DEVNULL)
        # The installed tool has what it imports; kernel_packages_test.py runs it.
        run(sys.executable, prefix / "share/transformer_bench/tools/export_kernel.py", "--help", stdout=subprocess.DEVNULL)
        header = folder / "header.c"
        header.write_text('#include "tbench/plugin.h"\nint uses = TBENCH_PLUGIN_ABI;\n')
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", prefix / "include", header)
        has_gpu = shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
        page = (prefix / "share/transformer_bench/plugin/README.md").read_text()
        compile_it, measure = commands_of(page, prefix, not has_gpu)
        compile_it[0] = nvcc
        run(*compile_it, cwd=folder)
        run(*measure, cwd=folder)
        impls = {}
        for entry in json.loads((folder / "mine.json").read_text())["benchmarks"]:
            impls[entry["tbench"]["parameters"]["impl"]] = entry["tbench"]["status"]
        assert all(impls[name] in ("ok", "unstable") for name in ("mine", "aten")), impls  # unstable: on a busy machine


if __name__ == "__main__":
    main()
