#!/usr/bin/env python3
"""Checks the layer rule: which project headers, and which libraries, a file may include.

    check_layers.py SOURCE_DIR

Prints every include that points up or across and exits 1, or exits 0. Run by ctest.
"""
import pathlib
import re
import sys

# layer: (project layers it may include besides itself, include prefixes of libraries it must not use)
TORCH = ("torch/", "ATen/", "c10/")
CUDA = ("cuda", "cublas", "nvml", "cupti")
GBENCH = ("benchmark/",)
JSON = ("nlohmann/",)
LAYERS = {
    "core": (set(), TORCH + CUDA + GBENCH + JSON),
    "cuda": ({"core"}, TORCH + GBENCH + JSON),
    "kernels": ({"core", "cuda"}, TORCH + GBENCH + JSON),
    "model": ({"core", "cuda", "kernels"}, GBENCH + JSON),
    "measure": ({"core", "cuda"}, TORCH + GBENCH + JSON),
    "capture": ({"core"}, GBENCH + JSON),
    "profile": ({"core"}, TORCH + CUDA + GBENCH),
    "report": ({"core"}, TORCH + CUDA + GBENCH),
    "bench": ({"core", "cuda", "kernels", "model", "measure", "capture", "report"}, TORCH),
    "tools": ({"core", "report", "profile"}, TORCH + CUDA + GBENCH),
}
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


def violations(root: pathlib.Path):
    files = [f for d in ("include", "src", "bench", "tools") for f in sorted((root / d).rglob("*"))]
    for file in files:
        if file.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
            continue
        path = file.relative_to(root)
        layer = layer_of(path)
        if layer not in LAYERS:
            yield f"{path}: belongs to no known layer"
            continue
        allowed, forbidden = LAYERS[layer]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match[2]
            if header.startswith("tbench/"):
                other = header.split("/")[1]
                if other != layer and other not in allowed:
                    yield f"{path}:{number}: {layer} may not include {other} ({header})"
            elif match[1] == "<" and header.startswith(forbidden):
                yield f"{path}:{number}: {layer} may not use {header}"


def main() -> int:
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
