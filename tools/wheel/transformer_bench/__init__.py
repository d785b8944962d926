"""Starts the programs of this wheel: transformer_bench with the installed torch's LibTorch, and tbench by itself."""
import importlib.metadata
import os
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
_EXIT_USAGE = 2  # the same status as in the programs


class _WrongTorch(Exception):
    pass


def _torch_folder():
    """Returns the folder of the installed torch, without importing torch, which takes seconds.

    Raises _WrongTorch if it is not the version and the kind that transformer_bench is linked with.
    """
    wanted = (_HERE / "torch_version").read_text().strip()
    try:
        torch = importlib.metadata.distribution("torch")
    except importlib.metadata.PackageNotFoundError:
        raise _WrongTorch(f"torch is not installed: pip install torch=={wanted}") from None
    if torch.version.split("+")[0] != wanted:
        raise _WrongTorch(
            f"torch is {torch.version}, this wheel was built with {wanted}: pip install torch=={wanted}, "
            f"or build a wheel for the other as tools/wheel/README.md says"
        )
    folder = pathlib.Path(torch.locate_file("torch")).resolve()
    if not (folder / "lib" / "libtorch_cuda.so").exists():
        raise _WrongTorch(
            f"torch {torch.version} in {folder} has no CUDA libraries (lib/libtorch_cuda.so): install the build of "
            f"torch=={wanted} for CUDA 13.0"
        )
    return folder


def _libraries_of(torch):
    """Returns the folders of LibTorch and of the CUDA libraries on which its wheel depends."""
    return [torch / "lib", torch.parent / "nvidia" / "cu13" / "lib"]


def _run(program, environment):
    path = _HERE / "bin" / program
    os.execve(path, [str(path), *sys.argv[1:]], environment)


def run_transformer_bench():
    try:
        torch = _torch_folder()
    except _WrongTorch as error:
        print(f"transformer_bench: {error}", file=sys.stderr)
        sys.exit(_EXIT_USAGE)
    environment = dict(os.environ)
    # The program looks for torch next to this package. A system-wide torch under a user's own packages is elsewhere.
    if torch.parent != _HERE.parent:
        known = [folder for folder in environment.get("LD_LIBRARY_PATH", "").split(":") if folder]
        environment["LD_LIBRARY_PATH"] = ":".join([*map(str, _libraries_of(torch)), *known])
    _run("transformer_bench", environment)


def run_tbench():
    _run("tbench", os.environ)
