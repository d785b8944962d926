"""Reads the map of names, tools/renames.tsv, and applies it to C++ names.

Every row has four columns, separated by tabs: the kind, the old name, the new name, and the scope. The scope is the C++
namespace below `tbench` that declares the name. It is empty for files, for namespaces, and for names that the namespace
`tbench` itself declares. Short names need a scope: `ForwardTile` is one type in `kernels`, another in `kernels::sm90`.
"""
import pathlib
import re
from typing import NamedTuple

KINDS = ("kernel", "namespace", "type", "value", "field", "function", "constant", "file", "divided")
ROOT_NAMESPACE = "tbench"
QUALIFIED = re.compile(r"\btbench(?:::\w+)+")


class RenamesError(Exception):
    """The map has a row that cannot be read; the message names the file and the line."""


class Rename(NamedTuple):
    """One row.

    kind   one of KINDS. A `file` moves. The content of a `divided` file goes to the new files of all its rows.
    old    a path below the repository, or a C++ name: values and fields as `Type::name`, with the old name of the type.
    new    a path, or the C++ name without its scope, with `sm80::` in front if it moves to that namespace below the
           scope. The name of a namespace includes the namespaces around it.
    scope  the namespace that declares the old name, without `tbench::`.
    """
    kind: str
    old: str
    new: str
    scope: str

    @property
    def qualified_old(self) -> str:
        return "::".join(part for part in (ROOT_NAMESPACE, self.scope, self.old) if part)

    @property
    def qualified_new(self) -> str:
        """Returns the new name in the old namespace. Renamed namespaces have their own rows."""
        enclosing = self.old.rpartition("::")[0] if self.kind in ("value", "field") else ""
        return "::".join(part for part in (ROOT_NAMESPACE, self.scope, enclosing, self.new) if part)


def read(path: pathlib.Path) -> list[Rename]:
    """Returns the rows in the file's order. Empty lines and lines that begin with '#' are skipped.

    Raises RenamesError for a row with the wrong number of columns, an unknown kind, an empty name, a name that does not
    change, or an old name of one kind and scope that has two new ones (divided files may).
    """
    rows = []
    seen = {}
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 4:
            raise RenamesError(f"{path}:{number}: {len(columns)} columns; a row has kind, old, new and scope")
        row = Rename(*columns)
        if row.kind not in KINDS:
            raise RenamesError(f"{path}:{number}: '{row.kind}' is not a kind of name; kinds: {', '.join(KINDS)}")
        if not row.old or not row.new or row.old == row.new:
            raise RenamesError(f"{path}:{number}: '{row.old}' needs another name, not '{row.new}'")
        key = (row.kind, row.old, row.scope)
        if key in seen and row.kind != "divided":
            raise RenamesError(f"{path}:{number}: '{row.old}' has a new name in line {seen[key]}")
        seen.setdefault(key, number)
        rows.append(row)
    return rows


class NameMap:
    """Replaces old qualified names by new ones in demangled C++ names."""

    def __init__(self, rows: list[Rename]):
        names = [row for row in rows if row.kind in ("kernel", "type", "function")]
        self._names = {row.qualified_old: row.qualified_new for row in names}
        namespaces = [row for row in rows if row.kind == "namespace"]
        self._namespaces = sorted(((row.qualified_old, row.qualified_new) for row in namespaces), key=lambda pair: -len(pair[0]))

    def __call__(self, demangled: str) -> str:
        """Returns `demangled` with every name of the map replaced. Names outside `tbench` do not change."""
        return QUALIFIED.sub(lambda match: self._current(match[0]), demangled)

    def _current(self, name: str) -> str:
        parts = name.split("::")
        for length in range(len(parts), 1, -1):
            prefix = "::".join(parts[:length])
            if prefix in self._names:
                name = "::".join([self._names[prefix], *parts[length:]])
                break
        for old, new in self._namespaces:
            if name.startswith(old + "::"):
                return new + name[len(old):]
        return name
