#!/usr/bin/env python3
"""Writes the generated sections of the READMEs from the committed results, or checks that they are what it would write.

    readme_tables.py TBENCH [--check]

TBENCH is the program `tbench`. Exit status: 0; 1 where a section differs or a marker has no line here.
"""
import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "bench/results/nvidia_h200"
STANDARD = ["report", f"{RESULTS}/model_standard.json", "--filter=ctx:512/.*bf16", "--pivot=pass,impl"]
# The cells of Attention's standard suite.
ATTENTION_STANDARD = (
    "(batch:8/.*d_model:(64|128)/seq_len:(1024|4096|16384)/causal:1/pass:(forward|forward_backward)/precision:bf16|"
    "batch:8/.*d_model:64/seq_len:(1024|4096)/causal:1/pass:(forward|forward_backward)/precision:(fp32|tf32)|"
    "batch:4/.*seq_len:512/causal:1/pass:forward_backward/precision:bf16)$")
OPERATIONS = f"{RESULTS}/operations.json"
# Document, section, and the arguments of tbench, or of results_tables.py where the first is its name.
SECTIONS = [
    ("README.md", "ms", STANDARD),
    ("README.md", "tokens", STANDARD + ["--show=tokens", "--no-environment"]),
    ("README.md", "memory", STANDARD + ["--show=memory", "--no-environment"]),
    (f"{RESULTS}/README.md", "eager_bf16", ["report", f"{RESULTS}/model_bf16_eager.json", "--pivot=ctx"]),
    (f"{RESULTS}/README.md", "full", ["report", f"{RESULTS}/model_full.json", "--pivot=ctx"]),
    (f"{RESULTS}/README.md", "full_2", ["report", f"{RESULTS}/model_full_2.json", "--pivot=ctx"]),
    (f"{RESULTS}/README.md", "full_3", ["report", f"{RESULTS}/model_full_3.json", "--filter=precision:fp32/",
                                        "--pivot=ctx"]),
    (f"{RESULTS}/README.md", "precision", ["report", f"{RESULTS}/model_precision.json", "--pivot=precision,impl"]),
    (f"{RESULTS}/README.md", "precision_speedup", ["report", "--study=precision", *(
        f"{RESULTS}/{name}.json" for name in ("model_precision", "model_full_2", "model_full")),
                                                   "--axis=Model.ctx=512"]),
    (f"{RESULTS}/README.md", "scaling", ["report", "--study=scaling", f"{RESULTS}/model_full_2.json",
                                         "--filter=precision:bf16"]),
    (f"{RESULTS}/README.md", "ceilings", ["results_tables.py", "ceilings", *(
        f"{RESULTS}/{name}.json" for name in ("pytorch_ceilings", "ceilings"))]),
    (f"{RESULTS}/README.md", "gemm", ["report", OPERATIONS, "--filter=^Gemm/.*impl:cublaslt_best", "--pivot=precision",
                                      "--show=tflops"]),
    (f"{RESULTS}/README.md", "gemm_impls", ["report", OPERATIONS, "--filter=^Gemm/m:2048/.*precision:bf16",
                                            "--pivot=impl", "--show=tflops", "--no-environment"]),
    (f"{RESULTS}/README.md", "kernel", ["report", OPERATIONS, "--filter=^Kernel/.*ctx:512", "--pivot=size",
                                        "--show=share", "--no-environment"]),
    (f"{RESULTS}/README.md", "accumulation", ["report", "--study=accumulation", OPERATIONS]),
    (f"{RESULTS}/README.md", "autocast", ["report", "--study=autocast", OPERATIONS]),
    (f"{RESULTS}/README.md", "warmup", ["report", "--study=warmup", f"{RESULTS}/warmup.json",
                                        "--axis=Warmup.steps=10", "--axis=Warmup.pass=forward,forward_backward"]),
    (f"{RESULTS}/README.md", "aa", ["results_tables.py", "aa", f"{RESULTS}/aa_verdict.json"]),
    (f"{RESULTS}/README.md", "attention", ["results_tables.py", "attention", *(
        f"{RESULTS}/attention_full_{part}.json" for part in range(1, 14)), f"--cases={ATTENTION_STANDARD}"]),
    *((f"{RESULTS}/README.md", f"attention_{grid}", ["results_tables.py", grid, *(
        f"{RESULTS}/attention_full_{part}.json" for part in parts)])
      for grid, parts in (("grid_naive", range(1, 14)), ("grid_library", (1, 2, 3, 4, *range(6, 14))),
                          ("grid_tf32", (1, 5, 6)))),
    (f"{RESULTS}/README.md", "attention_grid_tf32_long", ["results_tables.py", "grid_tf32",
                                                          f"{RESULTS}/attention_full_13.json"]),
    (f"{RESULTS}/README.md", "attention_grid_study", ["report", "--study=attention_grid", *(
        f"{RESULTS}/attention_full_{part}.json" for part in (1, 7)), "--filter=causal:0/.*impl:naive"]),
    (f"{RESULTS}/README.md", "tf32", ["report", "--study=tf32", f"{RESULTS}/attention_tf32.json"]),
    *((f"{RESULTS}/README.md", section, ["report", f"{RESULTS}/{file}.json", "--filter=^Model/.*impl:flash", "--pivot=ctx"])
      for section, file in (("flash", "model_flash"), ("flash_fp32", "model_flash_2"))),
    *((f"{RESULTS}/README.md", section, ["results_tables.py", "model_flash", *(f"{RESULTS}/{file}.json" for file in files)])
      for section, files in (("flash_ratios", ("model_flash",)), ("flash_ratios_fp32", ("model_flash_2", "model_flash_4")))),
    (f"{RESULTS}/README.md", "flash_precision", ["report", f"{RESULTS}/model_flash_3.json", "--filter=^Model/",
                                                 "--pivot=precision"]),
    (f"{RESULTS}/README.md", "pytorch", ["results_tables.py", "pytorch", *(
        f"{RESULTS}/{name}.json" for name in ("pytorch_eager", "model_bf16_eager", "model_standard"))]),
    (f"{RESULTS}/README.md", "repeat", ["results_tables.py", "repeat", *(
        f"{RESULTS}/{name}.json" for name in ("model_bf16_eager", "model_full", "model_standard", "model_repeat"))]),
    (f"{RESULTS}/README.md", "machines", ["results_tables.py", "repeat", *(
        f"{RESULTS}/{name}.json" for name in ("model_bf16_eager", "model_full_2", "model_bf16_eager_3"))]),
]


