#!/usr/bin/env python3
"""Compiles a step of the model ahead of time with PyTorch's inductor, into the packages that `impl:compiled` loads.

    compile_model.py --out DIR [--sizes small,medium] [--size NAME:d_model,d_ff,num_layers,num_heads] [--contexts 512]
                     [--batch 4] [--precision bf16] [--passes forward,training] [--jobs N] [--device cuda|cpu]

The model is written with PyTorch's own functions: rms_norm, silu, scaled_dot_product_attention and cross_entropy, with
q, k and v as one product, and float32 weights that are cast where autocast casts them. `forward` has only the forward
pass. `training` has the two graphs that torch.compile's default makes of the model, forward with the loss and backward:
they are traced, divided (min-cut) and rewritten by the same functions. Shapes are fixed, with one file per shape, and a
package runs on the GPU model on which it was made. TF32 is a setting of the run, not of the package. Existing packages
are kept. Then run:

    ./transformer_bench --tb_packages=DIR --benchmark_filter='Model/.*impl:compiled.*'
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import multiprocessing
import os
import pathlib
import pickle
import sys
import tempfile
import time
import traceback

import torch
import torch._functorch.config
import torch._inductor.config
from torch._inductor.compile_fx import compile_fx
from torch._inductor.package import package_aoti
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from compile_attention import device_name, numbers, skip_vector_trial, squeeze
from time_pytorch_model import SIZES, VOCAB_SIZE

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
PASSES = ("forward", "training")
EPSILON = 1e-5  # epsilon of the norms
ROWS_OF_QKV = 3


@dataclasses.dataclass(frozen=True)
class Model:
    """The model and the shapes for which a package is made."""
    name: str
    d_model: int
    d_ff: int
    num_layers: int
    num_heads: int
    context: int
    batch: int
    precision: str
    device: str

    def weight_shapes(self):
        """Returns the shapes in the order of the suite's parameters (src/model/layers/parameters.hpp)."""
        d, f = self.d_model, self.d_ff
        block = [(d,), (ROWS_OF_QKV * d, d), (d, d), (f, d), (d, f), (f, d), (d,)]
        return [(VOCAB_SIZE, d), *(block * self.num_layers), (d,), (VOCAB_SIZE, d)]

    def path(self, folder, part):
        return folder / (f"model_{part}_{device_name(self.device)}_{self.name}_ctx{self.context}_batch{self.batch}"
                         f"_{self.precision}.pt2")

    def metadata(self, part):
        """Returns the line that the program compares with its case (src/model/compiled/packages.cpp)."""
        gpu = "cpu" if self.device == "cpu" else torch.cuda.get_device_name()
        return (f"{part} of d_model {self.d_model}, d_ff {self.d_ff}, num_layers {self.num_layers}, num_heads "
                f"{self.num_heads}, vocab_size {VOCAB_SIZE}, ctx {self.context}, batch {self.batch}, {self.precision}, on "
                f"{gpu}, PyTorch {torch.__version__.split('+')[0]}")


def rope(x, cos, sin):
    """Rotates the pairs (2i, 2i + 1). x: [batch, context, heads, head_dim]; cos, sin: [context, 1, head_dim / 2]."""
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)


def model_logits(model, weights, tokens, cos, sin):
    """Returns [batch, context, VOCAB_SIZE] in the precision's dtype. The residual stream is float32, as in autocast."""
    dtype, shape = DTYPES[model.precision], (model.batch, model.context, model.d_model)
    embeddings, *weights, ln_final, lm_head = weights
    per_block = len(weights) // model.num_layers

    def linear(x, weight):
        return functional.linear(x.to(dtype), weight.to(dtype))

    def norm(x, weight):
        return functional.rms_norm(x, (model.d_model,), weight, EPSILON)

    def attention(x, qkv, output):
        q, k, v = linear(x, qkv).view(*shape[:2], ROWS_OF_QKV, model.num_heads, -1).unbind(2)
        q, k, v = (heads.transpose(1, 2) for heads in (rope(q, cos, sin), rope(k, cos, sin), v))
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return linear(attended.transpose(1, 2).reshape(shape), output)

    x = functional.embedding(tokens, embeddings)
    for layer in range(model.num_layers):
        ln1, qkv, output, w1, w2, w3, ln2 = weights[per_block * layer:per_block * (layer + 1)]
        x = x + attention(norm(x, ln1), qkv, output)
        normed = norm(x, ln2)
        x = x + linear(functional.silu(linear(normed, w1)) * linear(normed, w3), w2)
    return linear(norm(x, ln_final), lm_head)


