"""The operations for which export_kernel.py makes packages: the tensors that a function takes and returns, their
extents, and the description of variable extents for torch.export.
"""
import dataclasses

import torch
from torch.export import Dim

from time_pytorch_model import VOCAB_SIZE

OF_THE_PRECISION = None
LARGEST = 1 << 20  # maximum of an extent that is not fixed


@dataclasses.dataclass(frozen=True)
class Extent:
    example: int  # value for tracing, which inductor takes as typical
    step: int = 1

    def least(self):
        """Returns the minimum. PyTorch compiles different code for 1, so an extent is at least twice its step."""
        return 2 * self.step


EXTENTS = {"tokens": Extent(2048), "batch": Extent(4), "heads": Extent(12), "m": Extent(2048), "n": Extent(4096, 8),
           "k": Extent(1024, 8), "context": Extent(512, 8), "seq_len": Extent(512, 8), "head_dim": Extent(64, 8),
           "d_model": Extent(1024, 8), "d_ff": Extent(4096, 8), "vocab_size": Extent(VOCAB_SIZE)}
ALWAYS_FIXED = {"vocab_size": VOCAB_SIZE}


def tensors(*descriptions):
    """Parses 'float32 2 tokens d_ff': a dtype, unless it is the precision's, and extents; '2*d_ff' is one extent."""
    result = []
    for description in descriptions:
        words = description.split()
        dtype = OF_THE_PRECISION
        if words and words[0] in ("float32", "int64"):
            dtype = getattr(torch, words.pop(0))
        result.append((dtype, tuple(words)))
    return tuple(result)


@dataclasses.dataclass(frozen=True)
class Op:
    inputs: tuple
    results: tuple
    gradients: tuple = ()  # results of backward; empty if there is no backward
    part: str = None  # part of the suite; None stands for Kernel/op:NAME
    precisions: tuple = ("fp32", "bf16", "fp16")
    flags: tuple = ()  # Python arguments after the tensors


ROWS, HIDDEN, SCORES = "tokens d_model", "tokens d_ff", "batch heads context context"
QK, QKV, QKV_HEADS = "batch context 2 heads head_dim", "batch context 3 heads head_dim", "3 batch heads context head_dim"
LOGITS, TABLE = "tokens vocab_size", "vocab_size d_model"
Q = "batch heads seq_len head_dim"
OPS = {
    "rmsnorm": Op(tensors(ROWS, "d_model"), tensors(ROWS), tensors(ROWS, "d_model")),
    "rope": Op(tensors(QK), tensors(QK), tensors(QK)),
    "rope_qkv": Op(tensors(QKV), tensors(QKV_HEADS), tensors(QKV)),
    "swiglu": Op(tensors(HIDDEN, HIDDEN), tensors(HIDDEN), tensors(HIDDEN, HIDDEN)),
    "swiglu_packed": Op(tensors("tokens 2*d_ff"), tensors(HIDDEN), tensors(HIDDEN, HIDDEN, HIDDEN)),
    "softmax": Op(tensors(SCORES), tensors(SCORES), tensors(SCORES)),
    "cross_entropy": Op(tensors(LOGITS, "int64 tokens"), tensors(""), tensors(LOGITS)),
    "embedding": Op(tensors(TABLE, "int64 tokens"), tensors(ROWS), tensors(TABLE)),
    "cast": Op(tensors("float32 d_ff d_model"), tensors("d_ff d_model"), precisions=("bf16", "fp16")),
    "add": Op(tensors(ROWS, ROWS), tensors(ROWS)),
    "add_rmsnorm": Op(tensors(f"float32 {ROWS}", ROWS, "float32 d_model"), tensors(f"float32 {ROWS}", ROWS),
                      tensors(f"float32 {ROWS}", ROWS, "float32 d_model")),
    "linear_cross_entropy": Op(tensors(ROWS, TABLE, "int64 tokens"), tensors("float32 tokens", ROWS, TABLE)),
    "gemm": Op(tensors("m k", "n k"), tensors("m n"), part="Gemm", precisions=("fp32", "tf32", "bf16", "fp16")),
    "attention": Op(tensors(Q, Q, Q), tensors(Q), tensors(Q, Q, Q), part="Attention",
                    precisions=("fp32", "tf32", "bf16", "fp16"), flags=("causal",)),
}


class Refused(Exception):
    """The requested package cannot be made. The message is for the user."""


class Extents:
    """The extents of an operation: fixed, or unknown to the compiler."""

    def __init__(self, op, fixed):
        words = {word for _, extents in (*op.inputs, *op.results) for word in extents}
        self.names = sorted({word.split("*")[-1] for word in words if not word.isdigit()})
        unknown = [name for name in fixed if name not in (*self.names, *op.flags)]
        if unknown:
            raise Refused(f"--fix {unknown[0]}={fixed[unknown[0]]}: the operation has no such extent; it has "
                          f"{', '.join((*self.names, *op.flags))}")
        self.fixed = {name: value for name, value in {**ALWAYS_FIXED, **fixed}.items() if name in self.names}
        self.roots = {name: Dim(f"_{name}", min=2, max=LARGEST // EXTENTS[name].step)
                      for name in self.names if name not in self.fixed}

    def example(self, word):
        factor, name = split(word)
        return factor if name is None else factor * self.fixed.get(name, EXTENTS[name].example)

    def dimension(self, word):
        """Returns an extent in the form that torch.export takes."""
        factor, name = split(word)
        if name not in self.roots:
            return Dim.STATIC
        factor *= EXTENTS[name].step
        return self.roots[name] if factor == 1 else factor * self.roots[name]

    def text(self):
        def served(name):
            if name in self.fixed:
                return f"{name}={self.fixed[name]}..{self.fixed[name]}/1"
            return f"{name}={EXTENTS[name].least()}..{LARGEST}/{EXTENTS[name].step}"
        return " ".join(served(name) for name in self.names)


def split(word):
    """Splits an extent: '2*d_ff' into (2, 'd_ff'), 'd_ff' into (1, 'd_ff'), '3' into (3, None)."""
    if word.isdigit():
        return int(word), None
    factor, _, name = word.rpartition("*")
    return int(factor or 1), name
