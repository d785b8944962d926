#!/usr/bin/env python3
"""Makes an implementation of one's own from a Python function: a package for transformer_bench --tb_plugin=NAME.pt2.

    export_kernel.py FILE.py:FUNCTION --op OP [--backward FUNCTION] [--precision bf16,fp32] [--fix d_ff=4096,tokens=1024]
                     [--name NAME] [--device cuda|cpu] [--out NAME.pt2] [--jobs N]

The function takes the operation's tensors, contiguous and on the device, and returns its results, contiguous and in
their dtypes; include/tbench/plugin.h has both for every OP of the family Kernel. `gemm` is f(x [m, k], w [n, k]) = x w^T;
`attention` is f(q, k, v, causal) of [batch, heads, seq_len, head_dim], or f(q, k, v) without a mask. What FUNCTION returns behind the results is kept
for --backward, a function of the same file: it takes the inputs, everything that FUNCTION has returned, and the results'
gradients (and causal), and returns the inputs' gradients; `auto` is FUNCTION_backward, where the file has it. An
nn.Module will do for a function.

Both are traced (torch.export) and compiled ahead of time (inductor), Triton kernels in them by torch.library.wrap_triton.
A package runs with the PyTorch and on the GPU architecture, or the kind of CPU, that it was made with. It serves every
extent that --fix does not fix, from 2, or from 16 in steps of 8; code for fixed extents is often faster.
"""
import argparse
import concurrent.futures
import dataclasses
import importlib.util
import inspect
import multiprocessing
import pathlib
import re
import sys
import tempfile
import traceback

import torch
import torch._inductor
from torch._inductor.package import package_aoti
from torch.export import Dim

from compile_attention import device_name, squeeze
from kernel_operations import EXTENTS, LARGEST, OPS, Extents, Refused

FORMAT = 1  # version of the metadata; see src/model/plugins/package.cpp
DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LONGEST_NAME = 32
MAX_JOBS = 16


@dataclasses.dataclass(frozen=True)
class Graph:
    """A graph of a package: its key in the suite, its function, and the tensors that it takes and returns."""
    key: str  # "forward/fp32", "training/bf16/causal1": see src/model/plugins/package.hpp
    function: object
    inputs: tuple
    results: tuple  # the function may return more
    keep: int  # number of returned values that are kept; None: all
    flags: tuple
    precision: str


