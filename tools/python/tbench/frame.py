"""DataFrames of results files: one row per case and repetition, or one row per traced kernel."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from .counters import FLAGS, GENERAL
from .errors import ReadError
from .kernel_names import current_kernel_name
from .paths import Paths, candidates
from .records import Measurement, Run
from .results_file import NotResults, read_run

Row = tuple[Run, Measurement]
Attributes = dict[Hashable | None, Any]  # the type that pandas uses
CounterKey = tuple[str, str, int]  # file, name, repetition_index

IDENTITY = ("file", "family", "name", "repetition_index")
# The columns that a record gives besides its parameters and counters.
RECORD = ("status", "reason", "repetitions", "iterations", "relative_half_width", "steady")
ENVIRONMENT = ("gpu", "gpu_uuid", "driver", "commit", "date")
SAMPLES = "samples_s"
KERNEL = ("phase", "class", "kernel", "calls", "total_s", "min_s", "max_s", "standard_deviation_s")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 18 digits fit into 64 bits


def read(paths: Paths, *, samples: bool = False, filter: str | None = None) -> pd.DataFrame:
    """Reads results files into one row per case and repetition.

    Args:
        paths: one or several files, folders (all .json and .json.gz files below them) or patterns. The records that a
            running or killed run has in FILE.journal are read, too. Files of a folder or pattern that have other JSON
            or cannot be read are skipped and named in `attrs["passed_over"]`. Unreadable files also cause a
            warning.
        samples: adds the column `samples_s`: arrays of a case's samples in seconds, in the order in which they were
            taken; None without a time.
        filter: a regular expression that is searched in the case's name. With a minus in front, it selects the cases
            that do not match.

    Returns:
        A DataFrame with the columns `file`, `family`, the parameters of the names (Int64 if all values are whole
        numbers), `name`, `status`, `reason`, `repetition_index`, `repetitions`, `iterations` (number of samples),
        `relative_half_width` (of the median's 95 % interval), `steady` (whether the warm-up became steady), the
        counters in the units of bench/counters.md (NaN if absent; flags are boolean), `finding.KEY`, and `gpu`,
        `gpu_uuid`, `driver`, `commit`, `date` as categories. A parameter with the name of another column is `parameter.KEY`, such a
        counter is `counter.KEY`. `attrs` has `schema_versions` by file, and in `counters` the column of each counter.

    Raises:
        ReadError: with the path, the problem and the remedy in one line.
    """
    rows, attributes = _read_rows(paths, filter)
    taken = {*IDENTITY, *RECORD, *ENVIRONMENT, SAMPLES}
    counters = _columns_of(_counter_names(rows), taken, "counter")
    parameters = _columns_of(_keys(m.record["parameters"] for _, m in rows), taken | {*counters.values()}, "parameter")
    columns = _identity(rows, parameters) | _record_columns(rows)
    columns |= {column: _counter(rows, name) for name, column in counters.items()}
    for key in _keys(m.record.get("findings", {}) for _, m in rows):
        columns[f"finding.{key}"] = [m.record.get("findings", {}).get(key) for _, m in rows]
    columns |= _environment(rows)
    if samples:
        columns[SAMPLES] = pd.Series([_samples(m) for _, m in rows], dtype=object)
    frame: pd.DataFrame = pd.DataFrame(columns)
    frame.attrs = attributes | {"counters": counters}
    return frame


def kernels(paths: Paths, *, filter: str | None = None) -> pd.DataFrame:
    """Reads the traces of results files: one row per kernel, copy or fill of a case's step, in the order of the file.

    Args:
        paths, filter: as for `read`.

    Returns:
        A DataFrame with the columns `file`, `family`, the parameters, `name` (of the case), `repetition_index`,
        `phase`, `class`, `kernel` (whole name; for a kernel of this project, its current name), `calls` and `total_s`
        per step, `min_s`, `max_s` and `standard_deviation_s` of a call (NaN for a single call). Times are in seconds.

    Raises:
        ReadError: as `read`, and if no case has a trace.
    """
    rows, attributes = _read_rows(paths, filter)
    of_kernels = [(row, kernel) for row in rows for kernel in row[1].record.get("trace", {}).get("kernels", ())]
    if not of_kernels:
        problem = f"none of {len(rows)} cases has a trace"
        raise ReadError(rows[0][0].path, problem, "measure them with --tb_trace=on")
    rows = [row for row, _ in of_kernels]
    parameters = _columns_of(_keys(m.record["parameters"] for _, m in rows), {*IDENTITY, *KERNEL}, "parameter")
    columns = _identity(rows, parameters)
    for column in KERNEL:
        values = [current_kernel_name(kernel["name"]) if column == "kernel" else kernel.get(column) for _, kernel in of_kernels]
        columns[column] = pd.Series(values, dtype=None if column in ("phase", "class", "kernel") else float)
    frame: pd.DataFrame = pd.DataFrame(columns)
    frame.attrs = attributes
    return frame


def to_counters(frame: pd.DataFrame) -> dict[CounterKey, dict[str, float]]:
    """Converts a frame that `read` made, or some of its rows and columns, back to the counters of its files.

    Returns:
        The counters in the units of bench/counters.md, by file, name and repetition_index.

    Raises:
        ValueError: if the frame has lost its `attrs`, or the columns that distinguish its rows.
    """
    columns = frame.attrs.get("counters")
    if columns is None or not {"file", "name", "repetition_index"} <= {*frame.columns}:
        raise ValueError("to_counters: not a frame of tbench.read, or merged since; read all paths with one tbench.read")
    keys = list(zip(frame["file"], frame["name"], map(int, frame["repetition_index"]), strict=True))
    counters: dict[CounterKey, dict[str, float]] = {key: {} for key in keys}
    for name, column in columns.items():
        if column not in frame.columns:
            continue
        values = frame[column].to_numpy(dtype=float, na_value=np.nan)
        for index in np.flatnonzero(~np.isnan(values)):
            counters[keys[index]][name] = float(values[index])
    return counters


def _read_rows(paths: Paths, filter: str | None) -> tuple[list[Row], Attributes]:
    """Returns the rows of all files that pass the filter, and the attributes of the files."""
    passes = _case_filter(filter)
    runs, passed_over = [], []
    refusal: ReadError | None = None
    files = candidates(paths)
    for file in files:
        try:
            runs.append(read_run(file.path))
        except ReadError as error:
            if file.is_named:
                raise
            if not isinstance(error, NotResults):
                refusal = refusal or error
                warnings.warn(f"skipped: {error}", stacklevel=3)
            passed_over.append(file.path)
    if not runs and refusal:
        raise refusal
    if not runs:
        problem = f"this file is not of transformer_bench, nor is any other of {len(files)}"
        raise ReadError(passed_over[0], problem, "give the path of results files")
    rows = [(run, measurement) for run in runs for measurement in run.measurements.values()]
    if not rows:
        raise ReadError(runs[0].path, "no case had finished", "resume the run with --tb_resume, or measure again")
    selected = [row for row in rows if passes(row[1].name)]
    if not selected:
        problem = f"no case of {len(rows)} matches the filter '{filter}'"
        raise ReadError(runs[0].path, problem, f"the first case is {rows[0][1].name}")
    return selected, {"schema_versions": {run.path: run.schema_version for run in runs}, "passed_over": passed_over}


def _case_filter(expression: str | None) -> Callable[[str], bool]:
    if not expression:
        return lambda name: True
    is_inverted = expression.startswith("-")
    try:
        pattern = re.compile(expression[1:] if is_inverted else expression)
    except re.error as error:
        raise ReadError(expression, f"not a regular expression: {error}", "correct the filter") from error
    return lambda name: (pattern.search(name) is not None) != is_inverted


def _keys(objects: Iterable[dict[str, Any]]) -> list[str]:
    """Returns all keys, in the order in which they first occur."""
    return list(dict.fromkeys(key for one in objects for key in one))


def _counter_names(rows: list[Row]) -> list[str]:
    return _keys([dict.fromkeys(GENERAL), *(measurement.counters for _, measurement in rows)])


def _columns_of(names: list[str], taken: set[str], prefix: str) -> dict[str, str]:
    return {name: f"{prefix}.{name}" if name in taken else name for name in names}


def _identity(rows: list[Row], parameters: dict[str, str]) -> dict[str, Any]:
    """Returns the columns that distinguish rows. `parameters`: the parameters' columns by key."""
    columns: dict[str, Any] = {"file": [run.path for run, _ in rows], "family": [m.record["family"] for _, m in rows]}
    for key, column in parameters.items():
        columns[column] = _parameter([m.record["parameters"].get(key) for _, m in rows])
    columns["name"] = [m.name for _, m in rows]
    columns["repetition_index"] = [m.record["repetition_index"] for _, m in rows]
    return columns


def _parameter(texts: list[str | None]) -> Any:
    if all(text is None or WHOLE_NUMBER.fullmatch(text) for text in texts):
        return pd.array([None if text is None else int(text) for text in texts], dtype="Int64")
    return texts


def _record_columns(rows: list[Row]) -> dict[str, Any]:
    records = [measurement.record for _, measurement in rows]
    timings = [record.get("timing", {}) for record in records]
    return {
        "status": [record["status"] for record in records],
        "reason": [record.get("reason") for record in records],
        "repetitions": [record["repetitions"] for record in records],
        "iterations": pd.array([len(t["samples_s"]) if t else None for t in timings], dtype="Int64"),
        "relative_half_width": pd.Series([t.get("relative_half_width") for t in timings], dtype=float),
        "steady": pd.array([t.get("warm_up", {}).get("steady") for t in timings], dtype="boolean"),
    }


def _counter(rows: list[Row], name: str) -> Any:
    values = np.array([measurement.counters.get(name, np.nan) for _, measurement in rows])
    is_flag = name in FLAGS and np.isin(values[~np.isnan(values)], (0, 1)).all()
    return pd.array([None if np.isnan(v) else bool(v) for v in values], dtype="boolean") if is_flag else values


def _environment(rows: list[Row]) -> dict[str, pd.Categorical]:
    environments = [run.environment for run, _ in rows]
    facts = {
        "gpu": [environment.get("gpu", {}).get("name") for environment in environments],
        "gpu_uuid": [run.gpu_uuid(measurement.record) for run, measurement in rows],
        "driver": [environment.get("versions", {}).get("driver") for environment in environments],
        "commit": [environment.get("commit") for environment in environments],
        "date": [environment.get("date") for environment in environments],
    }
    return {column: pd.Categorical(values) for column, values in facts.items()}


def _samples(measurement: Measurement) -> np.ndarray | None:
    """Returns the samples in seconds; None without a time."""
    timing = measurement.record.get("timing")
    return None if timing is None else np.array(timing["samples_s"], dtype=float)
