"""The graphs of a package, one for each precision, pass and flag, and what their functions may return."""
import dataclasses

import torch

from kernel_export.operations import Refused

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclasses.dataclass(frozen=True)
class Graph:
    """A graph of a package: its key in the suite, its function, and the tensors that it takes and returns."""
    key: str  # "forward/fp32", "training/bf16/causal1": see src/model/plugins/package.hpp
    function: object
    inputs: tuple
    results: tuple  # the function may return more
    keep: int  # number of returned values that are kept; None: all
    flags: tuple
    precision: str


class Traced(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.function, self.keep, self.flags = graph.function, graph.keep, graph.flags

    def forward(self, *inputs):
        returned = self.function(*inputs, *self.flags)
        returned = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        return returned[:self.keep]


def example_tensor(described, extents, precision, device):
    dtype, words = described
    shape = [extents.example(word) for word in words]
    if dtype == torch.int64:
        return torch.zeros(shape, dtype=dtype, device=device)
    return torch.randn(shape, device=device).to(dtype or DTYPES[precision])


def like(tensor, device):
    shape = [size.node.hint if isinstance(size, torch.SymInt) else size for size in tensor.shape]
    return torch.ones(shape, dtype=tensor.dtype, device=device)


def graphs_of(op, function, backward, precision, flags):
    """Returns the graphs of one precision. Tracing finds the further results of `training`, after the operation's."""
    suffix = "".join(f"/{name}{int(value)}" for name, value in flags.items())
    common = {"inputs": op.inputs, "results": op.results, "flags": tuple(flags.values()), "precision": precision}
    graphs = [Graph(key=f"forward/{precision}{suffix}", function=function, keep=len(op.results), **common)]
    if backward is not None:
        graphs.append(Graph(key=f"training/{precision}{suffix}", function=function, keep=None, **common))
        graphs.append(Graph(key=f"backward/{precision}{suffix}", function=backward, keep=len(op.gradients),
                            **{**common, "results": op.gradients}))
    return graphs


def check_results(graph, returned, extents):
    """Compares the values that the traced function returns with the operation's results."""
    if len(returned) < len(graph.results):
        raise Refused(f"the function returns {len(returned)} tensors, not {len(graph.results)}")
    for index, tensor in enumerate(returned):
        if not isinstance(tensor, torch.Tensor):
            raise Refused(f"result {index} is {tensor!r}, not a tensor")
        if not tensor.is_contiguous():
            raise Refused(f"result {index} is not contiguous: return .contiguous() of it")
        if index >= len(graph.results):
            continue
        dtype, words = graph.results[index]
        wanted = [extents.example(word) for word in words]
        shape = [size.node.hint if isinstance(size, torch.SymInt) else size for size in tensor.shape]
        dtype = dtype or DTYPES[graph.precision]
        if shape != wanted or tensor.dtype != dtype:
            raise Refused(f"result {index} is {tensor.dtype} {shape}, not {dtype} {wanted} ({' '.join(words) or 'a scalar'})")


def may_mutate(node):
    """Returns whether the node may change its arguments: an operation whose schema says so, or one without a schema, such as
    a Triton kernel. Functions of the module `operator` on sizes and tuples do not."""
    if node.op != "call_function":
        return False
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target._schema.is_mutable
    return isinstance(node.target, torch._ops.HigherOrderOperator)


def check_is_pure(program):
    """Refuses a function that changes its arguments or keeps values between launches."""
    if not any(may_mutate(node) for node in program.graph.nodes):
        return  # decompositions take a second per graph
    signature = program.run_decompositions({}).graph_signature  # the signature has the inputs that are changed in place
    for name in signature.user_inputs_to_mutate.values():
        raise Refused(f"the function changes its argument {name.removeprefix('inputs_')} in place: clone it")
    for name in signature.buffers_to_mutate.values():
        raise Refused(f"the function keeps values in the buffer '{name}' from one launch to the next")
