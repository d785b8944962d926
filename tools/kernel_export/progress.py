"""What an export says while it works, and the end of its processes."""
import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>


def say(step):
    """Names the step that begins, on a line of stderr. bench/author/export_process.cpp reads these lines."""
    print(f"export: {step}", file=sys.stderr, flush=True)


def die_with_parent():
    """Makes Linux kill this process when its parent ends, so that no export outlives the program that wants it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
