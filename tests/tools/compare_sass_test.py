#!/usr/bin/env python3
"""Tests tools/compare_sass.py with recorded output of cuobjdump: compare_sass_test.py SOURCE_DIR

The kernel is an empty one, as the Hopper kernels are for sm_80. A program that prints the recorded text stands in for
cuobjdump; `built_code_test.py` and this project's builds use the real one.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
TOOL = """#!/bin/sh
case $1 in
  -sass) cat "$2" ;;
  -res-usage) cat "$2.resources" ;;
esac
"""
OLD = "_ZN6tbench7kernels4sm9030attention_forward_wgmma_kernelILi64ENS1_12ShortForwardEEEvNS1_17ForwardParametersE"
NEW = "_ZN6tbench7kernels4sm9025attention_fwd_sm90_kernelILi64ENS1_12FwdM128N64x2EEEvNS1_9FwdParamsE"
OTHER = "_ZN6tbench7kernels4sm9025attention_fwd_sm90_kernelILi80ENS1_12FwdM128N64x2EEEvNS1_9FwdParamsE"
RENAMES = """kernel\tattention_forward_wgmma_kernel\tattention_fwd_sm90_kernel\tkernels::sm90
type\tShortForward\tFwdM128N64x2\tkernels::sm90
type\tForwardParameters\tFwdParams\tkernels::sm90
"""
SASS = """
Fatbin elf code:
================
arch = {architecture}
code version = [1,8]

\tcode for {architecture}
\t\tFunction : {symbol}
\t.headerflags\t@"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)"
        /*0000*/                   MOV R1, c[0x0][{offset}] ;                                 /* 0x00000a0000017a02 */
                                                                                          /* 0x000fe40000000f00 */
        /*0010*/                   CALL.REL.NOINC `({symbol}) ;                           /* 0x000000000000794d */
                                                                                          /* {control} */
\t\t..........
"""
RESOURCES = """
Fatbin elf code:
================
arch = {architecture}

Resource usage:
 Common:
  GLOBAL:0
 Function {symbol}:
  REG:{registers} STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:896 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


class CompareSass(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        tool = self.folder / "cuobjdump"
        tool.write_text(TOOL)
        tool.chmod(0o755)
        (self.folder / "renames.tsv").write_text(RENAMES)

    def write(self, name, symbol, architectures=("sm_80", "sm_90a"), **values):
        """Records a library with one function per architecture. `values` apply to the last architecture."""
        usual = {"offset": "0x28", "control": "0x000fea0003800000", "registers": 4}
        for suffix, text in (("", SASS), (".resources", RESOURCES)):
            parts = [text.format(architecture=a, symbol=symbol, **{**usual, **(values if a == architectures[-1] else {})})
                     for a in architectures]
            (self.folder / (name + suffix)).write_text("".join(parts))
        return name

    def compare(self, old, new, *arguments):
        program = [sys.executable, str(SOURCE / "tools/compare_sass.py"), old, new, *arguments]
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run(program, cwd=self.folder, env=environment, capture_output=True, text=True)

    def expect(self, result, status, *texts):
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)

    def test_equal_code_is_equal(self):
        result = self.compare(self.write("a.a", OLD), self.write("b.a", OLD))
        self.expect(result, 0, "0 differences; functions in the new file: 1 for sm_80, 1 for sm_90a")

    def test_a_renamed_kernel_pairs_through_the_map_alone(self):
        old, new = self.write("a.a", OLD), self.write("b.a", NEW)
        self.expect(self.compare(old, new, "--renames", "renames.tsv"), 0, "0 differences")
        self.expect(self.compare(new, old, "--renames", "renames.tsv"), 0, "0 differences")
        self.expect(self.compare(old, new), 1, "4 differences", "ShortForward>", ": 1 in the old file, 0 in the new one")

    def test_a_kernel_that_is_missing_is_found(self):
        result = self.compare(self.write("a.a", NEW), self.write("b.a", OTHER), "--renames", "renames.tsv")
        self.expect(result, 1, "attention_fwd_sm90_kernel<80,", ": 0 in the old file, 1 in the new one")

    def test_instructions_encodings_and_resources_are_compared(self):
        old = self.write("a.a", OLD)
        for values, text in (({"offset": "0x2c"}, "line 1 of its code: '/*0000*/"), ({"control": "0x000fea0003800001"}, "line 4 of"),
                             ({"registers": 5}, "resources REG:4 STACK:0")):
            result = self.compare(old, self.write("b.a", NEW, **values), "--renames", "renames.tsv")
            self.expect(result, 1, "1 differences", f"sm_90a void tbench::kernels::sm90::attention_fwd_sm90_kernel<64,", text)

    def test_what_cannot_be_compared_is_refused(self):
        old = self.write("a.a", OLD)
        self.expect(self.compare(old, self.write("b.a", OLD, architectures=("sm_80",))), 2, "'b.a' has no machine code for sm_90a")
        self.expect(self.compare(old, "none.a"), 2, "'none.a': cuobjdump -sass failed: ")
        (self.folder / "renames.tsv").write_text("type\tA\n")
        self.expect(self.compare(old, old, "--renames", "renames.tsv"), 2, "renames.tsv:1: 2 columns")


if __name__ == "__main__":
    unittest.main()
