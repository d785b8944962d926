"""Functions that tests/bench/plugins/kernel_packages_test.py exports: right ones, cheats and faults. Products have the
extents of one case of the smoke suite."""
import torch

M, N, K = 64, 96, 128
FIXED = {"m": M, "n": N, "k": K}


def honest(x, w):
    return x @ w.t()


class Remembered(torch.nn.Module):
    """Returns the first product in every call."""

    def __init__(self):
        super().__init__()
        self.register_buffer("y", torch.zeros(M, N))

    def forward(self, x, w):
        y = torch.where(self.y[0, 0] == 0, x @ w.t(), self.y)
        self.y.copy_(y)
        return y.clone()


remembered = Remembered()


def lower_precision(x, w):
    return (x.bfloat16() @ w.bfloat16().t()).float()


def smaller_problem(x, w):
    return x[:, :-1] @ w[:, :-1].t()


def changes_input(x, w):
    x[-1, -1] = 0
    return x @ w.t()


def another_shape(x, w):
    return w @ x.t()


def view(x, w):
    """Returns the right product in a layout that other implementations may not return."""
    return (w @ x.t()).t()


def attention(q, k, v, causal):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        sees = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).tril()
        scores = torch.where(sees, scores, float("-inf"))
    p = torch.softmax(scores, -1)
    return p @ v, p


def attention_backward(q, k, v, o, p, grad_o, causal):
    dp = grad_o @ v.transpose(-1, -2)
    ds = p * (dp - (grad_o * o).sum(-1, keepdim=True)) * q.shape[-1] ** -0.5
    return ds @ k, ds.transpose(-1, -2) @ q, p.transpose(-1, -2) @ grad_o


def of_whole_tensors(x, w):
    """Needs the values of its inputs, which a trace does not have."""
    return x @ w.t() if float(x.sum()) > 0 else x @ w.t() * 2


def of_one_width(gate, up):
    return torch.nn.functional.silu(gate) * up + torch.zeros(4096)
