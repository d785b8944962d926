"""Compiles traced graphs with PyTorch's inductor, and packs them into one file."""
import pathlib
import re
import tempfile

import torch
import torch._inductor
from torch._inductor.package import package_aoti

from compile_attention import device_name, squeeze
from kernel_export.operations import OPS, Refused
from kernel_export.progress import say

FORMAT = 1  # version of the metadata; see src/model/plugins/package.cpp


def machine(device):
    """Returns the same text as machine_in_full() of src/model/plugins/package.cpp."""
    return f"cpu {torch.backends.cpu.get_cpu_capability()}" if device == "cpu" else device_name(device)


def metadata(name, op_name, keys, extents, device):
    return {"tbench_format": str(FORMAT), "tbench_name": name, "tbench_part": OPS[op_name].part or f"Kernel/op:{op_name}",
            "tbench_graphs": " ".join(keys), "tbench_extents": extents.text(), "tbench_machine": machine(device),
            "tbench_torch": torch.__version__.split("+")[0]}


def model_name(index):
    """Returns a graph's name in its package. The loader takes the first match, so no name may begin another one."""
    return f"graph{index:02}"


def uncompilable(error):
    """Returns one line that sums up PyTorch's error: its first line, and the last one that names an error, such as Triton's."""
    first, *others = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    causes = [line for line in others if re.match(r"\w*Error\b|.*\berror: ", line)]
    return f"PyTorch cannot compile the function: {type(error).__name__}: {' '.join([first, *causes[-1:]])}"


def compiled(programs, facts, keys):
    """Compiles these programs. Returns {key: the files that PyTorch has made}, which stay in inductor's cache."""
    options = {"aot_inductor.package": True, "aot_inductor.metadata": facts,
               "cpp.threads": 1,  # for the CPU, on which the suite computes in one thread
               "compile_threads": 1}  # no pool of processes, each of which would load PyTorch for a few kernels
    if not facts["tbench_machine"].startswith("cpu "):
        options["cpp.vec_isa_ok"] = True  # the host runs no code of a graph, so its vector instructions are not tried out
    files = {}
    for key in keys:
        say(f"compiling {key} ({list(programs).index(key) + 1} of {len(programs)})")
        try:
            torch.backends.cuda.matmul.allow_tf32 = "/tf32" in key
            with torch.no_grad():
                files[key] = torch._inductor.aot_compile(programs[key].module(check_guards=False),
                                                         *programs[key].example_inputs, options=options)
        except Exception as error:
            raise Refused(f"{key}: {uncompilable(error)}") from error
    return files


def package(files, keys, path):
    """Writes the compiled graphs into one file."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "kernel.pt2"
        package_aoti(str(made), {model_name(index): files[key] for index, key in enumerate(keys)})
        squeeze(made, path)
