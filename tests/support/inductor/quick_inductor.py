"""PyTorch's inductor as tests run it: what it does with a graph is as ever, but it tries out no instructions of the processor.

Each trial starts a Python that loads PyTorch; six of them, in every process that compiles, take longer than the graphs of
a test. Inductor then takes AVX-512 or AVX2 as the processor has it, without their newer extensions.
"""
import importlib.machinery
import os
import pathlib
import sys

MODULE = "torch._inductor.cpu_vec_isa"


class Finder:
    """A finder for sys.meta_path: finds MODULE as the other finders do, and changes it once it is loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module.VecISA.check_build = lambda isa, code: False

        spec.loader.exec_module = exec_module
        return spec


def install():
    """Installs the finder in this process. Call it before PyTorch is loaded."""
    assert MODULE not in sys.modules
    sys.meta_path.insert(0, Finder)


def install_in_children():
    """Installs the finder in every Python that this process starts, by means of sitecustomize.py in this folder."""
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"  # inductor tries these out first
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes, each of which would load PyTorch
    os.environ["AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL"] = "O0"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # would be written next to the tests' sources
    folder = str(pathlib.Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
