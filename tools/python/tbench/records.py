"""Runs and their measurements, from the JSON of a results file.

Checks the fields that this package shows; `tbench report` checks every field.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from .counters import Record, counters_of
from .errors import ReadError

OLDEST_VERSION, NEWEST_VERSION = 1, 11  # versions of the schema
RENAMING_VERSION = 9  # before, `mfu` was the present `peak_share_at_clock`; host and device time had other rules
# Google Benchmark's own fields of an entry. Every other number is a counter, including Google Benchmark's times.
ENTRY_FIELDS = frozenset(
    ("name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index",
     "threads", "iterations", "time_unit", "label", "aggregate_name", "error_occurred", "error_message", "tbench")
)  # fmt: skip
KINDS = {dict: "an object", list: "an array", str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
Kind = TypeVar("Kind")


class Invalid(Exception):
    """A problem with a file's content. The message does not include the path."""


@dataclass(frozen=True)
class Measurement:
    """One repetition of one case: its record, and its counters in the units of bench/counters.md."""

    name: str
    record: Record
    counters: dict[str, float]

    @property
    def key(self) -> tuple[str, int]:
        return self.name, self.record["repetition_index"]


@dataclass
class Run:
    """The contents of a results file, with `measurements` by case and repetition, in the order of the file."""

    path: str
    schema_version: int
    environment: dict[str, Any]
    measurements: dict[tuple[str, int], Measurement] = field(default_factory=dict)

    def add(self, measurement: Measurement, where: str) -> None:
        machine, machines = measurement.record.get("machine", 0), len(self.environment.get("machines", [None]))
        if not 0 <= machine < machines:
            raise Invalid(f"{where}.machine: {machine}, and there are {machines}")
        self.measurements[measurement.key] = measurement

    def gpu_uuid(self, record: Record) -> str | None:
        """Returns the UUID of the GPU that measured a record, or None if it is unknown."""
        if "machines" in self.environment:
            return self.environment["machines"][record.get("machine", 0)]["gpu_uuid"] or None
        return self.environment.get("gpu", {}).get("uuid") or None


def typed(value: Any, kind: type[Kind], where: str) -> Kind:
    if not (_is_number(value) if kind is float else type(value) is kind):
        raise Invalid(f"{where}: {KINDS[kind]} is expected")
    return cast(Kind, value)


def _is_number(value: Any) -> bool:
    """Returns whether a value is a finite number. JSON's 1e999 is read as infinite. Integers may have any length."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _field(source: dict[str, Any], key: str, kind: type[Kind], where: str) -> Kind:
    if key not in source:
        raise Invalid(f"{where}.{key}: missing")
    return typed(source[key], kind, f"{where}.{key}")


def _check(source: dict[str, Any], kinds: dict[str, type], where: str) -> None:
    """Checks the types of fields that may be absent."""
    for key, kind in kinds.items():
        if key in source:
            typed(source[key], kind, f"{where}.{key}")


def _texts(source: dict[str, Any], where: str) -> dict[str, Any]:
    _check(source, dict.fromkeys(source, str), where)
    return source


def run_of_header(path: str, header: Any, where: str) -> Run:
    header = typed(header, dict, where)
    version = _field(header, "schema_version", int, where)
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        problem = f"schema version {version}, and this package reads versions {OLDEST_VERSION} to {NEWEST_VERSION}"
        raise ReadError(path, problem, "use the tbench package of the build that wrote the file, or measure again")
    return Run(path, version, _environment(_field(header, "environment", dict, where), f"{where}.environment"))


def _environment(environment: dict[str, Any], where: str) -> dict[str, Any]:
    _check(environment, {"gpu": dict, "versions": dict, "commit": str, "date": str}, where)
    _check(environment.get("gpu", {}), {"name": str, "uuid": str}, f"{where}.gpu")
    _check(environment, {"machines": list}, where)
    for index, machine in enumerate(environment.get("machines", [])):
        one = f"{where}.machines[{index}]"
        _field(typed(machine, dict, one), "gpu_uuid", str, one)
    _texts(environment.get("versions", {}), f"{where}.versions")
    return environment


def _checked(record: Any, where: str) -> tuple[str, Record]:
    """Checks that a record has its fields, with the types for DataFrames. Returns the case's name and the record."""
    record = typed(record, dict, where)
    for key, kind in (("status", str), ("repetition_index", int), ("repetitions", int), ("counters", dict)):
        _field(record, key, kind, where)
    _check(record, {"reason": str, "timing": dict, "findings": dict, "trace": dict, "machine": int}, where)
    _texts(record.get("findings", {}), f"{where}.findings")
    if "timing" in record:
        _check_timing(record["timing"], f"{where}.timing")
    if "trace" in record:
        _check_kernels(_field(record["trace"], "kernels", list, f"{where}.trace"), f"{where}.trace.kernels")
    parameters = _texts(_field(record, "parameters", dict, where), f"{where}.parameters")
    name = _field(record, "family", str, where) + "".join(f"/{key}:{value}" for key, value in parameters.items())
    return name, record


def _check_timing(timing: dict[str, Any], where: str) -> None:
    if not all(map(_is_number, _field(timing, "samples_s", list, where))):
        raise Invalid(f"{where}.samples_s: numbers are expected")
    _check(timing, {"relative_half_width": float, "warm_up": dict}, where)
    _check(timing.get("warm_up", {}), {"steady": bool}, f"{where}.warm_up")


def _check_kernels(kernels: list[Any], where: str) -> None:
    for index, kernel in enumerate(kernels):
        one = f"{where}[{index}]"
        for key in ("phase", "class", "name"):
            _field(typed(kernel, dict, one), key, str, one)
        for key in ("calls", "total_s", "min_s", "max_s"):
            _field(kernel, key, float, one)
        _check(kernel, {"standard_deviation_s": float}, one)


def measurement_of_entry(entry: Any, where: str, version: int) -> Measurement | None:
    """Returns None for a mean, median or deviation of repetitions, which follow from the records.

    `version`: version of the file's schema. Counters of an old version are computed again, by the current rules.
    """
    entry = typed(entry, dict, where)
    if "tbench" not in entry and entry.get("run_type") == "aggregate":
        return None
    name, record = _checked(_field(entry, "tbench", dict, where), f"{where}.tbench")
    if entry.get("name") != name:
        raise Invalid(f"{where}.name: '{entry.get('name')}' is not the name of its record, '{name}'")
    counters = {key: value for key, value in entry.items() if key not in ENTRY_FIELDS}
    _check(counters, dict.fromkeys(counters, float), where)
    if version < RENAMING_VERSION:
        return _derived(name, record, f"{where}.tbench")
    return Measurement(name, record, {key: float(value) for key, value in counters.items()})


def measurement_of_record(record: Any, where: str) -> Measurement:
    return _derived(*_checked(record, where), where)


def _derived(name: str, record: Record, where: str) -> Measurement:
    try:
        return Measurement(name, record, counters_of(record))
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Invalid(f"{where}: a field of the record is missing, or has a value of another type: {error}") from error
