"""The command line of export_kernel.py."""
import argparse
import pathlib
import re

import torch

from kernel_export.operations import LARGEST, OPS

LONGEST_NAME = 32
MAX_JOBS = 16


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

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
    parser.add_argument("--backward", metavar="FUNCTION", help="function of the same file for the cases with a backward pass; auto: FUNCTION_backward if there is one")
    parser.add_argument("--precision", type=lambda text: text.split(","), help="[default: bf16; on the CPU fp32]")
    parser.add_argument("--fix", type=extents, default={}, metavar="EXTENT=N,...", help="fix these extents: the package then supports only these values")
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
