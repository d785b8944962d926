#!/usr/bin/env python3
"""Times in PyTorch what `impl:eager` does in C++: the same model, operation by operation, by the same protocol.

Steps are chained between CUDA events (on the CPU, a steady clock) without synchronising in between. Warm-up takes one
second. A chunk has clamp(0.25 s / t, 4, 64) steps of duration t, of which the first is dropped. A time is the median of at
least 20 samples. Names are those of transformer_bench, so that results can be joined.

    tools/time_pytorch_model.py --size small,medium --ctx 512 --pass train_step --precision bf16 [--out times.json]
"""

import argparse
import gc
import json
import math
import statistics
import time

import torch
from torch import nn

SIZES = {  # d_model, d_ff, num_layers, num_heads; the same as in src/core/model_size.cpp
    "tiny": (64, 256, 2, 4),
    "small": (768, 3072, 12, 12),
    "medium": (1024, 4096, 24, 16),
    "large": (1280, 5120, 36, 20),
    "xl": (1600, 6400, 48, 25),
    "2.7B": (2560, 10240, 32, 32),
}
VOCAB_SIZE = 10_000
PASSES = ("forward", "forward_backward", "train_step")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
WARM_UP_S = 1.0
CHUNK_S = 0.25
MIN_SAMPLES = 20
MIN_TIME_S = 0.5


class Linear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        sigma = math.sqrt(2 / (inputs + outputs))
        nn.init.trunc_normal_(self.weight, std=sigma, a=-3 * sigma, b=3 * sigma)

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight)


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(vocab_size, d_model), std=1, a=-3, b=3))

    def forward(self, tokens):
        return self.weight[tokens]


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        rms = torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return (x / rms * self.weight).to(dtype)


