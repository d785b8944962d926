"""Traces the functions of a package's graphs with torch.export."""
import re

import torch
from torch.export import Dim

from kernel_export.graphs import Traced, check_is_pure, check_results, example_tensor, graphs_of, like
from kernel_export.operations import EXTENTS, OPS, Extents, Refused
from kernel_export.source import check_arguments, without_flags


def trace(graph, inputs, dimensions, extents):
    """Returns the exported program, and the values that it returns as fake tensors."""
    torch.backends.cuda.matmul.allow_tf32 = graph.precision == "tf32"
    try:
        with torch.no_grad():
            program = torch.export.export(Traced(graph).eval(), tuple(inputs), dynamic_shapes=(tuple(dimensions),), strict=False)
    except Exception as error:
        raise Refused(untraceable(graph, error)) from error
    returned = [node.meta["val"] if isinstance(node, torch.fx.Node) else node
                for node in program.graph.output_node().args[0][-len(program.graph_signature.user_outputs):]]
    check_is_pure(program)
    check_results(graph, returned, extents)
    return program, returned


def untraceable(graph, error):
    """Returns one line that sums up PyTorch's error."""
    text = str(error)
    extent = re.search(r"Constraints violated \((?:\d+\*)*_(\w+)\)", text)
    if extent and extent[1] in EXTENTS:
        name = extent[1]
        return (f"the function does not serve every {name}: write it for any, or fix it, as in --fix {name}="
                f"{EXTENTS[name].example}")
    return f"PyTorch cannot trace the function: {type(error).__name__}: {(text.strip().splitlines() or [''])[0]}"


def kept_dimensions(returned, program, op, extents):
    """Returns the extents of a training graph's results, in the form that torch.export takes for the backward graph."""
    placeholders = [node.meta["val"] for node in program.graph.find_nodes(op="placeholder")][-len(op.inputs):]
    known = {str(size): extents.dimension(word) for tensor, (_, words) in zip(placeholders, op.inputs)
             for size, word in zip(tensor.shape, words)}
    result = []
    for index, tensor in enumerate(returned):
        for size in tensor.shape:
            if isinstance(size, torch.SymInt) and str(size) not in known:
                raise Refused(f"result {index}, kept for backward, has an extent that no input has: {list(tensor.shape)}; fix "
                              "the extents that it is made of with --fix")
        result.append({i: known.get(str(size), Dim.STATIC) for i, size in enumerate(tensor.shape)})
    return result


def traced_graphs(op, graphs, extents, device):
    """Returns {key: exported program} for one precision."""
    programs = {}

    def dimensions(described):
        return [{i: extents.dimension(word) for i, word in enumerate(words)} for _, words in described]

    def examples(graph, described):
        return [example_tensor(tensor, extents, graph.precision, device) for tensor in described]

    kept, kept_extents = [], []
    for graph in graphs:
        inputs, shapes = examples(graph, op.inputs), dimensions(op.inputs)
        if graph.key.startswith("backward/"):
            inputs += [*kept, *examples(graph, op.results)]
            shapes += [*kept_extents, *dimensions(op.results)]
        try:
            program, returned = trace(graph, inputs, shapes, extents)
            if graph.key.startswith("training/"):
                kept_extents = kept_dimensions(returned, program, op, extents)
                kept = [like(tensor, device) for tensor in returned]
                if len(returned) == len(op.results):
                    continue  # the graph `forward` is sufficient
            programs[graph.key] = program
        except Refused as error:
            raise Refused(f"{graph.key}: {error}") from error.__cause__
    return programs


def traced(function, op_name, backward, precisions, fixed, device):
    """Returns {key: exported program}, and the extents. Raises Refused."""
    op, fixed = OPS[op_name], dict(fixed or {})
    flags = check_arguments(op_name, function)
    if len(flags) < len(op.flags):
        if any(fixed.get(flag) for flag in op.flags):
            raise Refused(f"the function does not take {', '.join(op.flags)}: add the argument, or leave out its --fix")
        fixed.update({flag: 0 for flag in op.flags})
        function = without_flags(function, len(op.flags))
        backward = backward and without_flags(backward, len(op.flags))
    extents = Extents(op, fixed)
    choices = [{flag: bool(value)} for flag in op.flags for value in ([fixed[flag]] if flag in fixed else [0, 1])] or [{}]
    programs = {}
    for precision in precisions:
        for flags in choices:
            programs.update(traced_graphs(op, graphs_of(op, function, backward, precision, flags), extents, device))
    return programs, extents
