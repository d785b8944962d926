#!/usr/bin/env python3
"""Tests the map of names, tools/renames.tsv, and its reader: renames_test.py SOURCE_DIR

Every row's old name or its new one is in the tree, never both: a renaming is complete or has not begun.
"""
import functools
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(SOURCE / "tools"))

import renames  # noqa: E402

SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh", ".h")
IGNORED = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')  # comments and strings
NAMESPACE = re.compile(r"^namespace tbench(?:::([\w:]+))?", re.MULTILINE)


@functools.cache
def sources():
    """[(namespaces, code, words)] of every source: the namespaces below tbench that it opens, its text without comments."""
    files = (file for folder in ("include", "src", "bench", "tools") for file in (SOURCE / folder).rglob("*"))
    texts = (file.read_text() for file in files if file.suffix in SUFFIXES)
    read = ((set(NAMESPACE.findall(text)), IGNORED.sub("", text)) for text in texts)
    return [(namespaces, code, set(re.findall(r"\w+", code))) for namespaces, code in read]


def current_scopes(scope):
    """Returns the scope, its namespace's new name, and sm80, to which names of `kernels` may have moved."""
    moved = {row.old: row.new for row in MAP if row.kind == "namespace"}
    return {scope, moved.get(scope, scope), f"{scope}::sm80"}


def code_with(scope, word):
    """Returns the code of every source that opens the namespace and contains the word."""
    scopes = current_scopes(scope)
    return [code for namespaces, code, words in sources() if word in words and scopes & namespaces]


def declares_type(code, name):
    """Returns whether the code declares the type in a namespace, at the beginning of a line. Aliases inside a class are
    other names.
    """
    return re.search(rf"^(?:enum )?(?:struct|class|using)\s+(?:\w+::)*{name}\b(?!\s*;)", code, re.MULTILINE) is not None


def bodies(code, name):
    """Yields the text between the braces of each definition of the type."""
    for match in re.finditer(rf"\b(?:struct|class)\s+{name}\b[^;{{]*{{", code):
        depth, end = 1, match.end()
        while depth > 0 and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield code[match.end():end]


def has_member(row, member):
    """Returns whether the row's type, under its old or new name, has the member."""
    type_name = row.old.rpartition("::")[0]
    new_types = {other.new.rpartition("::")[2] for other in MAP if other.kind == "type" and (other.old, other.scope) == (type_name, row.scope)}
    return any(member in re.findall(r"\w+", body) for code in code_with(row.scope, member)
               for name in {type_name, *new_types} for body in bodies(code, name))


def is_there(row, name):
    """Returns whether `name` is in the tree. A new name may be in a namespace below the scope: `sm80::FwdConfig`."""
    if row.kind in ("file", "divided"):
        return (SOURCE / name).exists()
    if row.kind == "namespace":
        return any(name in namespaces for namespaces, _, _ in sources())
    if row.kind in ("value", "field"):
        return has_member(row, name.rpartition("::")[2])
    scope = "::".join(part for part in (row.scope, name.rpartition("::")[0]) if part)
    name = name.rpartition("::")[2]
    return any(row.kind != "type" or declares_type(code, name) for code in code_with(scope, name))


MAP = renames.read(SOURCE / "tools/renames.tsv")


class TheMap(unittest.TestCase):
    def test_old_or_new_is_in_the_tree_never_both(self):
        for row in MAP:
            with self.subTest(row=row):
                found = [name for name in (row.old, row.new) if is_there(row, name)]
                if row.kind == "divided" and len(found) == 2:
                    found = [row.new]  # its other contents have not moved
                self.assertEqual(len(found), 1, f"in the tree: {found}")

    def test_new_names_differ_in_a_scope(self):
        """Overloaded functions may be renamed to the same name. Two types of one namespace may not."""
        seen = {}
        for row in MAP:
            if row.kind in ("type", "kernel", "file"):
                other = seen.setdefault((row.kind, row.new, row.scope), row)
                same_namespace_later = other is row or row.new == "WorkspacePointers"  # declared once per source
                self.assertTrue(same_namespace_later, f"{row.old} and {other.old} both become {row.new}")

    def test_every_kernel_names_its_pass(self):
        kernels = [row for row in MAP if row.kind == "kernel"]
        self.assertEqual(len(kernels), 22)
        for row in kernels:
            self.assertRegex(row.new, r"^(sm80::)?attention_(fwd|bwd)_sm(80|90)_(\w+_)?kernel$")


class NamesOfKernels(unittest.TestCase):
    """The renames that readers of results apply, src/profile/kernel_renames.tsv, follow from the map."""

    def test_has_every_kernel_and_nothing_that_the_map_has_not(self):
        lines = (SOURCE / "src/profile/kernel_renames.tsv").read_text().splitlines()
        pairs = dict(line.split("\t") for line in lines if line and not line.startswith("#"))
        current = renames.NameMap(MAP)
        for old, new in pairs.items():
            self.assertEqual(current(old), new)
        self.assertEqual({row.qualified_old for row in MAP if row.kind == "kernel"} - pairs.keys(), set())


class TheReader(unittest.TestCase):
    def refusal(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "renames.tsv"
            path.write_text(text)
            with self.assertRaises(renames.RenamesError) as caught:
                renames.read(path)
        return str(caught.exception)

    def test_says_where_a_row_is_wrong(self):
        self.assertIn("renames.tsv:2: 3 columns", self.refusal("# a comment\ntype\tA\tB\n"))
        self.assertIn(":1: 'kind' is not a kind of name", self.refusal("kind\tA\tB\t\n"))
        self.assertIn(":1: 'A' needs another name, not 'A'", self.refusal("type\tA\tA\t\n"))
        self.assertIn(":1: 'A' needs another name, not ''", self.refusal("type\tA\t\tx\n"))
        self.assertIn(":2: 'A' has a new name in line 1", self.refusal("type\tA\tB\tx\ntype\tA\tC\tx\n"))

    def test_a_scope_tells_equal_names_apart(self):
        rows = [renames.Rename("type", "Tile", "Wide", "a"), renames.Rename("type", "Tile", "Tall", "a::b"),
                renames.Rename("namespace", "a::b", "c", "")]
        current = renames.NameMap(rows)
        self.assertEqual(current("void tbench::a::run<tbench::a::b::Tile, (tbench::a::Tile)1>(tbench::a::Tile::Part*)"),
                         "void tbench::a::run<tbench::c::Tall, (tbench::a::Wide)1>(tbench::a::Wide::Part*)")
        self.assertEqual(current("other::a::Tile tbench::Tile tbench::a::Tiles"), "other::a::Tile tbench::Tile tbench::a::Tiles")


if __name__ == "__main__":
    unittest.main()
