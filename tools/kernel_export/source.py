"""The file of a kernel's author: imports it, and checks the arguments of its functions."""
import importlib.util
import inspect
import sys

import torch

from kernel_export.operations import OPS, Refused


def load(path):
    if not path.is_file():
        raise Refused(f"there is no file '{path}'")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Refused(f"'{path}' cannot be imported: {type(error).__name__}: {error}") from error
    return module


def function_of(module, name, path):
    function = getattr(module, name, None)
    if not callable(function):
        raise Refused(f"'{path}' has no function '{name}'")
    return function


def backward_of(module, arguments, path):
    if arguments.backward == "auto":
        return getattr(module, f"{arguments.function[1]}_backward", None) if OPS[arguments.op].gradients else None
    return function_of(module, arguments.backward, path) if arguments.backward else None


def arguments_of(function):
    """Returns the names of the positional arguments, or None if they are unknown or any number is taken."""
    try:
        arguments = inspect.signature(function.forward if isinstance(function, torch.nn.Module) else function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(argument.kind == argument.VAR_POSITIONAL for argument in arguments):
        return None
    return [argument.name for argument in arguments if argument.kind != argument.KEYWORD_ONLY]


def check_arguments(op_name, function):
    """Refuses a function that does not take the operation's tensors and flags. Returns the flags that it takes."""
    op, names = OPS[op_name], arguments_of(function)
    if names is None or len(names) == len(op.inputs) + len(op.flags):
        return op.flags
    if op.flags and len(names) == len(op.inputs):
        return ()
    tensors = ", ".join(f"[{' '.join(words)}]" for _, words in op.inputs)
    flags = "".join(f" and {flag}" for flag in op.flags)
    raise Refused(f"the function takes ({', '.join(names)}): write it for the {len(op.inputs)} tensors of {op_name}{flags}, "
                  f"{tensors}")


def without_flags(function, count):
    """Returns the function for a caller that passes `count` more flags, which are ignored."""
    return lambda *inputs: function(*inputs[:-count])
