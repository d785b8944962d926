"""Reads the results files of transformer_bench into pandas. It needs neither torch nor a GPU."""

from .errors import ReadError
from .frame import kernels, read, to_counters

__all__ = ["ReadError", "kernels", "read", "to_counters"]
