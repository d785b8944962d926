#!/usr/bin/env python3
"""Compiles a tiny model for the CPU and runs it, and packages that are not what their names say beside it:
model_packages_test.py TRANSFORMER_BENCH. Exit status 0, or 1 with what went wrong."""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support/inductor"))
import quick_inductor  # noqa: E402

quick_inductor.install_in_children()


def compile_model(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools" / "compile_model.py", *arguments], capture_output=True, text=True)


def check_usage(folder):
    sys.path.insert(0, str(ROOT / "tools"))
    import compile_model as tool  # imported here, because PyTorch takes seconds to load
    for argument, message in (("--sizes=nano", "'nano' is none of tiny, small"),
                              ("--contexts=512,0", "'512,0' is not a list of whole numbers above 0"),
                              ("--size=mine:65,256,2,4", "even head_dim"), ("--jobs=0", "at least 1")):
        sys.argv, said = ["compile_model.py", f"--out={folder}", "--device=cpu", argument], io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                tool.parse_arguments()
        except SystemExit as error:
            if error.code == 2 and message in said.getvalue():
                continue
        sys.exit(f"{argument} should be refused with '{message}': {said.getvalue()}")


def run(program, folder, out):
    """Returns {(context, pass): (status, reason)} of the cases."""
    ran = subprocess.run([program, "--tb_device=cpu", "--tb_suite=smoke", f"--tb_packages={folder}",
                          "--tb_axis=Model.ctx=16,32",
                          "--benchmark_filter=^Model/size:tiny/.*precision:fp32/impl:compiled$", f"--benchmark_out={out}"],
                         capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"transformer_bench ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    results = {}
    for entry in json.loads(out.read_text())["benchmarks"]:
        key = dict(part.split(":") for part in entry["name"].split("/")[1:])
        results[key["ctx"], key["pass"]] = entry["tbench"]["status"], entry.get("error_message", "")
    return results


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_usage(folder)
        made = compile_model(f"--out={folder}", "--sizes=tiny", "--contexts=32", "--precision=fp32", "--device=cpu",
                             "--jobs=2")
        if made.returncode != 0 or "[3/3] " not in made.stdout:
            sys.exit(f"compile_model.py ended with {made.returncode}: {made.stdout}{made.stderr[-2000:]}")
        whole = folder / "model_forward_cpu_tiny_ctx32_batch4_fp32.pt2"
        shutil.copy(whole, folder / "model_forward_cpu_tiny_ctx16_batch4_fp32.pt2")
        for part in ("training", "backward"):
            source = folder / f"model_{part}_cpu_tiny_ctx32_batch4_fp32.pt2"
            (folder / f"model_{part}_cpu_tiny_ctx16_batch4_fp32.pt2").write_bytes(source.read_bytes()[:-1000])

        results = run(program, folder, folder / "results.json")
        for step in ("forward", "forward_backward", "train_step"):
            if results["32", step][0] not in ("ok", "unstable"):  # unstable: verified, on a busy machine
                sys.exit(f"{step} should have a time: {results}")
            status, reason = results["16", step]
            expected = "ctx 32, batch 4" if step == "forward" else "cannot be loaded"
            if status != "unsupported" or expected not in reason:
                sys.exit(f"{step} of another's packages should be unsupported with '{expected}': {results}")


if __name__ == "__main__":
    main()
