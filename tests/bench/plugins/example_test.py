#!/usr/bin/env python3
"""Builds the examples from an installed prefix with the commands of their page, and measures them; the header is plain C too.

    example_test.py BUILD_DIR NVCC
"""
import gzip
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


BRIEF = ("--benchmark_filter=seq_len:64/", "--benchmark_min_time=0.02", "--benchmark_min_warmup_time=0.01")


def commands_of(page, source, prefix, without_gpu):
    """Returns the lines of the page's block of commands that compiles `source`, with this prefix."""
    block = next(block for block in re.findall(r"```\n(.*?)```", page, re.DOTALL) if source in block)
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
        # The installed tool finds its imports; kernel_packages_test.py runs it.
        run(sys.executable, prefix / "share/transformer_bench/tools/export_kernel.py", "--help", stdout=subprocess.DEVNULL)
        header = folder / "header.c"
        header.write_text('#include "tbench/plugin.h"\nint uses = TBENCH_PLUGIN_ABI;\n')
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", prefix / "include", header)
        has_gpu = shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
        page = (prefix / "share/transformer_bench/plugin/README.md").read_text()
        compile_it, measure = commands_of(page, "swiglu.cu", prefix, not has_gpu)
        compile_it[0] = nvcc
        run(*compile_it, cwd=folder)
        run(*measure, cwd=folder)
        impls = {}
        for entry in json.loads((folder / "mine.json").read_text())["benchmarks"]:
            impls[entry["tbench"]["parameters"]["impl"]] = entry["tbench"]["status"]
        assert all(impls[name] in ("ok", "unstable") for name in ("mine", "aten")), impls  # unstable: on a busy machine
        check_attention(folder, nvcc, commands_of(page, "attention.cu", prefix, not has_gpu), has_gpu)


def check_attention(folder, nvcc, commands, has_gpu):
    """Makes a page from the CUDA example; on a CPU with its smallest shapes. author_test.py tests the Python command.
    """
    _, compile_it, measure = commands
    run(nvcc, *compile_it[1:], cwd=folder)
    run(*measure, *(() if has_gpu else BRIEF), cwd=folder)
    statuses = {}
    for entry in json.loads(gzip.decompress((folder / "cuda.json.gz").read_bytes()))["benchmarks"]:
        statuses.setdefault(entry["tbench"]["parameters"]["impl"], set()).add(entry["tbench"]["status"])
    assert statuses["mine"] <= {"ok", "unstable"}, statuses
    assert "<strong>mine is fastest in " in (folder / "cuda.html").read_text()


if __name__ == "__main__":
    main()
