#!/usr/bin/env python3
"""Configures the project with a file more in each folder of README.md's table of extensions.

    configure_test.py CMAKE SOURCE_DIR BUILD_DIR

CMake's description of the targets has to name the files, link the archives that they are in as a whole, and look into
their folders again at every build. Nothing is compiled. What BUILD_DIR knows of compilers and packages is not looked for
again.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, CMAKE = pathlib.Path(sys.argv.pop()), pathlib.Path(sys.argv.pop()), sys.argv.pop()

TARGETS = {"attention_backend": "tbench_model", "model": "tbench_model", "family": "tbench_bench", "study": "tbench_studies"}
ROW = re.compile(r"^\| [^|]+ \| `(\S+/)NAME\.cpp` \| `extend_(\w+)` \|$", re.MULTILINE)
# Maps each kind of extension to its folder, as in the page's table.
FOLDERS = {kind: folder for folder, kind in ROW.findall((SOURCE / "README.md").read_text())}
OF_THIS_BUILD = re.compile(r"(CMAKE_HOME_DIRECTORY|CMAKE_CACHEFILE_DIR|\w+_(SOURCE|BINARY)_DIR)[:-]")


def copy_sources(root):
    for name in ("CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(SOURCE / name, root / name)
    for name in ("bench", "include", "src", "tools/cmake", "tools/tbench"):
        shutil.copytree(SOURCE / name, root / name, ignore=shutil.ignore_patterns("results") if name == "bench" else None)


def copy_findings(build):
    """Copies the cache of BUILD_DIR, without its folders' paths, and the findings about its compilers."""
    entries = [line for line in (BUILD / "CMakeCache.txt").read_text().splitlines() if re.match(r"[\w.+-]+:[A-Z]+=", line)]
    build.mkdir()
    (build / "CMakeCache.txt").write_text("".join(f"{line}\n" for line in entries if not OF_THIS_BUILD.match(line)))
    for folder in (BUILD / "CMakeFiles").glob("[0-9]*.[0-9]*"):
        shutil.copytree(folder, build / "CMakeFiles" / folder.name)


def targets_of(build):
    """Returns {name: CMake's description} of the targets."""
    reply = build / ".cmake/api/v1/reply"
    model = json.loads(next(reply.glob("codemodel-v2-*.json")).read_text())
    return {target["name"]: json.loads((reply / target["jsonFile"]).read_text()) for target in model["configurations"][0]["targets"]}


class Configured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        copy_sources(root)
        for kind, folder in FOLDERS.items():
            shutil.copy(SOURCE / "examples/extend" / f"{kind}.cpp", root / folder / "mine.cpp")
        cls.build = root / "build"
        copy_findings(cls.build)
        (cls.build / ".cmake/api/v1/query").mkdir(parents=True)
        (cls.build / ".cmake/api/v1/query/codemodel-v2").touch()
        configured = subprocess.run([CMAKE, "-S", root, "-B", cls.build, "-DBUILD_TESTING=OFF"], capture_output=True, text=True)
        if configured.returncode != 0:
            sys.exit(configured.stderr)
        cls.targets = targets_of(cls.build)

    def test_the_page_has_a_row_of_each_kind(self):
        self.assertEqual(FOLDERS.keys(), TARGETS.keys())

    def test_the_targets_name_the_files(self):
        for kind, folder in FOLDERS.items():
            self.assertIn(f"{folder}mine.cpp", {source["path"] for source in self.targets[TARGETS[kind]]["sources"]})

    def test_the_program_links_their_archives_whole(self):
        """In a unity build, a part of an archive may happen to suffice, so a list of cases would not show the fault."""
        fragments = [part["fragment"] for part in self.targets["transformer_bench"]["link"]["commandFragments"]]
        for target in set(TARGETS.values()):
            archive = next(i for i, fragment in enumerate(fragments) if f"lib{target}.a" in fragment)
            before = [fragment for fragment in fragments[:archive + 1] if "whole-archive" in fragment or "pop-state" in fragment]
            self.assertTrue(before and "--whole-archive" in before[-1], f"{target}: {fragments}")

    def test_a_build_sees_files_that_come_later(self):
        looks = (self.build / "CMakeFiles/VerifyGlobs.cmake").read_text()
        for folder in FOLDERS.values():
            self.assertIn(f"/{folder}*.cpp", looks)


if __name__ == "__main__":
    unittest.main()
