#!/usr/bin/env python3
"""The Triton kernels of examples/plugin/attention.py, run by Triton's interpreter on the CPU, against attention in float64.
A length that is not a multiple of a tile, with the mask and without; the interpreter has no bfloat16."""
import os
import pathlib
import sys
import unittest

os.environ["TRITON_INTERPRET"] = "1"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/plugin"))
sys.dont_write_bytecode = True

import torch  # noqa: E402

import attention as example  # noqa: E402

example.wrap_triton = lambda kernel: kernel  # nothing is traced


def by_kernels(q, k, v, grad, causal):
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3])
    example.launch(example.forward_kernel, q, causal, q, k, v, o, lse)
    delta = (o.float() * grad.float()).sum(-1)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    example.launch(example.dq_kernel, q, causal, q, k, v, grad, lse, delta, dq)
    example.launch(example.dkv_kernel, q, causal, q, k, v, grad, lse, delta, dk, dv)
    return o, dq, dk, dv


def by_operations(q, k, v, grad, causal):
    o, lse = example.attention(q, k, v, causal)
    return o, *example.attention_backward(q, k, v, o, lse, grad, causal)


def in_float64(q, k, v, grad, causal):
    q, k, v = (tensor.double().requires_grad_() for tensor in (q, k, v))
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    o.backward(grad.double())
    return o.detach(), q.grad, k.grad, v.grad


class TritonExample(unittest.TestCase):
    def check(self, dtype, seq_len, head_dim, causal, tolerance):
        torch.manual_seed(0)
        operands = [torch.randn(1, 2, seq_len, head_dim).to(dtype) for _ in range(4)]
        right = in_float64(*operands, causal)
        for compute in (by_kernels, by_operations):
            for name, value, wanted in zip(("o", "dq", "dk", "dv"), compute(*operands, causal), right):
                self.assertLess(float((value.double() - wanted).abs().max()), tolerance, (compute.__name__, name, causal))

    def test_float32(self):
        for causal in (True, False):
            self.check(torch.float32, 136, 32, causal, 1e-5)

    def test_float16(self):
        self.check(torch.float16, 72, 64, True, 5e-3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
