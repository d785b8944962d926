#!/usr/bin/env python3
"""Prints the names that a Python file defines at its top level, one per line, without running it: defined_names.py FILE.py

Prints `*` last if the file may define others: with `from MODULE import *`, __getattr__, globals() or exec(). For a file
that is not Python, prints the place and the error on stderr, and exits 1. It runs without PyTorch, so that a mistyped
function is found in a fraction of a second.
"""
import ast
import pathlib
import sys

DYNAMIC = {"globals", "exec", "vars", "setattr"}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def names_of(node):
    """Yields the names that the node binds in its own scope; `*` if it may bind others."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, SCOPES):
        if not isinstance(node, ast.Lambda):
            yield "*" if node.name == "__getattr__" else node.name
        return
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
        elif node.id in DYNAMIC:
            yield "*"
    for child in ast.iter_child_nodes(node):
        yield from names_of(child)


def main():
    try:
        tree = ast.parse(pathlib.Path(sys.argv[1]).read_bytes())
    except SyntaxError as error:
        sys.exit(f"line {error.lineno}: {error.msg}")
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    names = dict.fromkeys(names_of(tree))
    print("\n".join([*(name for name in names if name != "*"), *(["*"] if "*" in names else [])]))


if __name__ == "__main__":
    main()
