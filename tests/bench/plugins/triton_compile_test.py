#!/usr/bin/env python3
"""The Triton kernels of examples/plugin, compiled for a GPU without one, with the arguments that inductor passes: tensors
and integers. Their names are not keywords of C++, since inductor writes them into the package's source."""
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/plugin"))
sys.dont_write_bytecode = True
scratch = tempfile.TemporaryDirectory()
os.environ["TRITON_CACHE_DIR"] = scratch.name

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import attention  # noqa: E402
import swiglu  # noqa: E402

INTEGERS = ("seq_len", "count")
FLOATS = ("lse", "delta")  # tensors that are float32 in every precision
CONSTANTS = {"D": 64, "SCALE": 0.125, "CAUSAL": True, "BLOCK": 64}
KEYWORDS = {"auto", "bool", "case", "char", "class", "const", "default", "delete", "do", "double", "else", "enum", "float", "for",
            "if", "int", "long", "new", "operator", "private", "public", "register", "return", "short", "signed", "sizeof",
            "static", "struct", "switch", "template", "this", "try", "union", "unsigned", "using", "virtual", "void", "while"}


def kernels_of(module):
    """Returns the functions that are launched: they ask for their place in a grid."""
    return [value for value in vars(module).values()
            if isinstance(value, triton.runtime.JITFunction) and "program_id" in value.src]


def type_of(name, dtype):
    if name in CONSTANTS:
        return "constexpr"
    return "i32" if name in INTEGERS else "*fp32" if name in FLOATS else f"*{dtype}"


class Kernels(unittest.TestCase):
    def check(self, module, dtype, count):
        kernels = kernels_of(module)
        self.assertEqual(len(kernels), count)
        for kernel in kernels:
            self.assertFalse(KEYWORDS & set(kernel.arg_names), kernel.__name__)
            signature = {name: type_of(name, dtype) for name in kernel.arg_names}
            constants = {name: CONSTANTS[name] for name in kernel.arg_names if name in CONSTANTS}
            made = triton.compile(ASTSource(kernel, signature, constexprs=constants), target=GPUTarget("cuda", 90, 32))
            self.assertIn("ptx", made.asm, kernel.__name__)

    def test_attention(self):
        self.check(attention, "bf16", 3)

    def test_swiglu(self):
        self.check(swiglu, "fp32", 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
