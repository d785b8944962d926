"""Reads a results file, and the journal that a killed run left next to it (bench/results_format.md)."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from typing import Any

from .errors import COPY_AGAIN, MAKE_RESULTS_FILE, MEASURE_AGAIN, ReadError
from .paths import JOURNAL
from .records import Invalid, Run, measurement_of_entry, measurement_of_record, run_of_header, typed

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_CONTENT = 512 << 20  # maximum of bytes of a file, packed and unpacked
CHECKSUM = re.compile(rb" #([0-9a-f]{8})$")  # at the end of a journal's line


class NotResults(ReadError):
    """The file has JSON that is not results."""


def read_run(path: str) -> Run:
    """Returns the finished cases of a file and of its journal. A killed run may have left only the journal.

    Raises NotResults for JSON that is not results, and ReadError for any other file that cannot be read.
    """
    journal = (os.path.realpath(path) if os.path.islink(path) else path) + JOURNAL
    # The journal is read first. If the run removes it in the meantime, the results file has all its records.
    finished = _read_journal(journal)
    if finished is not None and not os.path.exists(path):
        finished.path = path
        return finished
    run = _read_file(path)
    if finished is None:
        return run
    if (difference := _difference(run.environment, finished.environment)) is not None:
        raise ReadError(journal, f"belongs to another run than '{path}': {difference}", "remove it to read the file alone")
    run.environment |= {key: finished.environment[key] for key in ("gpu", "machines") if key in finished.environment}
    run.measurements |= finished.measurements
    return run


def _read_file(path: str) -> Run:
    root = _parse(path, _text_of(path))
    if not isinstance(root, dict) or "benchmarks" not in root or not isinstance(root.get("context"), dict):
        raise NotResults(path, "JSON, but not of a benchmark: 'context' and 'benchmarks' are missing", MAKE_RESULTS_FILE)
    if "tbench" not in root["context"]:
        raise NotResults(path, "Google Benchmark's own JSON, without the records under 'tbench'", MAKE_RESULTS_FILE)
    try:
        run = run_of_header(path, root["context"]["tbench"], "context.tbench")
        for index, entry in enumerate(typed(root["benchmarks"], list, "benchmarks")):
            if (measurement := measurement_of_entry(entry, f"benchmarks[{index}]", run.schema_version)) is not None:
                run.add(measurement, f"benchmarks[{index}].tbench")
    except Invalid as error:
        raise ReadError(path, str(error), MEASURE_AGAIN) from error
    return run


def _read_journal(path: str) -> Run | None:
    """Returns None if there is no journal, or if the program died before its first line was complete."""
    try:
        content = _bytes_of(path)
    except ReadError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    run = None
    try:
        for where, line in _whole_lines(content):
            if run is None:
                run = run_of_header(path, line, where)
            else:
                run.add(measurement_of_record(line, where), where)
    except Invalid as error:
        raise ReadError(path, str(error), "remove it to go on without its records") from error
    return run


def _whole_lines(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yields the values of a journal's lines. An incomplete last line belongs to a case that had not finished."""
    lines = content.split(b"\n")[:-1]
    has_checksums = bool(lines) and CHECKSUM.search(lines[0]) is not None
    for number, line in enumerate(lines, 1):
        try:
            value = _json(_checked(line, number).decode() if has_checksums else line.decode())
        except Invalid:
            raise
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise Invalid(f"line {number} is torn") from error
        yield f"line {number}", value


def _checked(line: bytes, number: int) -> bytes:
    """Returns the line's JSON without the checksum after it, which earlier versions did not write.

    Raises:
        ValueError: if there is no checksum, or no JSON before it, so that the line is incomplete.
        Invalid: if the checksum does not match the text.
    """
    found = CHECKSUM.search(line)
    if found is None:
        raise ValueError("there is no checksum")
    text = line[: found.start()]
    _json(text.decode())
    if zlib.crc32(text) != int(found[1], 16):
        raise Invalid(f"line {number} was changed after it was written")
    return text


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise ReadError(path, "not a regular file, but a device", "give a file, or a pipe")
            content = file.read(MAX_CONTENT + 1)
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}", MAKE_RESULTS_FILE) from error
    if len(content) > MAX_CONTENT:
        raise ReadError(path, f"more than {MAX_CONTENT} bytes", "give a smaller file")
    return content.removeprefix(BYTE_ORDER_MARK)


def _unpacked(path: str, content: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as file:
            text = file.read(MAX_CONTENT + 1)
    except EOFError as error:
        raise ReadError(path, "the gzip data is cut off", COPY_AGAIN) from error
    except (OSError, zlib.error) as error:
        raise ReadError(path, "the gzip data is corrupt", COPY_AGAIN) from error
    if len(text) > MAX_CONTENT:
        raise ReadError(path, f"the packed file unpacks to more than {MAX_CONTENT} bytes", MAKE_RESULTS_FILE)
    return text.removeprefix(BYTE_ORDER_MARK)


def _text_of(path: str) -> str:
    """Returns the text of a file. Its first bytes tell whether it is packed. Refuses a .gz file that has neither."""
    content = _bytes_of(path)
    if content.startswith(GZIP_MAGIC):
        content = _unpacked(path, content)
    elif path.endswith(".gz") and content and not content.lstrip().startswith((b"{", b"[")):
        raise ReadError(path, "no gzip data", "pack it with gzip, or give it a name without .gz")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ReadError(path, f"not JSON: byte {error.start} is not UTF-8", MAKE_RESULTS_FILE) from error


def _json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not a JSON number")

    return json.loads(text, parse_constant=refuse)


def _parse(path: str, text: str) -> Any:
    if not text.strip():
        raise ReadError(path, "the file is empty", MAKE_RESULTS_FILE)
    try:
        return _json(text)
    except json.JSONDecodeError as error:
        if _is_cut_off(text, error):
            raise ReadError(path, f"the file is cut off after {len(text)} characters", COPY_AGAIN) from error
        raise ReadError(path, f"not JSON, at line {error.lineno}, column {error.colno}", MAKE_RESULTS_FILE) from error
    except (ValueError, RecursionError) as error:
        raise ReadError(path, f"not JSON: {error}", MAKE_RESULTS_FILE) from error


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """Returns whether the text begins like an object and ends before the object does."""
    end = text.rstrip()
    is_open = error.pos >= len(end) or (not end.endswith("}") and error.msg != "Extra data")
    return end.startswith("{") and is_open


def _difference(a: dict[str, Any], b: dict[str, Any]) -> str | None:
    """Returns why two environments are not of one run, or None. The load, the date and the commit may differ."""

    def device(environment: dict[str, Any]) -> Any:
        return environment.get("gpu", {}).get("name", environment.get("cpu_name"))

    if device(a) != device(b):
        return f"different device, {device(a)} against {device(b)}"
    for key in ("sources_digest", "build_type", "compile_options", "variant", "versions", "clock_policy"):
        if a.get(key) != b.get(key):
            return f"different {key}"
    return None
