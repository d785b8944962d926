"""An example of your own attention, forward and backward with online softmax: Triton kernels on a GPU, PyTorch's operations
on a CPU.

Forward keeps the logarithm of each row's sum of exponentials (lse), from which backward computes the probabilities again.
"""
import torch
import triton
import triton.language as tl
from torch.library import wrap_triton

BLOCK = 64  # rows of q, and of k and v, per tile


@triton.jit
def tile_at(x, head, rows, seq_len, D: tl.constexpr):
    place = (head * seq_len + rows)[:, None] * D + tl.arange(0, D)[None, :]
    return x + place, (rows < seq_len)[:, None]


@triton.jit
def load(x, head, rows, seq_len, D: tl.constexpr):
    place, is_inside = tile_at(x, head, rows, seq_len, D)
    return tl.load(place, mask=is_inside, other=0.0)


@triton.jit
def store(x, head, rows, seq_len, value, D: tl.constexpr):
    place, is_inside = tile_at(x, head, rows, seq_len, D)
    tl.store(place, value.to(x.dtype.element_ty), mask=is_inside)


@triton.jit
def scores(q, k, rows, cols, seq_len, SCALE: tl.constexpr, CAUSAL: tl.constexpr):
    sees = (rows < seq_len)[:, None] & (cols < seq_len)[None, :]
    if CAUSAL:
        sees = sees & (rows[:, None] >= cols[None, :])
    return tl.where(sees, tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE, -1e30), sees


@triton.jit
def forward_kernel(q, k, v, o, lse, seq_len, D: tl.constexpr, SCALE: tl.constexpr, CAUSAL: tl.constexpr,
                   BLOCK: tl.constexpr):
    head, first = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK
    rows = first + tl.arange(0, BLOCK)
    q_tile = load(q, head, rows, seq_len, D)
    top, total, sums = tl.full([BLOCK], -1e30, tl.float32), tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK, D], tl.float32)
    for begin in range(0, tl.minimum(first + BLOCK, seq_len) if CAUSAL else seq_len, BLOCK):
        cols = begin + tl.arange(0, BLOCK)
        s, sees = scores(q_tile, load(k, head, cols, seq_len, D), rows, cols, seq_len, SCALE, CAUSAL)
        new_top = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.where(sees, tl.exp(s - new_top[:, None]), 0.0), tl.exp(top - new_top)
        v_tile = load(v, head, cols, seq_len, D)
        sums = sums * shrink[:, None] + tl.dot(p.to(v_tile.dtype), v_tile, input_precision="ieee")
        top, total = new_top, total * shrink + tl.sum(p, 1)
    store(o, head, rows, seq_len, sums / total[:, None], D)
    tl.store(lse + head * seq_len + rows, top + tl.log(total), mask=rows < seq_len)


@triton.jit
def probabilities(q, k, v, grad_o, lse, delta, head, rows, cols, seq_len, SCALE: tl.constexpr, CAUSAL: tl.constexpr):
    """Returns P, and the gradient of the scores before the scale."""
    at, is_row = head * seq_len + rows, rows < seq_len
    s, sees = scores(q, k, rows, cols, seq_len, SCALE, CAUSAL)
    p = tl.where(sees, tl.exp(s - tl.load(lse + at, mask=is_row, other=0.0)[:, None]), 0.0)
    dp = tl.dot(grad_o, tl.trans(v), input_precision="ieee")
    return p, p * (dp - tl.load(delta + at, mask=is_row, other=0.0)[:, None]) * SCALE


