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


def build_info(cmake, root, sources, options="-O3", variant="", listed=""):
    """Returns {name: value} of the fields in the source that is written."""
    output = root / "build_info.cpp"
    subprocess.run([cmake, f"-DSOURCE_DIR={root}", f"-DSOURCES={sources}", f"-DOUTPUT={output}", "-DBUILD_TYPE=Release",
                    "-DCOMPILER=GNU", f"-DOPTIONS={options}", f"-DVARIANT={variant}", f"-DLIST={listed}", "-P",
                    root / "tools/cmake/BuildInfo.cmake"], check=True)
    return dict(re.findall(r'\.(\w+) = "((?:[^"\\]|\\.)*)"', output.read_text()))


def digest(cmake, root, sources):
    return build_info(cmake, root, sources)["sources_digest"]


def digested(cmake, root, sources):
    """Returns the files that the digest covers."""
    listed = root / "digested.txt"
    build_info(cmake, root, sources, listed=listed)
    return {line.split()[1] for line in listed.read_text().splitlines()}


def git(root, *arguments):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", root, *identity, *arguments], check=True, stdout=subprocess.DEVNULL)


def provenance_faults(cmake, root, sources):
    """Returns what is wrong with commit, changes, options and variant, in a checkout made for this test."""
    wrong = []
    options = build_info(cmake, root, sources, '-O3 -DNAME="a" -I\\b', "no_l2")
    if (options["compile_options"], options["variant"]) != ('-O3 -DNAME=\\"a\\" -I\\\\b', "no_l2"):
        wrong.append(f"options and variant are {options}")
    if options["commit"] != "unknown" or options["diff_digest"]:
        wrong.append(f"outside of a checkout commit and changes are {options}")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "all")
    clean = build_info(cmake, root, sources)
    if not re.fullmatch("[0-9a-f]{12}", clean["commit"]) or clean["diff_digest"]:
        wrong.append(f"of a clean checkout commit and changes are {clean}")
    seen = set()
    for text in ("// one\n", "// two\n"):
        with open(root / "bench/main.cpp", "a", encoding="utf-8") as file:
            file.write(text)
        changed = build_info(cmake, root, sources)
        if changed["commit"] != clean["commit"] + "-dirty":
            wrong.append(f"of a changed checkout the commit is {changed}")
        seen.add(changed["diff_digest"])
    if len(seen) != 2 or "" in seen:
        wrong.append(f"digests of two changes are {seen}")
    return wrong


def changes_digest(cmake, root, sources, name, before):
    """Returns whether an additional line in the file changes the digest `before`. The file is restored."""
    file = root / name
    text = file.read_bytes()
    file.write_bytes(text + b"\n")
    after = digest(cmake, root, sources)
    file.write_bytes(text)
    return before != after


def without_records(folder, names):
    """Excludes the measured results, which are most of the bytes. Nothing is compiled from them."""
    return ["results"] if pathlib.Path(folder).name == "bench" else []


def private_headers(root, listed):
    """Returns, for every folder of the listed sources, a header that one of them includes."""
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
            shutil.copytree(source_dir / name, root / name, ignore=without_records)
        for name in ("CMakeLists.txt", "CMakePresets.json", "README.md"):
            shutil.copy(source_dir / name, root / name)
        listed = sources.read_text().split()
        compiled = [*listed[:: max(1, len(listed) // 8)], "tools/cmake/TbenchTargets.cmake", *private_headers(root, listed)]
        before = digest(cmake, root, sources)
        # The digest must not depend on the CMake version. Compares with another CMake if the machine has one.
        for folder_of_cmake in ("/usr/bin", "/usr/local/bin"):
            other = shutil.which("cmake", path=folder_of_cmake)
            if other:
                assert digest(other, root, sources) == before, f"{other} gives another digest than {cmake}"
        of = digested(cmake, root, sources)
        wrong = [f"{name} is not part of the digest" for name in compiled if name not in of]
        prose = ["README.md", "bench/README.md", "src/kernels/README.md", "tools/tbench/main.cpp",
                 "bench/durations/nvidia_h100.csv"]
        wrong += [f"{name} is a part of the digest" for name in prose if name in of]
        if not changes_digest(cmake, root, sources, compiled[0], before):
            wrong.append(f"{compiled[0]}: an edit leaves the digest alone")
        if changes_digest(cmake, root, sources, prose[1], before):
            wrong.append(f"{prose[1]}: an edit changes the digest")
        wrong += provenance_faults(cmake, root, sources)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
