#!/usr/bin/env python3
"""What the digest of the sources is of: sources_digest_test.py CMAKE SOURCE_DIR SOURCES

SOURCES is the list that the build gives BuildInfo.cmake. Exit status 0, or 1 with what went wrong.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def digest(cmake, root, sources):
    output = root / "build_info.cpp"
    subprocess.run([cmake, f"-DSOURCE_DIR={root}", f"-DSOURCES={sources}", f"-DOUTPUT={output}", "-DBUILD_TYPE=Release",
                    "-DCOMPILER=GNU", "-P", root / "tools/cmake/BuildInfo.cmake"], check=True)
    return re.search(r'sources_digest = "([0-9a-f]{64})"', output.read_text())[1]


def changes_digest(cmake, root, sources, name):
    """Whether a line more in the file changes the digest; the file is put back."""
    before = digest(cmake, root, sources)
    file = root / name
    text = file.read_bytes()
    file.write_bytes(text + b"\n")
    after = digest(cmake, root, sources)
    file.write_bytes(text)
    return before != after


def private_headers(root, listed):
    """A header of every folder of the listed sources that one of them includes."""
    found = {}
    for name in listed:
        file = root / name
        if file.suffix not in (".cpp", ".cu"):
            continue
        for header in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            for path in (file.parent / header, root / "include" / header, root / "src" / header):
                if path.is_file():
                    found.setdefault(path.parent, str(path.relative_to(root)))
                    break
    return list(found.values())


def main():
    cmake, source_dir, sources = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("src", "include", "bench", "tools"):
            shutil.copytree(source_dir / name, root / name)
        for name in ("CMakeLists.txt", "CMakePresets.json", "README.md"):
            shutil.copy(source_dir / name, root / name)
        listed = sources.read_text().split()
        compiled = [*listed[:: max(1, len(listed) // 8)], "tools/cmake/TbenchTargets.cmake", *private_headers(root, listed)]
        wrong = [f"{name}: an edit leaves the digest alone" for name in compiled
                 if not changes_digest(cmake, root, sources, name)]
        prose = ["README.md", "bench/README.md", "src/kernels/README.md", "tools/tbench/main.cpp"]
        wrong += [f"{name}: an edit changes the digest" for name in prose if changes_digest(cmake, root, sources, name)]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