@triton.jit
def dq_kernel(q, k, v, grad_o, lse, delta, dq, seq_len, D: tl.constexpr, SCALE: tl.constexpr, CAUSAL: tl.constexpr,
              BLOCK: tl.constexpr):
    head, first = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK
    rows = first + tl.arange(0, BLOCK)
    q_tile, do_tile = load(q, head, rows, seq_len, D), load(grad_o, head, rows, seq_len, D)
    sums = tl.zeros([BLOCK, D], tl.float32)
    for begin in range(0, tl.minimum(first + BLOCK, seq_len) if CAUSAL else seq_len, BLOCK):
        cols = begin + tl.arange(0, BLOCK)
        k_tile, v_tile = load(k, head, cols, seq_len, D), load(v, head, cols, seq_len, D)
        _, ds = probabilities(q_tile, k_tile, v_tile, do_tile, lse, delta, head, rows, cols, seq_len, SCALE, CAUSAL)
        sums += tl.dot(ds.to(k_tile.dtype), k_tile, input_precision="ieee")
    store(dq, head, rows, seq_len, sums, D)


@triton.jit
def dkv_kernel(q, k, v, grad_o, lse, delta, dk, dv, seq_len, D: tl.constexpr, SCALE: tl.constexpr, CAUSAL: tl.constexpr,
               BLOCK: tl.constexpr):
    head, first = tl.program_id(1).to(tl.int64), tl.program_id(0) * BLOCK
    cols = first + tl.arange(0, BLOCK)
    k_tile, v_tile = load(k, head, cols, seq_len, D), load(v, head, cols, seq_len, D)
    dk_sums, dv_sums = tl.zeros([BLOCK, D], tl.float32), tl.zeros([BLOCK, D], tl.float32)
    for begin in range(first if CAUSAL else 0, seq_len, BLOCK):
        rows = begin + tl.arange(0, BLOCK)
        q_tile, do_tile = load(q, head, rows, seq_len, D), load(grad_o, head, rows, seq_len, D)
        p, ds = probabilities(q_tile, k_tile, v_tile, do_tile, lse, delta, head, rows, cols, seq_len, SCALE, CAUSAL)
        dk_sums += tl.dot(tl.trans(ds.to(q_tile.dtype)), q_tile, input_precision="ieee")
        dv_sums += tl.dot(tl.trans(p.to(do_tile.dtype)), do_tile, input_precision="ieee")
    store(dk, head, cols, seq_len, dk_sums, D)
    store(dv, head, cols, seq_len, dv_sums, D)


def launch(kernel, q, causal, *tensors):
    # SCALE is a constant. If it were an argument, inductor would pass it as float64, to which Triton would promote the
    # scores.
    batch, heads, seq_len, head_dim = q.shape
    wrap_triton(kernel)[(triton.cdiv(seq_len, BLOCK), batch * heads)](
        *tensors, seq_len, D=head_dim, SCALE=head_dim**-0.5, CAUSAL=causal, BLOCK=BLOCK)


def scores_of(q, k, causal):
    s = q.float() @ k.float().transpose(-1, -2) * q.shape[-1]**-0.5
    sees = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril()
    return torch.where(sees, s, float("-inf")) if causal else s


def attention(q, k, v, causal):
    if not q.is_cuda:
        s = scores_of(q, k, causal)
        lse = torch.logsumexp(s, -1)
        return (torch.exp(s - lse[..., None]) @ v.float()).to(q.dtype), lse
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    launch(forward_kernel, q, causal, q, k, v, o, lse)
    return o, lse


def attention_backward(q, k, v, o, lse, grad_o, causal):
    delta = (o.float() * grad_o.float()).sum(-1)
    if not q.is_cuda:
        p, grad = torch.exp(scores_of(q, k, causal) - lse[..., None]), grad_o.float()
        ds = p * (grad @ v.float().transpose(-1, -2) - delta[..., None]) * q.shape[-1]**-0.5
        dq, dk, dv = ds @ k.float(), ds.transpose(-1, -2) @ q.float(), p.transpose(-1, -2) @ grad
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    launch(dq_kernel, q, causal, q, k, v, grad_o, lse, delta, dq)
    launch(dkv_kernel, q, causal, q, k, v, grad_o, lse, delta, dk, dv)
    return dq, dk, dv
