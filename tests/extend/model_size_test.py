#!/usr/bin/env python3
"""Adds the model size of README.md, and has core_test check it: model_size_test.py SOURCE_DIR BUILD_DIR OBJECTS

Applies the page's block `diff` to a copy of the file that it names, compiles that as the build compiles the file, and links
it with what OBJECTS lists: objects of core_test, and archives. core_test's own copy of the file stays in its archive.
With an odd head_dim in that block, core_test has to fail.
"""
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE, BUILD, OBJECTS = (pathlib.Path(argument) for argument in sys.argv[1:])


def block_of(page):
    """Returns the path and the lines of the page's only block `diff`."""
    (block,) = re.findall(r"```diff\n(.*?)```", page, re.DOTALL)
    _, new, *lines = block.splitlines()
    return new.removeprefix("+++ b/"), [line for line in lines if not line.startswith("@@")]


def applied(text, lines):
    """Returns the text with the change. The lines that the block keeps must occur exactly once."""
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
    if text.count(before) != 1 or before == after:
        sys.exit(f"README.md: the block 'diff' does not apply: the file has its context {text.count(before)} times, not once")
    return text.replace(before, after)


def compile_command(path):
    """Returns the words with which the build compiles a source, without the names of source and object."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if pathlib.Path(entry["file"]) == SOURCE / path:
            words = shlex.split(entry["command"])
            return words[:words.index("-o")]
    sys.exit(f"{BUILD / 'compile_commands.json'}: does not have {path}; configure the build again")


def with_odd_heads(lines):
    """Sets the heads of the added size to d_model, so that head_dim is 1, which core_test must refuse."""
    size = re.compile(r'(\{"[^"]+", (\d+), \d+, \d+, )\d+')
    return [size.sub(r"\1\2", line) if line[0] == "+" else line for line in lines]


def core_test(path, lines, folder):
    """Builds core_test with the change and runs it."""
    copy, program = pathlib.Path(folder, pathlib.Path(path).name), pathlib.Path(folder, "core_test")
    command = compile_command(path)
    copy.write_text(applied((SOURCE / path).read_text(), lines))
    subprocess.run([*command, "-o", copy.with_suffix(".o"), "-c", copy], check=True, cwd=BUILD)
    compiler = next(word for word in command if not word.endswith("ccache"))
    subprocess.run([compiler, "-o", program, copy.with_suffix(".o"), *OBJECTS.read_text().split()], check=True)
    return subprocess.run([program, "--gtest_brief=1"], capture_output=True, text=True)


def main():
    path, lines = block_of((SOURCE / "README.md").read_text())
    with tempfile.TemporaryDirectory() as right, tempfile.TemporaryDirectory() as wrong:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            added = pool.submit(core_test, path, lines, right)
            odd = pool.submit(core_test, path, with_odd_heads(lines), wrong)
        if added.result().returncode != 0:
            sys.exit(f"{added.result().stdout}\nREADME.md: core_test fails with the size of the block 'diff'")
        if odd.result().returncode == 0:
            sys.exit("core_test passes a size with an odd head_dim: it does not see the size that was added")


if __name__ == "__main__":
    main()
