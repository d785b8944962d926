#!/usr/bin/env python3
"""Times in PyTorch what the Collective cases measure in C++: the same operations between the same ranks, in chained steps.

Operations are chained between events in chunks of 0.25 s (8 to 64 operations), of which the first operation is dropped.
Sampling ends after 20 samples and 0.5 s. Rank 0 determines the number of operations per chunk, and the times are those of
the slowest rank. With a results file of the same machine, made right before or after, rank 0 prints the share of PyTorch's
rate that each Collective case reaches, and exits 1 if a share is below --at-least. Without a GPU, the ranks use gloo.

    torchrun --no-python --nproc-per-node=2 ./transformer_bench --benchmark_filter='Collective/.*' --benchmark_out=c.json
    torchrun --nproc-per-node=2 tools/time_pytorch_collectives.py --bytes 1073741824 --results c.json
"""

import argparse
import gzip
import json
import os
import statistics
import sys

import torch
import torch.distributed as dist

from time_pytorch_ceilings import Cpu, Gpu, chained

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
MIN_SAMPLES, MIN_SECONDS, CHUNK_SECONDS = 20, 0.5, 0.25


class RankGpu(Gpu):
    def __init__(self):  # neither the sizes of the ceilings nor the buffer for flushing are needed
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def send_to_next(output, data):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    both = [dist.P2POp(dist.isend, data, (rank + 1) % ranks), dist.P2POp(dist.irecv, output, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(both):
        work.wait()


def operation(op, size, dtype, device):
    """Returns the operation of a Collective case. The larger of a rank's input and output has `size` bytes."""
    ranks = dist.get_world_size()
    part = size // dtype.itemsize // ranks
    data = torch.randn(part * ranks, device=device).to(dtype)
    other = torch.empty_like(data)
    return {"all_reduce": lambda: dist.all_reduce(data),
            "all_gather": lambda: dist.all_gather_into_tensor(other, data[:part]),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(other[:part], data),
            "broadcast": lambda: dist.broadcast(data, 0),
            "all_to_all": lambda: dist.all_to_all_single(other, data),
            "send_recv": lambda: send_to_next(other, data)}[op]


OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_recv")


def agreed(value):
    """Returns the value of rank 0."""
    box = [value]
    dist.broadcast_object_list(box, 0)
    return box[0]


def of_slowest(taken):
    """Returns the times of the slowest rank."""
    ranks = [None] * dist.get_world_size()
    dist.all_gather_object(ranks, taken)
    return max(ranks, key=sum)


def median_seconds(machine, launch):
    taken = of_slowest(chained(machine, launch, 8))
    samples, spent = [], 0.0
    while len(samples) < MIN_SAMPLES or spent < MIN_SECONDS:
        step = agreed(statistics.median(taken))
        taken = of_slowest(chained(machine, launch, int(min(max(CHUNK_SECONDS / step, 8), 64))))
        samples += taken[1:]
        spent += sum(taken)
    return statistics.median(samples)


def times_of(path):
    """Returns the median seconds of each timed Collective case of a results file."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        entries = json.load(file)["benchmarks"]
    return {entry["name"]: entry["median_ms"] / 1e3 for entry in entries
            if entry["name"].startswith("Collective/") and "median_ms" in entry and entry.get("run_type") != "aggregate"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", default=",".join(OPS), help="some of %(default)s")
    parser.add_argument("--bytes", default="1048576,1073741824", help="sizes in bytes, separated by commas [default: %(default)s]")
    parser.add_argument("--precision", choices=DTYPES, default="bf16")
    parser.add_argument("--results", help="a results file with Collective cases, to compare with")
    parser.add_argument("--at-least", type=float, default=0.98, help="smallest accepted share of PyTorch's rate [default: %(default)s]")
    parser.add_argument("--out", help="write {name: {median_ms}} as JSON")
    arguments = parser.parse_args()
    arguments.op = arguments.op.split(",")
    for op in arguments.op:
        if op not in OPS:
            parser.error(f"--op={op}: expected some of {', '.join(OPS)}")
    arguments.bytes = [int(size) for size in arguments.bytes.split(",")]
    if "WORLD_SIZE" not in os.environ:
        parser.error("needs ranks: start it with torchrun --nproc-per-node=2")
    return arguments


def compare(arguments, results):
    """Prints the table. Returns the names of the cases that reach too little."""
    ours = times_of(arguments.results) if arguments.results else {}
    short = []
    print(f"{'case':70}  {'median ms':>10}  {'ours':>10}  {'ratio':>6}")
    for name, seconds in results.items():
        line = f"{name:70}  {seconds * 1e3:10.4f}"
        if name in ours:
            line += f"  {ours[name] * 1e3:10.4f}  {seconds / ours[name]:6.3f}"
            if seconds / ours[name] < arguments.at_least:
                short.append(name)
        print(line)
    return short


def main():
    arguments = parse_arguments()
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # as the Collective cases
    on_gpu = torch.cuda.is_available()
    machine = RankGpu() if on_gpu else Cpu()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    results = {}
    for op in arguments.op:
        for size in arguments.bytes:
            name = f"Collective/op:{op}/bytes:{size}/precision:{arguments.precision}/gpus:{dist.get_world_size()}"
            results[name] = median_seconds(machine, operation(op, size, DTYPES[arguments.precision], machine.device))
            machine.release()
    short = []
    if dist.get_rank() == 0:
        short = compare(arguments, results)
        if arguments.out:
            with open(arguments.out, "w", encoding="utf-8") as file:
                json.dump({name: {"median_ms": seconds * 1e3} for name, seconds in results.items()}, file, indent=1)
                file.write("\n")
        for name in short:
            print(f"{name}: less than {arguments.at_least} of PyTorch's rate", file=sys.stderr)
    dist.destroy_process_group()
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
