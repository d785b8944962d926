#!/usr/bin/env python3
"""Tests check_resources.cmake with reports of ptxas as they are after a build: check_resources_test.py CMAKE SOURCE_DIR"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
CMAKE = sys.argv.pop()
SCRIPT = SOURCE / "tests/kernels/attention/sm90/check_resources.cmake"
KERNELS = ("forward_kernel", "fwd_kernel"), ("forward_tf32_kernel", "fwd_tf32_kernel")
RENAMES = "".join(f"kernel\t{old}\t{new}\tkernels::sm90\n" for old, new in KERNELS) + "kernel\told\tsm80::new\tkernels\n"
FUNCTION = """ptxas info    : Compiling entry function '{name}' for '{architecture}'
ptxas info    : Function properties for {name}
    {stack} bytes stack frame, {stack} bytes spill stores, {stack} bytes spill loads
ptxas info    : Used 168 registers, used 7 barriers
"""


def mangled(name, element="13__nv_bfloat16"):
    return f"_ZN6tbench7kernels4sm90{len(name)}{name}I{element}Li64EEvPT_"


class CheckResources(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "renames.tsv").write_text(RENAMES)

    def check(self, reports):
        """Runs the script on objects {name: [(function, architecture, bytes of stack)]}, or {name: text of the report}."""
        for name, report in reports.items():
            if not isinstance(report, str):
                report = "".join(FUNCTION.format(name=f, architecture=a, stack=s) for f, a, s in report)
            (self.folder / f"{name}.ptxas").write_text(report)
        objects = ";".join(str(self.folder / name) for name in reports)
        return subprocess.run([CMAKE, f"-DOBJECTS={objects}", f"-DRENAMES={self.folder}/renames.tsv", "-P", str(SCRIPT)],
                              capture_output=True, text=True)

    def reports(self, name="forward_kernel", tf32="forward_tf32_kernel"):
        both = [(mangled(name, element), a, 0) for element in ("13__nv_bfloat16", "6__half") for a in ("sm_80", "sm_90a")]
        return {"fwd.cu.o": both, "tf32.cu.o": [(mangled(tf32, "Li64E"), a, 0) for a in ("sm_80", "sm_90a")]}

    def refuse(self, reports, text):
        result = self.check(reports)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(text, " ".join(result.stderr.split()))

    def test_kernels_pass_with_old_names_and_with_new_ones(self):
        for reports in (self.reports(), self.reports("fwd_kernel", "fwd_tf32_kernel"), self.reports("fwd_kernel")):
            result = self.check(reports)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("fwd.cu.o: 2 kernels, no spills", result.stdout + result.stderr)

    def test_a_kernel_that_is_missing_is_found(self):
        self.refuse({"fwd.cu.o": self.reports()["fwd.cu.o"]}, "no kernel 19forward_tf32_kernel|15fwd_tf32_kernel with I among")
        reports = self.reports()
        reports["fwd.cu.o"] = reports["fwd.cu.o"][:2]
        self.refuse(reports, "no kernel 14forward_kernel|10fwd_kernel with I6__half among")
        self.refuse(self.reports("my_forward_kernel"), "0 of them kernels that")

    def test_code_for_another_gpu_does_not_count(self):
        reports = self.reports()
        reports["tf32.cu.o"] = reports["tf32.cu.o"][:1]
        self.refuse(reports, "tf32.cu.o: 0 of 0 functions without spills, 0 of them kernels")

    def test_spilled_registers_are_found(self):
        reports = self.reports()
        reports["fwd.cu.o"].append((mangled("helper"), "sm_90a", 8))
        self.refuse(reports, "fwd.cu.o: 2 of 3 functions without spills")
        reports["fwd.cu.o"][-1] = (mangled("helper"), "sm_80", 8)
        self.assertEqual(self.check(reports).returncode, 0)

    def test_serialised_products_are_found(self):
        text = "".join(FUNCTION.format(name=f, architecture=a, stack=s) for f, a, s in self.reports()["tf32.cu.o"])
        self.refuse(self.reports() | {"tf32.cu.o": text + "ptxas info (C7510) : wgmma are serialized\n"}, "has serialised products")

    def test_a_report_that_is_missing_is_told(self):
        result = subprocess.run([CMAKE, "-DOBJECTS=/none.cu.o", f"-DRENAMES={self.folder}/renames.tsv", "-P", str(SCRIPT)],
                                capture_output=True, text=True)
        self.assertIn("ptxas's report is not there", " ".join(result.stderr.split()))


if __name__ == "__main__":
    unittest.main()