def write_section(tbench, document, section, arguments):
    if arguments[0] == "results_tables.py":
        command = [sys.executable, ROOT / "tools" / arguments[0], *arguments[1:]]
    else:
        command = [tbench, *arguments]
    subprocess.run([*command, f"--update={document}", f"--section={section}"], cwd=ROOT, check=True)


def unlisted_markers():
    """Markers in Markdown files that no line of SECTIONS fills."""
    known = {(document, section) for document, section, _ in SECTIONS}
    for path in [ROOT / "README.md", *sorted((ROOT / "bench").rglob("*.md"))]:
        document = path.relative_to(ROOT).as_posix()
        for section in re.findall(r"^<!-- tbench:(\S+) -->$", path.read_text(), re.MULTILINE):
            if (document, section) not in known:
                yield f"{document}: the section '{section}' has no line in tools/readme_tables.py"


def differences(tbench):
    with tempfile.TemporaryDirectory() as folder:
        for number, document in enumerate(sorted({document for document, _, _ in SECTIONS})):
            copy = pathlib.Path(folder) / f"{number}.md"
            shutil.copy(ROOT / document, copy)
            for _, section, arguments in (s for s in SECTIONS if s[0] == document):
                write_section(tbench, copy, section, arguments)
            yield from difflib.unified_diff((ROOT / document).read_text().splitlines(), copy.read_text().splitlines(),
                                            document, "what the results say", lineterm="", n=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tbench", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a section differs")
    arguments = parser.parse_args()
    if not arguments.check:
        for document, section, command in SECTIONS:
            write_section(arguments.tbench, ROOT / document, section, command)
        return 0
    wrong = [*unlisted_markers(), *differences(arguments.tbench)]
    print("\n".join(wrong) or f"{len(SECTIONS)} sections are what the results say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
