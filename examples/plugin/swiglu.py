"""An example of your own swiglu, h = silu(gate) up, for a package: a Triton kernel on a GPU, PyTorch's operations on a CPU."""
import torch
import triton
import triton.language as tl
from torch.library import wrap_triton

BLOCK = 1024


@triton.jit
def swiglu_kernel(gate, up, h, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    is_inside = i < count
    g = tl.load(gate + i, mask=is_inside).to(tl.float32)
    u = tl.load(up + i, mask=is_inside).to(tl.float32)
    tl.store(h + i, (g * tl.sigmoid(g) * u).to(h.dtype.element_ty), mask=is_inside)


def swiglu(gate, up):
    if not gate.is_cuda:
        return torch.nn.functional.silu(gate) * up
    h, count = torch.empty_like(gate), gate.numel()
    wrap_triton(swiglu_kernel)[(triton.cdiv(count, BLOCK),)](gate, up, h, count, BLOCK=BLOCK)
    return h


def swiglu_backward(gate, up, h, dh):
    """Returns the gradients of gate and up. Inductor compiles them into one kernel."""
    g, u, dh = gate.float(), up.float(), dh.float()
    sigmoid = torch.sigmoid(g)
    silu = g * sigmoid
    dgate, dup = dh * u * (sigmoid + silu * (1 - sigmoid)), dh * silu
    return dgate.to(gate.dtype), dup.to(up.dtype)