class Traced(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.function, self.keep, self.flags = graph.function, graph.keep, graph.flags

    def forward(self, *inputs):
        returned = self.function(*inputs, *self.flags)
        returned = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        return returned[:self.keep]


def arguments_of(function):
    """Returns the names of the positional arguments, or None if they are unknown or any number is taken."""
    try:
        arguments = inspect.signature(function.forward if isinstance(function, torch.nn.Module) else function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(argument.kind == argument.VAR_POSITIONAL for argument in arguments):
        return None
    return [argument.name for argument in arguments if argument.kind != argument.KEYWORD_ONLY]


def check_arguments(op_name, function):
    """Refuses a function that does not take the operation's tensors and flags. Returns the flags that it takes."""
    op, names = OPS[op_name], arguments_of(function)
    if names is None or len(names) == len(op.inputs) + len(op.flags):
        return op.flags
    if op.flags and len(names) == len(op.inputs):
        return ()
    tensors = ", ".join(f"[{' '.join(words)}]" for _, words in op.inputs)
    flags = "".join(f" and {flag}" for flag in op.flags)
    raise Refused(f"the function takes ({', '.join(names)}): write it for the {len(op.inputs)} tensors of {op_name}{flags}, "
                  f"{tensors}")


def without_flags(function, count):
    """Returns the function for a caller that passes `count` more flags, which are ignored."""
    return lambda *inputs: function(*inputs[:-count])


def example_tensor(described, extents, precision, device):
    dtype, words = described
    shape = [extents.example(word) for word in words]
    if dtype == torch.int64:
        return torch.zeros(shape, dtype=dtype, device=device)
    return torch.randn(shape, device=device).to(dtype or DTYPES[precision])


def graphs_of(op, function, backward, precision, flags):
    """Returns the graphs of one precision. Tracing finds the further results of `training`, after the operation's."""
    suffix = "".join(f"/{name}{int(value)}" for name, value in flags.items())
    common = {"inputs": op.inputs, "results": op.results, "flags": tuple(flags.values()), "precision": precision}
    graphs = [Graph(key=f"forward/{precision}{suffix}", function=function, keep=len(op.results), **common)]
    if backward is not None:
        graphs.append(Graph(key=f"training/{precision}{suffix}", function=function, keep=None, **common))
        graphs.append(Graph(key=f"backward/{precision}{suffix}", function=backward, keep=len(op.gradients),
                            **{**common, "results": op.gradients}))
    return graphs


def check_results(graph, returned, extents):
    """Compares the values that the traced function returns with the operation's results."""
    if len(returned) < len(graph.results):
        raise Refused(f"the function returns {len(returned)} tensors, not {len(graph.results)}")
    for index, tensor in enumerate(returned):
        if not isinstance(tensor, torch.Tensor):
            raise Refused(f"result {index} is {tensor!r}, not a tensor")
        if not tensor.is_contiguous():
            raise Refused(f"result {index} is not contiguous: return .contiguous() of it")
        if index >= len(graph.results):
            continue
        dtype, words = graph.results[index]
        wanted = [extents.example(word) for word in words]
        shape = [size.node.hint if isinstance(size, torch.SymInt) else size for size in tensor.shape]
        dtype = dtype or DTYPES[graph.precision]
        if shape != wanted or tensor.dtype != dtype:
            raise Refused(f"result {index} is {tensor.dtype} {shape}, not {dtype} {wanted} ({' '.join(words) or 'a scalar'})")


def check_is_pure(program):
    """Refuses a function that changes its arguments or keeps values between launches."""
    signature = program.run_decompositions({}).graph_signature  # the signature has the inputs that are changed in place
    for name in signature.user_inputs_to_mutate.values():
        raise Refused(f"the function changes its argument {name.removeprefix('inputs_')} in place: clone it")
    for name in signature.buffers_to_mutate.values():
        raise Refused(f"the function keeps values in the buffer '{name}' from one launch to the next")


def trace(graph, inputs, dimensions, extents):
    """Returns the exported program, and the values that it returns as fake tensors."""
    torch.backends.cuda.matmul.allow_tf32 = graph.precision == "tf32"
    try:
        with torch.no_grad():
            program = torch.export.export(Traced(graph).eval(), tuple(inputs), dynamic_shapes=(tuple(dimensions),), strict=False)
    except Exception as error:
        raise Refused(untraceable(graph, error)) from error
    returned = [node.meta["val"] if isinstance(node, torch.fx.Node) else node
                for node in program.graph.output_node().args[0][-len(program.graph_signature.user_outputs):]]
    check_is_pure(program)
    check_results(graph, returned, extents)
    return program, returned


def untraceable(graph, error):
    """Returns one line that sums up PyTorch's error."""
    text = str(error)
    extent = re.search(r"Constraints violated \((?:\d+\*)*_(\w+)\)", text)
    if extent and extent[1] in EXTENTS:
        name = extent[1]
        return (f"the function does not serve every {name}: write it for any, or fix it, as in --fix {name}="
                f"{EXTENTS[name].example}")
    return f"PyTorch cannot trace the function: {type(error).__name__}: {(text.strip().splitlines() or [''])[0]}"


def kept_dimensions(returned, program, op, extents):
    """Returns the extents of a training graph's results, in the form that torch.export takes for the backward graph."""
    placeholders = [node.meta["val"] for node in program.graph.find_nodes(op="placeholder")][-len(op.inputs):]
    known = {str(size): extents.dimension(word) for tensor, (_, words) in zip(placeholders, op.inputs)
             for size, word in zip(tensor.shape, words)}
    result = []
    for index, tensor in enumerate(returned):
        for size in tensor.shape:
            if isinstance(size, torch.SymInt) and str(size) not in known:
                raise Refused(f"result {index}, kept for backward, has an extent that no input has: {list(tensor.shape)}; fix "
                              "the extents that it is made of with --fix")
        result.append({i: known.get(str(size), Dim.STATIC) for i, size in enumerate(tensor.shape)})
    return result


def like(tensor, device):
    shape = [size.node.hint if isinstance(size, torch.SymInt) else size for size in tensor.shape]
    return torch.ones(shape, dtype=tensor.dtype, device=device)


def traced_graphs(op, graphs, extents, device):
    """Returns {key: exported program} for one precision."""
    programs = {}

    def dimensions(described):
        return [{i: extents.dimension(word) for i, word in enumerate(words)} for _, words in described]

    def examples(graph, described):
        return [example_tensor(tensor, extents, graph.precision, device) for tensor in described]

    kept, kept_extents = [], []
    for graph in graphs:
        inputs, shapes = examples(graph, op.inputs), dimensions(op.inputs)
        if graph.key.startswith("backward/"):
            inputs += [*kept, *examples(graph, op.results)]
            shapes += [*kept_extents, *dimensions(op.results)]
        try:
            program, returned = trace(graph, inputs, shapes, extents)
            if graph.key.startswith("training/"):
                kept_extents = kept_dimensions(returned, program, op, extents)
                kept = [like(tensor, device) for tensor in returned]
                if len(returned) == len(op.results):
                    continue  # the graph `forward` is sufficient
            programs[graph.key] = program
        except Refused as error:
            raise Refused(f"{graph.key}: {error}") from error.__cause__
    return programs


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


def traced(function, op_name, backward, precisions, fixed, device):
    """Returns {key: exported program}, and the extents. Raises Refused."""
    op, fixed = OPS[op_name], dict(fixed or {})
    flags = check_arguments(op_name, function)
    if len(flags) < len(op.flags):
        if any(fixed.get(flag) for flag in op.flags):
            raise Refused(f"the function does not take {', '.join(op.flags)}: add the argument, or leave out its --fix")
        fixed.update({flag: 0 for flag in op.flags})
        function = without_flags(function, len(op.flags))
        backward = backward and without_flags(backward, len(op.flags))
    extents = Extents(op, fixed)
    choices = [{flag: bool(value)} for flag in op.flags for value in ([fixed[flag]] if flag in fixed else [0, 1])] or [{}]
    programs = {}
    for precision in precisions:
        for flags in choices:
            programs.update(traced_graphs(op, graphs_of(op, function, backward, precision, flags), extents, device))
    return programs, extents


def export(function, op_name, name, path, backward=None, precisions=("fp32",), fixed=None, device="cpu"):
    """Writes the package. Raises Refused."""
    programs, extents = traced(function, op_name, backward, precisions, fixed, device)
    package(compiled(programs, metadata(name, op_name, programs, extents, device), programs), list(programs), path)
    return list(programs), extents.text()


def share_of(arguments, share, shares):
    """Traces the functions of the command line, and compiles every `shares`-th graph from number `share` on. Returns the keys
    of all graphs, their extents, and {key: files}. A graph with a Triton kernel cannot be sent to another process, so each
    process traces for itself."""
    path, name = arguments.function
    module = load(path)
    programs, extents = traced(function_of(module, name, path), arguments.op, backward_of(module, arguments, path),
                               arguments.precision, arguments.fix, arguments.device)
    facts = metadata(arguments.name, arguments.op, programs, extents, arguments.device)
    return list(programs), extents.text(), compiled(programs, facts, list(programs)[share::shares])


def export_by_processes(arguments):
    """Writes the package of the command line, whose graphs --jobs processes compile. Raises Refused."""
    if arguments.jobs == 1:
        keys, extents, files = share_of(arguments, 0, 1)
    else:
        # Fresh processes: a CUDA context does not survive a fork.
        with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn")) as pool:
            shares = list(pool.map(share_of, *zip(*((arguments, share, arguments.jobs) for share in range(arguments.jobs)))))
        keys, extents, _ = shares[0]
        files = {key: made for share in shares for key, made in share[2].items()}
    package(files, keys, arguments.out)
    return keys, extents


def load(path):
    if not path.is_file():
        raise Refused(f"there is no file '{path}'")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Refused(f"'{path}' cannot be imported: {type(error).__name__}: {error}") from error
    return module


def function_of(module, name, path):
    function = getattr(module, name, None)
    if not callable(function):
        raise Refused(f"'{path}' has no function '{name}'")
    return function


def backward_of(module, arguments, path):
    if arguments.backward == "auto":
        return getattr(module, f"{arguments.function[1]}_backward", None) if OPS[arguments.op].gradients else None
    return function_of(module, arguments.backward, path) if arguments.backward else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def source(text):
        path, _, name = text.rpartition(":")
        if not path or not name:
            raise argparse.ArgumentTypeError(f"'{text}' is not FILE.py:FUNCTION")
        return pathlib.Path(path), name

    def extents(text):
        pairs = [pair.partition("=") for pair in text.split(",")]
        for name, _, value in pairs:
            known = range(2) if name == "causal" else range(1, LARGEST + 1)
            if not name or not value.isdigit() or int(value) not in known:
                raise argparse.ArgumentTypeError(f"'{text}' is not NAME=EXTENT,..., as in d_ff=4096,tokens=1024")
        return {name: int(value) for name, _, value in pairs}

    def impl_name(text):
        if not re.fullmatch(rf"[A-Za-z0-9_.-]{{1,{LONGEST_NAME}}}", text):
            raise argparse.ArgumentTypeError(f"'{text}' is not made of 1 to {LONGEST_NAME} letters, digits, '_', '-' and '.'")
        return text

    parser.add_argument("function", type=source, metavar="FILE.py:FUNCTION")
    parser.add_argument("--op", required=True, choices=OPS, metavar="OP", help=f"one of {', '.join(OPS)}")
    parser.add_argument("--backward", metavar="FUNCTION", help="for the cases with a backward pass; of the same file; auto: FUNCTION_backward if there is one")
    parser.add_argument("--precision", type=lambda text: text.split(","), help="[default: bf16; on the CPU fp32]")
    parser.add_argument("--fix", type=extents, default={}, metavar="EXTENT=N,...", help="the only values that the package serves")
    parser.add_argument("--name", type=impl_name, help="value of the cases' key impl [default: the FUNCTION's name]")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=pathlib.Path, help="[default: NAME.pt2]")
    parser.add_argument("--jobs", type=int, choices=range(1, MAX_JOBS + 1), default=1, metavar="N",
                        help=f"processes that compile graphs at a time, 1 to {MAX_JOBS} [default: 1]")
    arguments = parser.parse_args()
    op = OPS[arguments.op]
    arguments.precision = arguments.precision or ["fp32" if arguments.device == "cpu" and "fp32" in op.precisions else "bf16"]
    arguments.name = arguments.name or impl_name(arguments.function[1])
    arguments.out = arguments.out or pathlib.Path(f"{arguments.name}.pt2")
    for precision in arguments.precision:
        if precision not in op.precisions:
            parser.error(f"--precision: '{precision}' is none of {', '.join(op.precisions)}, which --op {arguments.op} has")
    if arguments.backward not in (None, "auto") and not op.gradients:
        parser.error(f"--backward: packages of --op {arguments.op} have no backward pass; leave it out")
    if arguments.out.suffix != ".pt2":
        parser.error(f"--out {arguments.out}: its name must end in .pt2")
    if not arguments.out.parent.is_dir():
        parser.error(f"--out {arguments.out}: there is no folder '{arguments.out.parent}'")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: there is no CUDA device here; packages are made on the machine that runs them")
    return arguments


def main():
    arguments = parse_arguments()
    try:
        graphs, extents = export_by_processes(arguments)
    except Refused as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        sys.exit(f"export_kernel.py: {error}")
    except OSError as error:
        sys.exit(f"export_kernel.py: --out {arguments.out}: {error.strerror}")
    print(f"{arguments.out}: impl:{arguments.name} of {arguments.op}, {', '.join(graphs)}; {extents}")


if __name__ == "__main__":
    main()
