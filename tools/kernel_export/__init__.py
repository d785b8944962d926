"""The parts of export_kernel.py, which makes a package from a Python function."""
