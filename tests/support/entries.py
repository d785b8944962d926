"""Entries of results files, whose fields outside of `tbench` follow from their record."""

# Google Benchmark's own fields. All other fields of an entry are counters.
OWN_FIELDS = {
    "name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index", "threads",
    "iterations", "real_time", "cpu_time", "time_unit", "label", "aggregate_name", "aggregate_unit", "error_occurred",
    "error_message", "tbench",
}


def follow_record(entry):
    """Gives the entry the name and the time of its record. Counters, which may be absent, are left out."""
    record = entry["tbench"]
    name = "/".join([record["family"], *(f"{key}:{value}" for key, value in record["parameters"].items())])
    entry["name"] = entry["run_name"] = name
    if "timing" in record:
        entry["real_time"] = 1e3 * record["timing"]["median_s"]
        entry["iterations"] = len(record["timing"]["samples_s"])
    for counter in entry.keys() - OWN_FIELDS:
        del entry[counter]
