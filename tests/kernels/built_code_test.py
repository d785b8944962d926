"""Tests for which GPUs the linked libraries hold code: machine code and PTX of TBENCH_CUDA_ARCHITECTURES in every
object with kernels, and PTX for the oldest GPUs if the kernels need no tensor cores.

    built_code_test.py "8.0+PTX 9.0a" libtbench_cuda.a libtbench_kernels.a
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from skipping import skipped  # noqa: E402

OLDEST = "75"
# Sources that time every case, or whose kernels need no tensor cores.
FOR_OLDEST = {"cycle_counter.cu", "flush_and_spin.cu", "accumulation.cu", "ceiling.cu"}


def cuobjdump():
    """Returns the path of the toolkit's cuobjdump, or of the one in PyTorch's Triton; None if there is neither."""
    found = shutil.which("cuobjdump") or shutil.which("cuobjdump", path="/usr/local/cuda/bin")
    if found:
        return found
    in_wheels = pathlib.Path(sys.executable).parent.parent.glob("lib/python3*/site-packages/triton/**/cuobjdump")
    return next((str(path) for path in in_wheels), None)


def code_by_object(tool, library, kind):
    """{("ceiling.cu", 1): {"80", "90"}} of machine code ("elf") or "ptx", for objects that have any; objects in several folders
    have one name, and the number tells them apart.
    """
    listing = subprocess.run([tool, f"--list-{kind}", library], capture_output=True, text=True, check=True).stdout
    code = {}
    member = None
    count = collections.Counter()
    for line in listing.splitlines():
        if found := re.match(r"member .*?([\w-]+\.cu)\.o:", line):
            count[found.group(1)] += 1
            member = found.group(1), count[found.group(1)]
        elif found := re.search(r"\.sm_(\d+)a?\.(cubin|ptx)$", line):
            code.setdefault(member, set()).add(found.group(1))
    return code


def expected(architectures):
    """Returns the expected machine code and PTX. Some versions of cuobjdump omit the "a" of 9.0a."""

    def number(text):
        return text.removesuffix("+PTX").removesuffix("a").replace(".", "")

    return ({number(a) for a in architectures}, {number(a) for a in architectures if a.endswith("+PTX")})


def main(architectures, *libraries):
    tool = cuobjdump()
    if tool is None:
        return skipped("there is no cuobjdump")
    machine_code, ptx = expected(architectures.split())
    failures = []
    objects = set()
    num_objects = 0
    for library in libraries:
        elf_of = code_by_object(tool, library, "elf")
        ptx_of = code_by_object(tool, library, "ptx")
        objects |= {name for name, _ in elf_of}
        num_objects += len(elf_of)
        for key, found in elf_of.items():
            name = key[0]
            if found != machine_code:
                failures.append(f"{name}: machine code of {sorted(found)}, expected {sorted(machine_code)}")
            wanted = ptx | ({OLDEST} if name in FOR_OLDEST else set())
            if ptx_of.get(key, set()) != wanted:
                failures.append(f"{name}: PTX of {sorted(ptx_of.get(key, set()))}, expected {sorted(wanted)}")
    if missing := FOR_OLDEST - objects:
        failures.append(f"no code at all of {sorted(missing)}")
    print("\n".join(failures) or f"{num_objects} objects: machine code of {sorted(machine_code)}, PTX of {sorted(ptx)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
