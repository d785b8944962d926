#!/usr/bin/env python3
"""Exports packages for the CPU with tools/export_kernel.py and runs them as plug-ins, beside ones that cheat and ones that
are broken: kernel_packages_test.py TRANSFORMER_BENCH [TEST...]

Runs the tests, named as unittest does, or all. A package is exported by the first test that uses it."""
import contextlib
import functools
import io
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, str(ROOT / "tests/support/inductor"))
import quick_inductor  # noqa: E402

quick_inductor.install()
quick_inductor.install_in_children()
MEASURED = ("ok", "unstable")  # verified, on a busy machine
BRIEF = ("--benchmark_min_time=0.02", "--benchmark_min_warmup_time=0.01")
ONE_PRODUCT = "--benchmark_filter=^Gemm/m:64/.*precision:fp32/"


def run(*flags):
    """Returns the status, the output, and the status and reason of each case by implementation."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        ran = subprocess.run([PROGRAM, "--tb_device=cpu", "--tb_suite=smoke", *BRIEF, f"--benchmark_out={out}", *flags],
                             capture_output=True, text=True)
        cases = {}
        for entry in json.loads(out.read_text())["benchmarks"] if out.exists() else []:
            about = entry["tbench"]
            outcome = about["status"], entry.get("error_message", ""), entry["name"]
            cases.setdefault(about["parameters"]["impl"], []).append(outcome)
        return ran, cases


def page_commands():
    """Returns the commands of the example's page that make and measure a package, for this checkout, and measured
    briefly.
    """
    page = (ROOT / "examples" / "plugin" / "README.md").read_text()
    block = next(block for block in re.findall(r"```\n(.*?)```", page, re.DOTALL) if "export_kernel.py" in block)
    places = {"PREFIX/bin/transformer_bench": PROGRAM, "PREFIX/share/transformer_bench/tools/": f"{ROOT}/tools/",
              "PREFIX/share/transformer_bench/plugin/": f"{ROOT}/examples/plugin/"}
    for line in block.splitlines():
        for place, here in places.items():
            line = line.replace(place, here)
        words = shlex.split(line)
        yield [sys.executable, *words[1:]] if words[0] == "python3" else [*words, *BRIEF]


@functools.cache
def import_tool():
    """Imports the tool late, because PyTorch takes seconds to load."""
    sys.path.insert(0, str(ROOT / "tools"))
    import export_kernel
    return export_kernel


def setUpModule():
    global FOLDER
    FOLDER = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, FOLDER)


@functools.cache
def exported(name):
    """Returns the package of a function of kernel_packages.py: a product, or `own`, which is attention."""
    if name == "own":  # as a user exports it, by two processes
        subprocess.run([sys.executable, ROOT / "tools/export_kernel.py", f"{HERE}/kernel_packages.py:attention", "--op=attention",
                        "--backward=auto", "--fix=causal=1,head_dim=32", "--name=own", "--precision=fp32", "--device=cpu", "--jobs=2",
                        f"--out={package(name)}"], check=True)
        return package(name)
    tool = import_tool()
    functions = tool.load(HERE / "kernel_packages.py")
    # Disables the tool's checks, because the program has to find the faults.
    with unittest.mock.patch.multiple("kernel_export.tracing", check_is_pure=lambda *_: None, check_results=lambda *_: None):
        tool.export(getattr(functions, name), "gemm", name, package(name), fixed=functions.FIXED)
    return package(name)


def package(name):
    return FOLDER / f"{name}.pt2"


def plugin(name):
    return f"--tb_plugin={exported(name)}"


def rewritten(name, metadata=None, rename=lambda path: path, contents=lambda path, data: data):
    """Copies the honest package with other metadata, paths or contents of its files."""
    with zipfile.ZipFile(exported("honest")) as old, zipfile.ZipFile(package(name), "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if metadata and entry.filename.endswith("_metadata.json"):
                facts = {**json.loads(data), **metadata}
                data = json.dumps({key: value for key, value in facts.items() if value is not None})
            new.writestr(rename(entry.filename), contents(entry.filename, data))
    return package(name)


class Page(unittest.TestCase):
    def test_the_page_of_the_example_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in page_commands():
                done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
            statuses = {}
            for entry in json.loads((pathlib.Path(folder) / "mine.json").read_text())["benchmarks"]:
                key = entry["tbench"]["parameters"]
                statuses[key["impl"], key["pass"], key["precision"]] = entry["tbench"]["status"], entry.get("error_message", "")
        for pass_ in ("forward", "backward"):
            self.assertIn(statuses["mine", pass_, "fp32"][0], MEASURED, statuses)
            self.assertEqual(statuses["mine", pass_, "bf16"],
                             ("unsupported", "mine has nothing in bf16: export it with --precision bf16"))


class Cheats(unittest.TestCase):
    """Tests the cheats. The class Packages tests the honest package that is measured next to each."""

    def reason_of(self, cheat):
        """Returns why the cheat is incorrect. The built-in product must be correct."""
        ran, cases = run(ONE_PRODUCT, plugin(cheat))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn(cases["aten"][0][0], MEASURED, cases["aten"])
        status, reason, _ = cases[cheat][0]
        self.assertEqual(status, "incorrect", reason)
        return reason

    def test_remembered(self):
        self.assertTrue(self.reason_of("remembered").startswith("found in a timed launch: "))  # right when verified

    def test_lower_precision(self):
        self.assertNotEqual(self.reason_of("lower_precision"), "")

    def test_smaller_problem(self):
        self.assertNotEqual(self.reason_of("smaller_problem"), "")

    def test_another_shape(self):
        self.assertIn("its shape is [96, 64], the reference's is [64, 96]", self.reason_of("another_shape"))


class Attention(unittest.TestCase):
    def test_attention_is_measured_in_every_pass_that_it_has(self):
        ran, cases = run("--benchmark_filter=^Attention/.*fp32/impl:own$", plugin("own"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for status, reason, name in cases["own"]:
            if "causal:0" in name:
                self.assertEqual((status, reason), ("unsupported", "own has nothing for causal0: export it without --fix of that"))
            else:
                self.assertIn(status, MEASURED, (name, reason))
        self.assertEqual(len(cases["own"]), 4)

    def test_what_it_does_not_serve_is_unsupported_with_the_reason(self):
        _, cases = run("--benchmark_filter=^Attention/.*impl:own$", "--tb_axis=Attention.pass=forward", "--tb_axis=Attention.heads=1,2",
                       "--tb_axis=Attention.d_model=64", "--tb_axis=Attention.precision=fp32", "--tb_axis=Attention.seq_len=100",
                       plugin("own"))
        self.assertEqual({reason for _, reason, name in cases["own"] if "causal:1" in name},
                         {"own serves head_dim 32 alone, not 64: export it with --fix head_dim=64",
                          "own serves seq_len from 16 to 1048576 in steps of 8, not 100: export it with --fix seq_len=100"})


class Packages(unittest.TestCase):
    def test_what_it_does_not_serve_is_unsupported_with_the_reason(self):
        ran, cases = run("--benchmark_filter=^Gemm/.*impl:honest$", plugin("honest"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        reasons = {name: reason for status, reason, name in cases["honest"] if status == "unsupported"}
        self.assertEqual(reasons["Gemm/m:37/n:53/k:29/precision:fp32/impl:honest"],
                         "honest serves k 128 alone, not 29: export it with --fix k=29")
        self.assertEqual(reasons["Gemm/m:64/n:96/k:128/precision:bf16/impl:honest"],
                         "honest has nothing in bf16: export it with --precision bf16")
        statuses = {name: status for status, _, name in cases["honest"]}
        self.assertIn(statuses["Gemm/m:64/n:96/k:128/precision:fp32/impl:honest"], MEASURED)

    def test_one_that_changes_during_the_run_makes_no_numbers(self):
        described = json.dumps([{"path": str(exported("honest")), "name": "honest", "digest": "0000", "parts": ["Gemm"]}])
        _, cases = run(ONE_PRODUCT, plugin("honest"), f"--tb_described_plugins={described}", "--tb_isolate=none")
        self.assertEqual(cases["honest"][0][0], "crashed")
        self.assertIn("has changed since the run began", cases["honest"][0][1])

    def test_a_damaged_graph_costs_its_own_cases_alone(self):
        broken = rewritten("broken", {"tbench_name": "broken"},
                           contents=lambda path, data: b"no library" if path.endswith(".so") else data)
        ran, cases = run(ONE_PRODUCT, f"--tb_plugin={broken}", plugin("honest"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(cases["broken"][0][0], "unsupported")
        self.assertIn("cannot be loaded", cases["broken"][0][1])
        self.assertIn(cases["honest"][0][0], MEASURED)


class Refusals(unittest.TestCase):
    def test_a_file_that_is_no_package_of_ours(self):
        text = FOLDER / "text.pt2"
        text.write_text("no package\n")
        self.expect_refusal(text, "it is not a package of tools/export_kernel.py: ")
        torn = FOLDER / "torn.pt2"
        torn.write_bytes(exported("honest").read_bytes()[:-1000])
        self.expect_refusal(torn, "it is not a package of tools/export_kernel.py: ")
        self.expect_refusal(rewritten("no_facts", {"tbench_format": None}), "it does not say what it computes")
        other = rewritten("another_tool", rename=lambda path: path.replace("graph00", "model"))
        self.expect_refusal(other, "it is not a package of tools/export_kernel.py: ")

    def test_a_package_of_another_origin(self):
        for fact, value, why in (
                ("format", "2", "it has format 2, this program takes 1: export it with this program's tools/export_kernel.py"),
                ("torch", "2.10.0", "it was made with PyTorch 2.10.0, this program has "),
                ("machine", "sm90", "it was made for sm90, this run is on cpu "),
                ("extents", "m=64", "it has 'm=64' among its extents: export it again"),
                ("part", "Convolution", "plug-ins join no 'Convolution'"),
                ("part", "Kernel/op:swigul", "op:swigul: unknown; expected one of rmsnorm"),
                ("part", "Kernel/op:adamw", "it is for op:adamw, which works in place: plug-ins cannot join it"),
                ("name", "my kernel", "its name 'my kernel' is not made of 1 to 32 letters"),
                ("name", "aten", "its name 'aten' is that of a built-in implementation: export it with another --name")):
            self.expect_refusal(rewritten("another", {f"tbench_{fact}": value}), why)

    def expect_refusal(self, path, why):
        ran, cases = run(f"--tb_plugin={path}", ONE_PRODUCT)
        self.assertEqual((ran.returncode, cases, ran.stdout), (2, {}, ""), ran.stderr)
        self.assertTrue(ran.stderr.startswith(f"transformer_bench: --tb_plugin={path}: "), ran.stderr)
        self.assertIn(why, ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)


class Tool(unittest.TestCase):
    def test_a_function_that_cannot_be_an_implementation_is_refused(self):
        tool = import_tool()
        functions = tool.load(HERE / "kernel_packages.py")
        for name, why in (("changes_input", "the function changes its argument 0 in place: clone it"),
                          ("remembered", "the function keeps values in the buffer 'function.y' from one launch to the next"),
                          ("another_shape", "result 0 is torch.float32 [96, 64], not torch.float32 [64, 96] (m n)"),
                          ("view", "result 0 is not contiguous: return .contiguous() of it"),
                          ("of_whole_tensors", "PyTorch cannot trace the function: ")):
            with self.assertRaisesRegex(tool.Refused, re.escape(f"forward/fp32: {why}")):
                tool.export(getattr(functions, name), "gemm", name, package("refused"), fixed=functions.FIXED)
        for op, why in (("gemm", "the function takes (q, k, v, causal): write it for the 2 tensors of gemm, [m k], [n k]"),
                        ("swiglu", "the function takes (q, k, v, causal): write it for the 2 tensors of swiglu, ")):
            with self.assertRaisesRegex(tool.Refused, re.escape(why)):
                tool.export(functions.attention, op, "mine", package("refused"))
        with self.assertRaisesRegex(tool.Refused, re.escape("the function takes (x, w): write it for the 3 tensors of attention and causal")):
            tool.export(functions.honest, "attention", "mine", package("refused"))
        with self.assertRaisesRegex(tool.Refused, "the function does not take causal: add the argument, or leave out its --fix"):
            tool.export(lambda q, k, v: q, "attention", "mine", package("refused"), fixed={"causal": 1})
        with self.assertRaisesRegex(tool.Refused, "does not serve every d_ff: write it for any, or fix it, as in --fix d_ff=4096"):
            tool.export(functions.of_one_width, "swiglu", "mine", package("refused"))
        with self.assertRaisesRegex(tool.Refused, "--fix seq_len=64: the operation has no such extent; it has k, m, n"):
            tool.export(functions.honest, "gemm", "mine", package("refused"), fixed={"seq_len": 64})
        self.assertFalse(package("refused").exists())

    def test_bad_usage_is_refused(self):
        tool = import_tool()
        source = f"{HERE / 'kernel_packages.py'}:honest"
        for arguments, why in (((source, "--op=convolution"), "invalid choice: 'convolution'"),
                               (("honest", "--op=gemm"), "'honest' is not FILE.py:FUNCTION"),
                               ((source, "--op=gemm", "--precision=fp8"), "'fp8' is none of fp32, tf32, bf16, fp16"),
                               ((source, "--op=gemm", "--fix=m"), "'m' is not NAME=EXTENT,..., as in d_ff=4096,tokens=1024"),
                               ((source, "--op=gemm", "--fix=m=0"), "'m=0' is not NAME=EXTENT"),
                               ((source, "--op=gemm", "--name=my kernel"), "'my kernel' is not made of 1 to 32 letters"),
                               ((source, "--op=gemm", "--out=mine.so"), "mine.so: its name must end in .pt2"),
                               ((source, "--op=gemm", "--out=/nowhere/mine.pt2"), "there is no folder '/nowhere'"),
                               ((source, "--op=attention", "--fix=causal=2"), "'causal=2' is not NAME=EXTENT"),
                               ((source, "--op=gemm", "--jobs=0"), "argument --jobs: invalid choice: 0"),
                               ((source, "--op=add", "--backward=honest"), "packages of --op add have no backward pass"),
                               ((source + "y", "--op=gemm"), "has no function 'honesty'"),
                               (("nowhere.py:honest", "--op=gemm"), "there is no file 'nowhere.py'")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), unittest.mock.patch("sys.argv", ["export_kernel.py", "--device=cpu", *arguments]):
                with self.assertRaises(SystemExit) as end:
                    tool.main()
            self.assertIn(why, said.getvalue() + str(end.exception.code), arguments)


if __name__ == "__main__":
    unittest.main(verbosity=2)