def traced(model, training):
    """Returns the graph of a step. Its inputs are the weights, the tokens [batch, context], the targets with the same
    shape (only for training), and cos and sin. Its outputs are the logits, or the loss and the logits."""
    count = len(model.weight_shapes())

    def step(*arguments):
        weights, tokens, (cos, sin) = arguments[:count], arguments[count], arguments[-2:]
        logits = model_logits(model, weights, tokens, cos, sin)
        if not training:
            return (logits,)
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), arguments[count + 1].flatten())
        return loss, logits.detach()

    # Made by hand, since symbolic tracing makes a single input of *arguments.
    graph = torch.fx.Graph()
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    inputs = [torch.fx.Proxy(graph.placeholder(f"a{i}"), tracer) for i in range(count + (4 if training else 3))]
    graph.output(tuple(output.node for output in step(*inputs)))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def example_inputs(model, training):
    ids = [torch.empty(model.batch, model.context, dtype=torch.long, device=model.device) for _ in range(1 + training)]
    table = (model.context, 1, model.d_model // model.num_heads // 2)
    return [*(torch.empty(shape, device=model.device, requires_grad=training) for shape in model.weight_shapes()), *ids,
            *(torch.empty(table, device=model.device) for _ in range(2))]


def attention_backend(model):
    """Returns a context that selects the backend of impl:sdpa, whatever PyTorch would choose."""
    if model.device == "cpu":
        return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH])
    return sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION if model.precision == "fp32" else SDPBackend.FLASH_ATTENTION)


Spec = collections.namedtuple("Spec", "shape stride dtype device")


def spec(tensor):
    return Spec(tuple(tensor.shape), tensor.stride(), tensor.dtype, str(tensor.device))


def packed(graph):
    """Pickles a graph for another process: only its operations, without the metadata from tracing."""
    copy = torch.fx.Graph()
    copy.output(copy.graph_copy(graph.graph, {}))
    for node in copy.nodes:
        node.meta.clear()
    attributes = {node.target: getattr(graph, node.target) for node in copy.find_nodes(op="get_attr")}
    return pickle.dumps(torch.fx.GraphModule(attributes, copy))


def forward_graph(model):
    with FakeTensorMode():
        specs = [spec(tensor) for tensor in example_inputs(model, training=False)]
    return {"forward": (packed(traced(model, training=False)), specs, {})}


def training_graphs(model):
    """Returns the forward and backward graphs that torch.compile passes to its code generator."""
    graphs = {}

    def take(graph, inputs, **options):
        graphs["backward" if options.get("is_backward") else "training"] = (graph, inputs)

        def never_run(arguments):
            raise AssertionError("a graph that is compiled ahead of time was run")

        never_run._boxed_call = True
        return never_run

    lazily = torch._functorch.config.patch(force_non_lazy_backward_lowering=True)
    with lazily, attention_backend(model), FakeTensorMode():
        compile_fx(traced(model, training=True), example_inputs(model, training=True), inner_compile=take)
    return divided(model, graphs)


def divided(model, graphs):
    """Connects the two graphs of a step. Forward returns the loss, the logits and the values that it computes for
    backward. The metadata of backward names the source of each of its inputs: input i or output o of forward, or the
    gradient of the loss."""
    (forward, forward_inputs), (backward, backward_inputs) = graphs["training"], graphs["backward"]
    placeholders = list(forward.graph.find_nodes(op="placeholder"))
    results = forward.graph.output_node()
    outputs, sources = [], []
    for node in results.args[0]:
        if node in placeholders:
            sources.append(f"i{placeholders.index(node)}")
            continue
        if node not in outputs:
            outputs.append(node)
        sources.append(f"o{outputs.index(node)}")
    if sources[:2] != ["o0", "o1"] or len(sources) - 2 + 1 != len(backward_inputs):
        raise RuntimeError("torch.compile divided the step in a way that this program does not know: another PyTorch?")
    results.args = (tuple(outputs),)
    forward.recompile()

    gradients = backward.graph.output_node()
    gradients.args = (tuple(gradients.args[0][:len(model.weight_shapes())]),)
    backward.recompile()
    sources = " ".join([*sources[2:], "gradient"])
    pair = hashlib.sha256(f"{forward.code}{backward.code}{sources}".encode()).hexdigest()[:16]
    return {"training": (packed(forward), [spec(tensor) for tensor in forward_inputs], {"pair": pair}),
            "backward": (packed(backward), [spec(tensor) for tensor in backward_inputs],
                         {"pair": pair, "inputs": sources})}


def compile_graph(model, part, graph, path):
    """Compiles a graph from forward_graph() or training_graphs() into a package."""
    code, specs, metadata = graph
    torch._inductor.config.compile_threads = 1  # several packages are compiled in parallel
    skip_vector_trial(model.device)
    metadata = {"tbench_package": model.metadata(part), **{f"tbench_{key}": value for key, value in metadata.items()}}
    with attention_backend(model), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        with FakeTensorMode(allow_non_fake_inputs=True):  # the constants of a graph are real tensors
            inputs = tuple(torch.empty_strided(s.shape, s.stride, dtype=s.dtype, device=s.device) for s in specs)
        files = torch._inductor.aot_compile(pickle.loads(code), inputs, options={
            "aot_inductor.package": True, "aot_inductor.metadata": metadata,
            "cpp.threads": 1})  # for the CPU, on which the suite computes in one thread
        made = pathlib.Path(folder) / "model.pt2"
        package_aoti(str(made), files)
        squeeze(made, path)


