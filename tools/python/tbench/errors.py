"""The only error of this package, and its hints for users."""

from __future__ import annotations

MAKE_RESULTS_FILE = "give a file that transformer_bench wrote with --benchmark_out=FILE"
COPY_AGAIN = "copy it again, or run transformer_bench again (with --tb_resume where a journal is beside it)"
MEASURE_AGAIN = "the file was changed after it was written, or by another program: measure again"


class ReadError(ValueError):
    """A file that cannot be read: one line with its path, the problem and the remedy."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"'{path}': {problem}; {remedy}")
