#!/usr/bin/env python3
"""Checks the rules of the layout.

    check_layers.py SOURCE_DIR

- Arrows: a file may include only the headers of certain layers, and only certain libraries.
- A header in include/tbench/LAYER/ serves another layer, a program or a plug-in. Every other header lies next to its
  source, is included by its path below src/, and is included only by its own layer.
- No folder of sources has more than 16 stems (files with the same name count once, whatever their endings).
- Inside a layer, the includes of its folders form no cycle. A public header counts for the folder of its source, which
  is the source file with its name. A public header without a source stands for the headers that it includes.
- Only the layer `process` starts processes.

Prints every violation and exits 1, or exits 0. Run by ctest.
"""
import collections
import pathlib
import re
import sys

# layer: (project layers it may include besides itself, include prefixes of libraries it must not use)
TORCH = ("torch/", "ATen/", "c10/")
CUDA = ("cuda", "cublas", "nvml", "cupti")
GBENCH = ("benchmark/",)
JSON = ("nlohmann/",)
SQLITE = ("sqlite3.h",)
# The layers of `tbench`, from the bottom to the top. The layer html is above all of them.
HOST = {"core", "stats", "process", "results", "render", "compare", "history", "gate", "studies", "profile"}
LAYERS = {
    "core": (set(), TORCH + CUDA + GBENCH + JSON),
    "stats": ({"core"}, TORCH + CUDA + GBENCH + JSON),
    "sqlite": ({"core"}, TORCH + CUDA + GBENCH + JSON),
    "process": ({"core"}, TORCH + CUDA + GBENCH + JSON),
    "cuda": ({"core", "stats"}, TORCH + GBENCH + JSON),
    "kernels": ({"core", "cuda"}, TORCH + GBENCH + JSON),
    "ranks": ({"core"}, CUDA + GBENCH + JSON),
    "plugin.h": (set(), TORCH + CUDA + GBENCH + JSON),
    "model": ({"core", "stats", "cuda", "kernels", "ranks", "plugin.h"}, GBENCH + JSON),
    "measure": ({"core", "stats", "cuda"}, TORCH + GBENCH + JSON),
    "capture": ({"core", "profile", "cuda"}, GBENCH + JSON),
    "results": ({"core", "stats", "process"}, TORCH + CUDA + GBENCH + SQLITE),
    "render": ({"core", "stats", "results"}, TORCH + CUDA + GBENCH + JSON + SQLITE),
    "compare": ({"core", "stats", "results", "render"}, TORCH + CUDA + GBENCH + SQLITE),
    "history": ({"core", "stats", "sqlite", "results", "render", "compare"}, TORCH + CUDA + GBENCH),
    "gate": ({"core", "stats", "results", "render", "compare", "history"}, TORCH + CUDA + GBENCH + SQLITE),
    "profile": ({"core", "sqlite", "results", "render"}, TORCH + CUDA + GBENCH + SQLITE),
    "studies": ({"core", "stats", "results", "render", "profile"}, TORCH + CUDA + GBENCH + JSON + SQLITE),
    "html": (HOST - {"process", "profile"}, TORCH + CUDA + GBENCH + SQLITE),
    "bench": (
        {"core", "stats", "cuda", "kernels", "model", "measure", "process", "profile", "capture", "ranks", "results", "render", "studies"},
        TORCH + SQLITE,
    ),
    "tools": (HOST | {"html"}, TORCH + CUDA + GBENCH + SQLITE),
}
MAX_STEMS = 16
SPAWN = re.compile(r"\b(fork|v?fork|posix_spawnp?|execvp?e?|popen|system)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path: pathlib.PurePath) -> str | None:
    parts = path.parts
    if parts[:2] == ("include", "tbench"):
        return parts[2]
    if parts[0] == "src":
        return parts[1]
    if parts[0] in ("bench", "tools"):
        return parts[0]
    return None


def sources_of(root: pathlib.Path):
    for folder in ("include", "src", "bench", "tools"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".cpp", ".hpp", ".h", ".cu", ".cuh"):
                yield file.relative_to(root), file.read_text()


def includes_of(text: str):
    """Returns the line number, the opening bracket or quote, and the header of every include."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def arrow_violations(sources):
    for path, text in sources:
        layer = layer_of(path)
        if layer not in LAYERS:
            yield f"{path}: belongs to no known layer"
            continue
        allowed, forbidden = LAYERS[layer]
        for number, opening, header in includes_of(text):
            if header.startswith("tbench/"):
                other = header.split("/")[1]
                if other != layer and other not in allowed:
                    yield f"{path}:{number}: {layer} may not include {other} ({header})"
            elif opening == "<" and header.startswith(forbidden):
                yield f"{path}:{number}: {layer} may not use {header}"
            elif opening == '"' and "/" in header and header.split("/")[0] in LAYERS:
                other = header.split("/")[0]
                if other != layer:
                    yield f"{path}:{number}: {header} is private to {other}"


def public_header_violations(sources):
    """Returns the headers of include/tbench/ that no file outside their layer includes, directly or through others."""
    public = {str(path)[len("include/") :]: text for path, text in sources if path.parts[0] == "include"}
    needed = {header for path, text in sources for _, _, header in includes_of(text)
              if header in public and header.split("/")[1] != layer_of(path)}
    pending = list(needed)
    while pending:
        for _, _, header in includes_of(public[pending.pop()]):
            if header in public and header not in needed:
                needed.add(header)
                pending.append(header)
    for header in sorted(set(public) - needed):
        yield f"include/{header}: serves its own layer alone; it belongs beside its source"


def full_folders(sources):
    stems = collections.defaultdict(set)
    for path, _ in sources:
        stems[path.parent].add(path.stem)
    for folder, names in stems.items():
        if len(names) > MAX_STEMS:
            yield f"{folder}: {len(names)} stems; at most {MAX_STEMS}"


def folders_of_headers(sources):
    """Returns {header as included: folder} for private headers and for public headers with a source of their name."""
    by_stem = collections.defaultdict(list)
    for path, text in sources:
        if path.suffix in (".cpp", ".cu"):
            by_stem[layer_of(path), path.stem].append((path, text))
    folders = {}
    for path, _ in sources:
        header = str(path).removeprefix("include/").removeprefix("src/")
        if path.parts[0] != "include":
            folders[header] = path.parent
        elif len(own := [source for source, text in by_stem[layer_of(path), path.stem] if f'"{header}"' in text]) == 1:
            folders[header] = own[0].parent
    return folders


def folder_graph(sources):
    """Returns {layer: {folder: folders of the layer that its files include}}."""
    folders = folders_of_headers(sources)
    texts = {str(path).removeprefix("include/"): text for path, text in sources if path.parts[0] == "include"}

    def included(layer, text, seen):
        """Returns the layer's folders that `text` includes. A public header without source counts as its includes."""
        for _, _, spelling in includes_of(text):
            header = spelling if spelling in folders or spelling in texts else f"{layer}/{spelling}"
            if layer_of_header(header) != layer or header in seen:
                continue
            if header in folders:
                yield folders[header]
            elif header in texts:
                yield from included(layer, texts[header], seen | {header})

    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, text in sources:
        folder = folders.get(str(path).removeprefix("include/").removeprefix("src/"))
        if folder is not None:
            graph[layer_of(path)][folder] |= set(included(layer_of(path), text, set())) - {folder}
    return graph


def layer_of_header(header):
    return header.split("/")[1] if header.startswith("tbench/") else header.split("/")[0]


def reachable(edges, start):
    """Returns the folders that `start` includes, directly or through others."""
    found, pending = set(), [start]
    while pending:
        for other in edges.get(pending.pop(), ()):
            if other not in found:
                found.add(other)
                pending.append(other)
    return found


def cyclic_folders(edges):
    """Returns the folders that include themselves through others."""
    return {folder for folder in edges if folder in reachable(edges, folder)}


def folder_cycles(sources):
    graph = folder_graph(sources)
    for layer in sorted(graph):
        found = {str(folder) for folder in cyclic_folders(graph[layer])}
        for folder in sorted(found):
            others = ", ".join(str(other) for other in sorted(graph[layer][pathlib.PurePath(folder)]) if str(other) in found)
            yield f"{folder}: in an include cycle of folders, through {others}"


def spawns(sources):
    for path, text in sources:
        if layer_of(path) == "process":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if SPAWN.search(line):
                yield f"{path}:{number}: starts a process; process::Command and process::Supervisor do"


def violations(root: pathlib.Path):
    sources = list(sources_of(root))
    for check in (arrow_violations, public_header_violations, full_folders, folder_cycles, spawns):
        yield from check(sources)


def main() -> int:
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