def trace(model, name):
    return forward_graph(model) if name == "forward" else training_graphs(model)


def in_worker(function, *arguments):
    """Calls a function in a worker. Raises the text of an error, since PyTorch's errors cannot be sent to a process."""
    try:
        return function(*arguments)
    except Exception as error:
        traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        raise RuntimeError(f"{type(error).__name__}: {lines[0]} (all of it above)") from None


def own_size(text):
    """Parses NAME:d_model,d_ff,num_layers,num_heads, as --tb_size takes it."""
    name, _, extents = text.partition(":")
    try:
        values = tuple(numbers(extents))
    except ValueError:
        values = ()
    if not name or name in SIZES or len(values) != 4 or min(values) <= 0 or values[0] % (2 * values[3]):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME:d_model,d_ff,num_layers,num_heads with a new name and an even "
                                         "head_dim, e.g. mine:2048,8192,24,16")
    return name, values


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def words(known):
        def parse(text):
            for word in text.split(","):
                if word not in known:
                    raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(known)}")
            return text.split(",")
        return parse

    def extents(text):
        try:
            values = numbers(text)
        except ValueError:
            values = []
        if not values or min(values) <= 0:
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of whole numbers above 0")
        return values

    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--sizes", type=words(SIZES), default=None, help="[default: small, unless --size is given]")
    parser.add_argument("--size", type=own_size, action="append", default=[], metavar="NAME:...",
                        help="model size in the form of --tb_size (repeatable)")
    parser.add_argument("--contexts", type=extents, default=[512], help="[default: 512]")
    parser.add_argument("--batch", type=extents, default=[4], help="[default: 4]")
    parser.add_argument("--precision", type=words(DTYPES), default=["bf16"], help="[default: bf16]")
    parser.add_argument("--passes", type=words(PASSES), default=list(PASSES),
                        help="forward and training; training serves forward_backward and train_step [default: forward,training]")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) * 3 // 4), metavar="N",
                        help="number of processes that compile, each with its own CUDA context [default: three quarters of the processors, here %(default)s]")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: there is no CUDA device here; packages are made on the machine that runs them")
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: at least 1")
    return arguments


def models(arguments):
    names = arguments.sizes if arguments.sizes is not None else [] if arguments.size else ["small"]
    sizes = {**{name: SIZES[name] for name in names}, **dict(arguments.size)}
    return [Model(name, *extents, context, batch, precision, arguments.device) for precision in arguments.precision
            for name, extents in sizes.items() for context in arguments.contexts for batch in arguments.batch]


class Progress:
    def __init__(self, wanted):
        self.wanted, self.done, self.failed, self.begin = wanted, 0, 0, time.monotonic()

    def say(self, path, problem=None):
        self.done += 1
        self.failed += problem is not None
        what = f"{path.stat().st_size >> 10} KiB" if problem is None else f"failed: {problem}"
        print(f"[{self.done}/{self.wanted}] {path.name}: {what}, {time.monotonic() - self.begin:.0f} s", flush=True)


def make(arguments, missing):
    """Traces each pass, and compiles its graphs as soon as they are traced. missing: {(model, pass): {part: path}}."""
    progress = Progress(sum(len(paths) for paths in missing.values()))
    # Fresh processes: a CUDA context does not survive a fork.
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("spawn")) as pool:
        tracing = {pool.submit(in_worker, trace, model, name): (model, name) for model, name in missing}
        compiling, waiting = {}, set(tracing)
        while waiting:
            finished, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                problem = future.exception()
                if future in compiling:
                    progress.say(compiling[future], problem)
                    continue
                model, name = tracing[future]
                for part, path in missing[model, name].items():
                    if problem is not None:
                        progress.say(path, problem)
                        continue
                    compiled = pool.submit(in_worker, compile_graph, model, part, future.result()[part], path)
                    compiling[compiled] = path
                    waiting.add(compiled)
    return progress.failed


def main():
    arguments = parse_arguments()
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"--out {arguments.out}: {error.strerror}; give a folder that can be written")
    parts = {"forward": ("forward",), "training": ("training", "backward")}
    wanted = {(model, name): {part: model.path(arguments.out, part) for part in parts[name]}
              for model in models(arguments) for name in arguments.passes}
    missing = {key: paths for key, paths in wanted.items() if not all(path.exists() for path in paths.values())}
    failed = make(arguments, missing)
    made = [path for paths in wanted.values() for path in paths.values() if path.exists()]
    print(f"{len(made)} packages, {sum(path.stat().st_size for path in made) >> 10} KiB, in {arguments.out}")
    if failed:
        sys.exit(f"{failed} packages could not be made")


if __name__ == "__main__":
    main()
