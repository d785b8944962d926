#!/usr/bin/env python3
"""Makes tests/data/model_reference.{json,bin}: what PyTorch computes for a very small model.

The model is written with PyTorch's own modules (nn.Linear, nn.RMSNorm, scaled_dot_product_attention, cross_entropy)
and trained by torch.optim.AdamW, so that it shares nothing with the C++ layers that are tested against it. For float64,
float32 and bfloat16 autocast: logits, loss, every gradient, and every parameter after three AdamW steps.

The .bin file is the tensors one after the other, little-endian; the .json file says name, dtype, shape and offset.

    tools/make_model_reference.py [--out-dir tests/data]
"""

import argparse
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional

CONFIG = {"d_model": 16, "d_ff": 32, "num_layers": 2, "num_heads": 2, "vocab_size": 32, "context": 16, "batch": 2}
SEED = 20
STEPS = 3
THETA = 10_000.0


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in ("q", "k", "v", "output"):
            self.add_module(f"{name}_proj", nn.Linear(d_model, d_model, bias=False))

    def rotate(self, x):
        """Rotates the pairs (2i, 2i + 1) by complex multiplication in at least float32."""
        wide = x if x.dtype == torch.float64 else x.float()
        angles = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * THETA ** (
            -torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
        turned = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous()) * torch.polar(
            torch.ones_like(angles), angles).to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)

    def forward(self, x):
        heads = lambda projected: projected.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        attended = functional.scaled_dot_product_attention(
            self.rotate(heads(self.q_proj(x))), self.rotate(heads(self.k_proj(x))), heads(self.v_proj(x)),
            is_causal=True)
        return self.output_proj(attended.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        return self.w2(functional.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, d_model, d_ff, num_heads):
        super().__init__()
        self.ln1 = nn.RMSNorm(d_model, eps=1e-5)
        self.attn = Attention(d_model, num_heads)
        self.ln2 = nn.RMSNorm(d_model, eps=1e-5)
        self.ffn = FeedForward(d_model, d_ff)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class Transformer(nn.Module):
    def __init__(self, d_model, d_ff, num_layers, num_heads, vocab_size, **_):
        super().__init__()
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(Block(d_model, d_ff, num_heads) for _ in range(num_layers))
        self.ln_final = nn.RMSNorm(d_model, eps=1e-5)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        x = self.token_embeddings(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.ln_final(x))


def initial_state():
    """Returns weights that are not a special case: the norms' weights are not 1, and the scores are not small."""
    torch.manual_seed(SEED)
    state = {}
    for name, value in Transformer(**CONFIG).state_dict().items():
        noise = torch.randn(value.shape, dtype=torch.float32)
        state[name] = 1.0 + 0.2 * noise if value.dim() == 1 else noise * (1.5 / value.shape[1] ** 0.5)
    return state


def run(label, dtype, autocast, state, tokens, targets, put):
    model = Transformer(**CONFIG).to(dtype)
    model.load_state_dict({name: value.to(dtype) for name, value in state.items()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False, fused=False)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            logits = model(tokens)
            loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        if step == 0:
            put(f"{label}/logits", logits.detach().to(dtype))
            put(f"{label}/loss", loss.detach().to(dtype))
            for name, parameter in model.named_parameters():
                put(f"{label}/grad/{name}", parameter.grad)
        optimizer.step()
    for name, parameter in model.named_parameters():
        put(f"{label}/after/{name}", parameter.detach())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out-dir", type=pathlib.Path,
                           default=pathlib.Path(__file__).resolve().parent.parent / "tests" / "data")
    out_dir = arguments.parse_args().out_dir
    torch.set_num_threads(1)
    index, data = [], bytearray()

    def put(name, tensor):
        tensor = tensor.contiguous()
        index.append({"name": name, "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
                      "offset": len(data)})
        data.extend(tensor.numpy().astype(tensor.numpy().dtype.newbyteorder("<")).tobytes())

    state = initial_state()
    ids = torch.randint(CONFIG["vocab_size"], (CONFIG["batch"], CONFIG["context"] + 1))
    tokens, targets = ids[:, :-1], ids[:, 1:]
    put("tokens", tokens)
    put("targets", targets)
    for name, value in state.items():
        put(f"initial/{name}", value)
    run("float64", torch.float64, False, state, tokens, targets, put)
    run("fp32", torch.float32, False, state, tokens, targets, put)
    run("bf16", torch.float32, True, state, tokens, targets, put)

    header = {"config": CONFIG, "steps": STEPS, "torch": torch.__version__.split("+")[0]}
    lines = ",\n".join(json.dumps(entry) for entry in index)
    (out_dir / "model_reference.json").write_text(
        json.dumps(header)[:-1] + ', "tensors": [\n' + lines + "\n]}\n")
    (out_dir / "model_reference.bin").write_bytes(data)


if __name__ == "__main__":
    main()
