"""How a test in Python is skipped where something that it needs is missing."""

import os

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def skipped(reason, is_allowed_in_ci=False):
    """Says that the test is skipped, and why. In CI (the environment variable CI is set) that is a failure, unless it is
    allowed there: ci/README.md lists such tests.

    Returns the exit status of the test.
    """
    if os.environ.get("CI") and not is_allowed_in_ci:
        print(f"failed: a test may not be skipped in CI (the variable CI is set): {reason}")
        return 1
    print(f"skipped: {reason}")
    return SKIPPED
