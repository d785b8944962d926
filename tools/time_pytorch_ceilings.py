#!/usr/bin/env python3
"""Times in PyTorch what the Ceiling cases measure in C++: the same work, in the same regime, by the same protocol.

Bursts: on an idle device, a write over twice the L2 cache, a kernel that spins, event, operation, event, and then a rest.
At least 30 samples follow 0.1 s of warm-up. Sustained: operations are chained between events and sampled for 0.1 s after
0.1 s of warm-up, in chunks of 0.25 s, of which the first operation is dropped. Products are sampled in chunks of 0.55 s,
of which the first 0.25 s are dropped. Times are medians. On the CPU, the tool uses a steady clock, one thread and no
flush. With a results file of the same GPU, made right before or after, it prints the share of PyTorch's rate that each
Ceiling case reaches, and exits 1 if a share is below --at-least.

    ./transformer_bench --benchmark_filter='Ceiling/.*' --benchmark_out=ceilings.json
    tools/time_pytorch_ceilings.py [--what copy,gemm_bf16] [--results ceilings.json] [--out times.json]
"""

import argparse
import gzip
import json
import statistics
import sys
import time

import torch

SPIN_CYCLES = 100_000  # about 50 us, longer than the time to enqueue an operation
DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
          "fp8_e4m3": torch.float8_e4m3fn}
MEBI = 1 << 20


class Gpu:
    """Work on a GPU, with the sizes of default_ceiling_sizes() in src/model/operations/ceiling/ceiling_case.cpp."""
    device, transfer_bytes, product_nk = "cuda", 64 * MEBI, 8192

    def __init__(self):
        properties = torch.cuda.get_device_properties(0)
        eighth = properties.total_memory // 8
        self.stream_bytes = min(4096 * MEBI, 1 << (eighth.bit_length() - 1))
        self.product_m = 64 * properties.multi_processor_count
        self.flushed = torch.empty(2 * properties.L2_cache_size, dtype=torch.uint8, device="cuda")

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def begin_burst(self):
        torch.cuda.synchronize()
        self.flushed.fill_(0x5a)
        torch.cuda._sleep(SPIN_CYCLES)

    def seconds(self, marks):
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]

    def rest(self, busy):
        time.sleep(min(3 * busy, 5e-3))

    def release(self):
        torch.cuda.empty_cache()


class Cpu:
    device, stream_bytes, transfer_bytes, product_m, product_nk = "cpu", 64 * MEBI, 64 * MEBI, 512, 1024

    def __init__(self):
        torch.set_num_threads(1)

    def mark(self):
        return time.perf_counter()

    def begin_burst(self):
        pass

    def seconds(self, marks):
        return [b - a for a, b in zip(marks, marks[1:])]

    def rest(self, busy):
        pass

    def release(self):
        pass


def burst(machine, launch, count):
    samples = []
    for _ in range(count):
        machine.begin_burst()
        marks = [machine.mark()]
        launch()
        marks.append(machine.mark())
        taken = machine.seconds(marks)
        samples += taken
        machine.rest(taken[0])
    return samples


def chained(machine, launch, count):
    marks = [machine.mark()]
    for _ in range(count):
        launch()
        marks.append(machine.mark())
    return machine.seconds(marks)


def median_seconds(machine, launch, regime, is_product):
    take, least = (burst, 30) if regime == "burst" else (chained, 20)
    is_long = is_product and regime == "sustained"
    wanted, chunk, dropped_time, longest = (0.3, 0.55, 0.25, 1024) if is_long else (0.1, 0.25, 0.0, 64)

    start = time.perf_counter()
    taken = take(machine, launch, 20 if is_long else 2)
    while time.perf_counter() - start < 0.1 and not is_long:
        taken = take(machine, launch, 2)
    samples, spent = [], 0.0
    while len(samples) < least or spent < wanted:
        step = statistics.median(taken)
        taken = take(machine, launch, 5 if regime == "burst" else int(min(max(chunk / step, 8), longest)))
        samples += taken[0 if regime == "burst" else 1 + int(dropped_time / step):]
        spent += sum(taken)
    return statistics.median(samples)


