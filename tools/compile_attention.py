#!/usr/bin/env python3
"""Compiles attention ahead of time with PyTorch's inductor, into the packages that `impl:compiled` loads.

    compile_attention.py --out DIR [--head-dim 16,32,...] [--precision bf16,fp32] [--causal 0,1] [--device cuda|cpu] [--jobs N]

The operations are those of `impl:naive`: product, scale, mask, softmax, product. The backward pass is their gradient,
written out, and starts from the probabilities that the forward pass keeps. A training step has two graphs, as with
torch.compile. A package supports every number of (batch, head) pairs from 2 on, and every sequence length that is a
multiple of 8, from 16 to 65,536. TF32 is a setting of the run, not of the package. Existing packages are kept. Then run:

    ./transformer_bench --tb_packages=DIR --benchmark_filter='Attention/.*/impl:(naive|compiled)'
"""
import argparse
import concurrent.futures
import math
import multiprocessing
import os
import pathlib
import tempfile
import time
import zipfile

import torch
import torch._inductor.config
from torch.export import Dim

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
COURSE_HEAD_DIMS = "16,32,64,128,256,512"


class Attention(torch.nn.Module):
    """Attention by separate operations. q, k, v: [pairs, seq, head_dim]."""

    def __init__(self, head_dim, causal):
        super().__init__()
        self.scale, self.causal = 1 / math.sqrt(head_dim), causal

    def probabilities(self, q, k):
        scores = torch.matmul(q, k.transpose(1, 2)) * self.scale
        if self.causal:
            sees = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool, device=q.device).tril()
            scores = torch.where(sees, scores, float("-inf"))
        return torch.softmax(scores, -1)


class Forward(Attention):
    def forward(self, q, k, v):
        return (torch.matmul(self.probabilities(q, k), v),)


class Training(Attention):
    """The forward pass of a training step: returns the output and the probabilities."""

    def forward(self, q, k, v):
        p = self.probabilities(q, k)
        return torch.matmul(p, v), p


class Backward(Attention):
    def forward(self, q, k, v, p, grad_o):
        dv = torch.matmul(p.transpose(1, 2), grad_o)
        dp = torch.matmul(grad_o, v.transpose(1, 2))
        ds = torch._softmax_backward_data(dp, p, -1, p.dtype) * self.scale
        return torch.matmul(ds, k), torch.matmul(ds.transpose(1, 2), q), dv


PARTS = {"forward": Forward, "training": Training, "backward": Backward}


def device_name(device):
    if device == "cpu":
        return "cpu"
    major, minor = torch.cuda.get_device_capability()
    return f"sm{major}{minor}"


def skip_vector_trial(device):
    """Keeps inductor from compiling programs that try the host's vector instructions, since no graph for a GPU runs on it."""
    if device != "cpu":
        torch._inductor.config.cpp.vec_isa_ok = True


def compile_part(part, head_dim, causal, precision, device, path):
    pairs, blocks = Dim("pairs", min=2, max=1 << 16), Dim("blocks", min=2, max=1 << 13)
    seq = 8 * blocks
    rows = torch.randn(4, 64, head_dim, device=device, dtype=DTYPES[precision])
    scores = torch.rand(4, 64, 64, device=device, dtype=DTYPES[precision])
    arguments = (rows, rows + 1, rows + 2, scores, rows + 3) if part == "backward" else (rows, rows + 1, rows + 2)
    shapes = tuple({0: pairs, 1: seq, 2: seq} if argument is scores else {0: pairs, 1: seq} for argument in arguments)
    module = PARTS[part](head_dim, causal).to(device).eval()
    torch._inductor.config.compile_threads = 1  # several packages are compiled in parallel
    skip_vector_trial(device)
    with torch.no_grad():
        program = torch.export.export(module, arguments, dynamic_shapes=shapes, strict=False)
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "attention.pt2"
            torch._inductor.aoti_compile_and_package(program, package_path=str(made))
            squeeze(made, path)


def squeeze(source, path):
    """Compresses the contents of a package, which PyTorch stores uncompressed, with some megabytes each."""
    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, old.read(entry))
    os.replace(partial, path)


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--head-dim", type=numbers, default=COURSE_HEAD_DIMS, help="[default: %(default)s]")
    parser.add_argument("--precision", type=lambda text: text.split(","), default="bf16,fp32", help="[default: %(default)s]")
    parser.add_argument("--causal", type=numbers, default="0,1", help="[default: %(default)s]")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) * 3 // 4), metavar="N",
                        help="number of processes that compile, each with its own CUDA context [default: three quarters of the processors, here %(default)s]")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.precision if name not in DTYPES]
    if unknown:
        parser.error(f"--precision: '{unknown[0]}' is none of {', '.join(DTYPES)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    wanted = [(part, head_dim, causal, precision) for precision in arguments.precision for head_dim in arguments.head_dim
              for causal in arguments.causal for part in PARTS]
    device = device_name(arguments.device)
    packages = {arguments.out / f"attention_{part}_{device}_d{head_dim}_causal{causal}_{precision}.pt2":
                (part, head_dim, bool(causal), precision, arguments.device)
                for part, head_dim, causal, precision in wanted}
    missing = {path: what for path, what in packages.items() if not path.exists()}
    begin = time.monotonic()
    # Fresh processes: a CUDA context does not survive a fork.
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn")) as pool:
        made = {pool.submit(compile_part, *what, path): path for path, what in missing.items()}
        for number, future in enumerate(concurrent.futures.as_completed(made), 1):
            future.result()
            path = made[future]
            print(f"[{number}/{len(missing)}] {path.name}: {path.stat().st_size >> 10} KiB, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{len(packages)} packages, {sum(path.stat().st_size for path in packages) >> 10} KiB, in {arguments.out}")


if __name__ == "__main__":
    main()
