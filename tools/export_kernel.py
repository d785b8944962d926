#!/usr/bin/env python3
"""Makes a package from a Python function, for transformer_bench --tb_plugin=NAME.pt2.

    export_kernel.py FILE.py:FUNCTION --op OP [--backward FUNCTION] [--precision bf16,fp32] [--fix d_ff=4096,tokens=1024]
                     [--name NAME] [--device cuda|cpu] [--out NAME.pt2] [--jobs N]

The function takes the operation's tensors, contiguous and on the device, and returns its results, contiguous and in
their dtypes. include/tbench/plugin.h describes both for every OP of the family Kernel. `gemm` is
f(x [m, k], w [n, k]) = x w^T. `attention` is f(q, k, v, causal), or f(q, k, v) without a mask, with tensors
[batch, heads, seq_len, head_dim]. Values that FUNCTION returns after the results are kept for the function of --backward,
which is in the same file. That function takes the inputs, everything that FUNCTION has returned, and the results'
gradients (and causal), and returns the inputs' gradients. `auto` means FUNCTION_backward, if the file has it. Each
function may also be an nn.Module.

Both functions are traced (torch.export) and compiled ahead of time (inductor). Triton kernels in them need
torch.library.wrap_triton. A package runs with the PyTorch version and on the GPU architecture, or the kind of CPU, with
which it was made. For extents that --fix does not fix, it supports all values from 2 on, or all multiples of 8 from 16 on.
Code for fixed extents is often faster.
"""
import concurrent.futures
import multiprocessing
import sys
import time
import traceback

from kernel_export.command_line import parse_arguments
from kernel_export.compiling import compiled, metadata, package
from kernel_export.operations import Refused
from kernel_export.progress import die_with_parent, say
from kernel_export.source import backward_of, function_of, load
from kernel_export.tracing import traced


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
    if share == 0:
        say(f"tracing {name}")
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
        with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn"), die_with_parent) as pool:
            shares = list(pool.map(share_of, *zip(*((arguments, share, arguments.jobs) for share in range(arguments.jobs)))))
        keys, extents, _ = shares[0]
        files = {key: made for share in shares for key, made in share[2].items()}
    say(f"packing {len(keys)} graphs")
    package(files, keys, arguments.out)
    return keys, extents


def main():
    arguments, began = parse_arguments(__doc__), time.monotonic()
    try:
        graphs, extents = export_by_processes(arguments)
    except Refused as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        sys.exit(f"export_kernel.py: {error}")
    except OSError as error:
        sys.exit(f"export_kernel.py: --out {arguments.out}: {error.strerror}")
    print(f"{arguments.out}: impl:{arguments.name} of {arguments.op}, {', '.join(graphs)}; {extents}; made in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
