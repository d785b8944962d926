#!/usr/bin/env python3
"""Compiles attention for the CPU and runs it: packages_test.py TRANSFORMER_BENCH. Exit status 0, or 1 with what went wrong."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support/inductor"))
import quick_inductor  # noqa: E402

quick_inductor.install_in_children()


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, ROOT / "tools" / "compile_attention.py", f"--out={folder}", "--head-dim=16",
                               "--precision=fp32", "--causal=1", "--device=cpu", "--jobs=2"], capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"compile_attention.py ended with {made.returncode}: {made.stderr[-2000:]}")
        out = pathlib.Path(folder) / "results.json"
        ran = subprocess.run([program, "--tb_device=cpu", "--tb_suite=smoke", f"--tb_packages={folder}",
                              "--tb_axis=Attention.d_model=16", "--tb_axis=Attention.heads=1",
                              "--tb_axis=Attention.seq_len=64,96", "--tb_axis=Attention.precision=fp32",
                              "--benchmark_filter=^Attention/.*causal:1/.*impl:compiled$", f"--benchmark_out={out}"],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"transformer_bench ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        statuses = {entry["name"]: entry["tbench"]["status"] for entry in json.loads(out.read_text())["benchmarks"]}
        # Tests two lengths with one set of packages, and three passes. Unstable cases were verified, but on a busy
        # machine.
        if len(statuses) != 6 or not set(statuses.values()) <= {"ok", "unstable"}:
            sys.exit(f"six cases should have a time: {statuses}\n{ran.stdout}")


if __name__ == "__main__":
    main()