def softmax(x):
    exponentials = torch.exp(x - torch.amax(x, dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def cross_entropy(logits, targets):
    shifted = logits - torch.amax(logits, dim=-1, keepdim=True)
    log_sum = torch.log(torch.exp(shifted).sum(dim=-1, keepdim=True))
    return (log_sum - torch.gather(shifted, -1, targets.unsqueeze(-1))).mean()


class Tables(nn.Module):
    """cos and sin of RoPE's angles, the causal mask and minus infinity, shared by all layers."""

    def __init__(self, context, head_dim, score_dtype):
        super().__init__()
        angles = torch.outer(torch.arange(context, dtype=torch.float64),
                             10_000.0 ** -(torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim))
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)
        self.register_buffer("mask", torch.ones(context, context, dtype=torch.bool).tril(), persistent=False)
        self.register_buffer("minus_infinity", torch.tensor(-math.inf, dtype=score_dtype), persistent=False)


def rope(x, tables):
    even, odd = x[..., 0::2], x[..., 1::2]
    turned_even = even * tables.cos - odd * tables.sin
    turned_odd = even * tables.sin + odd * tables.cos
    return torch.stack((turned_even, turned_odd), dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = Linear(d_model, d_model)
        self.k_proj = Linear(d_model, d_model)
        self.v_proj = Linear(d_model, d_model)
        self.output_proj = Linear(d_model, d_model)

    def forward(self, x, tables):
        batch, context, d_model = x.shape
        head_dim = d_model // self.num_heads

        def heads(projected):
            return projected.view(batch, context, self.num_heads, head_dim).transpose(1, 2)

        q = rope(heads(self.q_proj(x)), tables)
        k = rope(heads(self.k_proj(x)), tables)
        v = heads(self.v_proj(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(head_dim)
        probabilities = softmax(torch.where(tables.mask, scores, tables.minus_infinity))
        attended = torch.matmul(probabilities, v).transpose(1, 2).reshape(batch, context, d_model)
        return self.output_proj(attended)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = Linear(d_model, d_ff)
        self.w2 = Linear(d_ff, d_model)
        self.w3 = Linear(d_model, d_ff)

    def forward(self, x):
        gate = self.w1(x)
        return self.w2(gate * torch.sigmoid(gate) * self.w3(x))


class Block(nn.Module):
    def __init__(self, d_model, d_ff, num_heads):
        super().__init__()
        self.ln1 = RMSNorm(d_model)
        self.attn = Attention(d_model, num_heads)
        self.ln2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x, tables):
        x = x + self.attn(self.ln1(x), tables)
        return x + self.ffn(self.ln2(x))


class Transformer(nn.Module):
    def __init__(self, d_model, d_ff, num_layers, num_heads, context, score_dtype):
        super().__init__()
        self.token_embeddings = Embedding(VOCAB_SIZE, d_model)
        self.layers = nn.ModuleList(Block(d_model, d_ff, num_heads) for _ in range(num_layers))
        self.ln_final = RMSNorm(d_model)
        self.lm_head = Linear(d_model, VOCAB_SIZE)
        self.tables = Tables(context, d_model // num_heads, score_dtype)

    def forward(self, tokens):
        x = self.token_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.tables)
        return self.lm_head(self.ln_final(x))


def make_step(size, context, batch, pass_name, precision, device, fused_adamw):
    """Returns a function that enqueues one step. fp16 trains with the fused AdamW, as the C++ model does, since only
    this optimizer can skip a step without waiting for the device."""
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.manual_seed(0)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    with torch.device(device):
        model = Transformer(*SIZES[size], context, dtype or torch.float32)
        ids = torch.randint(VOCAB_SIZE, (batch, context + 1))
    tokens, targets = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    autocast = torch.autocast(torch.device(device).type, dtype or torch.bfloat16, enabled=dtype is not None)
    fused = {"fused": True} if fused_adamw or precision == "fp16" else {}
    optimizer = torch.optim.AdamW(model.parameters(), **fused) if pass_name == "train_step" else None
    scaler = torch.amp.GradScaler(torch.device(device).type) if precision == "fp16" else None

    def forward():
        with torch.no_grad(), autocast:
            model(tokens)

    def train():
        model.zero_grad(set_to_none=True)
        with autocast:
            loss = cross_entropy(model(tokens), targets)
        (scaler.scale(loss) if scaler else loss).backward()
        if optimizer and scaler:
            scaler.step(optimizer)
            scaler.update()
        elif optimizer:
            optimizer.step()

    return forward if pass_name == "forward" else train


class CudaClock:
    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, marks):
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]


class SteadyClock:
    def mark(self):
        return time.perf_counter()

    def seconds(self, marks):
        return [b - a for a, b in zip(marks, marks[1:])]


def chunk(step, clock, steps):
    marks = [clock.mark()]
    for _ in range(steps):
        step()
        marks.append(clock.mark())
    return clock.seconds(marks)


def measure(step, clock):
    start = time.perf_counter()
    first = chunk(step, clock, 1)[0]
    latest = first
    while time.perf_counter() - start < WARM_UP_S:
        latest = statistics.median(chunk(step, clock, 2))
    steps = int(min(max(CHUNK_S / latest, 4), 64))
    samples, measured = [], 0.0
    while len(samples) < MIN_SAMPLES or measured < MIN_TIME_S:
        taken = chunk(step, clock, steps)
        samples += taken[1:]
        measured += sum(taken)
    return {"median_ms": statistics.median(samples) * 1e3, "min_ms": min(samples) * 1e3,
            "mean_ms": statistics.fmean(samples) * 1e3, "std_ms": statistics.stdev(samples) * 1e3,
            "first_ms": first * 1e3, "samples": len(samples)}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def list_of(values):
        def parse(text):
            for part in text.split(","):
                if part not in values:
                    raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(values)}")
            return text.split(",")
        return parse

    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--size", type=list_of(SIZES), default=["small"])
    parser.add_argument("--ctx", type=numbers, default=[512])
    parser.add_argument("--batch", type=numbers, default=[4])
    parser.add_argument("--pass", dest="passes", type=list_of(PASSES), default=["train_step"])
    parser.add_argument("--precision", type=list_of(PRECISIONS), default=["bf16"])
    parser.add_argument("--fused-adamw", action="store_true", help="AdamW(fused=True) instead of the default (foreach)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", help="write {name: {median_ms, ...}} as JSON")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    clock = CudaClock() if arguments.device == "cuda" else SteadyClock()
    results = {}
    cases = [(size, ctx, batch, pass_name, precision) for size in arguments.size for ctx in arguments.ctx
             for batch in arguments.batch for pass_name in arguments.passes for precision in arguments.precision]
    names = [f"Model/size:{size}/ctx:{ctx}/batch:{batch}/pass:{pass_name}/precision:{precision}/impl:eager"
             for size, ctx, batch, pass_name, precision in cases]
    width = max(len(name) for name in names)
    print(f"{'case':{width}}  {'median ms':>10}  {'min ms':>10}  {'std ms':>8}  {'n':>4}")
    for name, case in zip(names, cases):
        try:
            result = measure(make_step(*case, arguments.device, arguments.fused_adamw), clock)
        except torch.OutOfMemoryError:
            print(f"{name:{width}}  {'oom':>10}", flush=True)
            continue
        finally:
            gc.collect()
            if arguments.device == "cuda":
                torch.cuda.empty_cache()
        results[name] = result
        print(f"{name:{width}}  {result['median_ms']:10.3f}  {result['min_ms']:10.3f}  {result['std_ms']:8.3f}  "
              f"{result['samples']:4d}", flush=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