def stream(machine, what):
    x = torch.randn(machine.stream_bytes // 4, device=machine.device)
    if what == "read":
        return x.sum, machine.stream_bytes
    if what == "write":
        return lambda: x.fill_(1.5), machine.stream_bytes  # the only operation of PyTorch that writes without reading
    y = torch.empty_like(x)
    return lambda: y.copy_(x), 2 * machine.stream_bytes


def product(machine, what):
    precision = what.removeprefix("gemm_")
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    extent = machine.product_nk // 2 if precision == "fp32" else machine.product_nk
    a = torch.randn(machine.product_m, extent, device=machine.device).to(DTYPES[precision])
    b = torch.randn(extent, extent, device=machine.device).to(DTYPES[precision])
    flop = 2 * machine.product_m * extent * extent
    if precision == "fp8_e4m3":
        c = torch.empty(machine.product_m, extent, device=machine.device, dtype=torch.bfloat16)
        one = torch.ones((), device=machine.device)
        return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, out=c), flop
    c = torch.empty(machine.product_m, extent, device=machine.device, dtype=DTYPES[precision])
    return lambda: torch.mm(a, b.t(), out=c), flop


def transfer(machine, what):
    on_device = torch.randn(machine.transfer_bytes // 4, device=machine.device)
    on_host = torch.randn(machine.transfer_bytes // 4, pin_memory=what.endswith("pinned"))
    to, source = (on_device, on_host) if what.startswith("h2d") else (on_host, on_device)
    return lambda: to.copy_(source, non_blocking=True), machine.transfer_bytes


def dispatch(machine, _what):
    x, y = torch.randn(1024, device=machine.device), torch.randn(1024, device=machine.device)
    count = 1000

    def launch():
        total = x
        for _ in range(count):
            total = total + y

    return launch, count


# PyTorch has no counterpart of l2_read, launch and event.
MAKERS = {"copy": stream, "read": stream, "write": stream, "gemm_fp32": product, "gemm_tf32": product,
          "gemm_bf16": product, "gemm_fp16": product, "gemm_fp8_e4m3": product, "dispatch": dispatch,
          "h2d_pinned": transfer, "h2d_pageable": transfer, "d2h_pinned": transfer, "d2h_pageable": transfer}
ON_CPU = ("copy", "read", "write", "gemm_fp32", "dispatch")


def regimes(what):
    if what.startswith("gemm"):
        return ("burst", "sustained")
    return ("burst",) if MAKERS[what] is stream else ("sustained",)


def rates_of(path):
    """Returns each timed Ceiling case's median rate over its processes, in bytes, FLOP or operations per second."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        entries = json.load(file)["benchmarks"]
    rates = {}
    for entry in entries:
        if not entry["name"].startswith("Ceiling/") or "real_time" not in entry or entry.get("run_type") == "aggregate":
            continue
        rate = 1e6 / entry["dispatch_us"] if "dispatch_us" in entry else entry.get("bytes_per_second", entry.get("flop_per_second"))
        if rate:
            rates.setdefault(entry["name"], []).append(rate)
    return {name: statistics.median(of_name) for name, of_name in rates.items()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", help=f"some of {','.join(MAKERS)} [default: all that the device has]")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--results", help="a results file with Ceiling cases, to compare with")
    parser.add_argument("--at-least", type=float, default=0.98, help="smallest accepted share of PyTorch's rate [default: %(default)s]")
    parser.add_argument("--out", help="write {name: {median_ms, per_second}} as JSON")
    arguments = parser.parse_args()
    default = ON_CPU if arguments.device == "cpu" else tuple(MAKERS)
    arguments.what = arguments.what.split(",") if arguments.what else default
    for what in arguments.what:
        if what not in default:
            parser.error(f"--what={what}: expected some of {', '.join(default)}")
    return arguments


def main():
    arguments = parse_arguments()
    machine = Gpu() if arguments.device == "cuda" else Cpu()
    ours = rates_of(arguments.results) if arguments.results else {}
    results, short = {}, []
    print(f"{'case':45}  {'median ms':>10}  {'per second':>10}  {'ours':>10}  {'ratio':>6}")
    for what in arguments.what:
        if what == "gemm_fp8_e4m3" and torch.cuda.get_device_capability() < (8, 9):
            continue
        launch, amount = MAKERS[what](machine, what)
        for regime in regimes(what):
            name = f"Ceiling/what:{what}/regime:{regime}"
            seconds = median_seconds(machine, launch, regime, what.startswith("gemm"))
            results[name] = {"median_ms": seconds * 1e3, "per_second": amount / seconds}
            line = f"{name:45}  {seconds * 1e3:10.4f}  {amount / seconds:10.4g}"
            if name in ours:
                ratio = ours[name] / (amount / seconds)
                line += f"  {ours[name]:10.4g}  {ratio:6.3f}"
                if ratio < arguments.at_least:
                    short.append(name)
            print(line, flush=True)
        del launch
        machine.release()
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    for name in short:
        print(f"{name}: less than {arguments.at_least} of PyTorch's rate", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
