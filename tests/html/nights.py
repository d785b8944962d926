"""A made-up history for the browser tests: a step, a confirmed regression, an invalid night, a failed case, a change of
the driver, a second machine, and hostile texts in everything that a history shows.
"""

import copy
import datetime
import json
import os
import shlex
import subprocess

from synthetic import HOSTILE, refreshed

NIGHTS = 30
STEP = 12  # the first night of a new level of 2.7B's forward pass
INVALID = 9  # the ceiling is slower
FAILED = 7  # small's train step is incorrect
CONFIRMED = 20  # medium's train step regresses, and a kept build confirms it
NEW_DRIVER = 24


def started(night):
    return (datetime.datetime(2026, 1, 2, 3) + datetime.timedelta(days=night)).strftime("%Y-%m-%dT%H:%M:%SZ")


def variables(night):
    """Returns the environment of a night's fake build."""
    slow = []
    if night >= STEP:
        slow.append(r"2\.7B/.*forward")
    if night == INVALID:
        slow.append("Ceiling")
    if night == CONFIRMED:
        slow.append("medium/.*train_step")
    values = {"FAKE_DATE": started(night), "FAKE_COMMIT": f"{night:03d}{HOSTILE}", "FAKE_SEED": str(night),
              "FAKE_DRIVER": "580.1" if night < NEW_DRIVER else f"590.2 {HOSTILE}"}
    if slow:
        values["FAKE_SLOW"] = "|".join(slow)
    if night == FAILED:
        values["FAKE_FAIL"] = "small/.*train_step"
    return values


def other_machine(golden):
    """Returns a run on a GPU with a hostile name, with a case of a hostile name."""
    results = copy.deepcopy(golden)
    results["context"]["tbench"]["environment"]["gpu"]["name"] = "GPU " + HOSTILE
    results["benchmarks"][0]["tbench"]["parameters"]["size"] = HOSTILE
    return refreshed(results)


def make_history(tbench, fake_bench, golden, folder):
    """Makes the database and returns its path. The gate evaluates each night, and its verdicts do not matter here."""
    db = os.path.join(folder, "history.db")
    for night in range(NIGHTS):
        run = os.path.join(folder, f"run{night}.json")
        changed = variables(night)
        subprocess.run([fake_bench, f"--benchmark_out={run}", "--tb_processes=5"], env=os.environ | changed, check=False)
        flags = []
        if night == CONFIRMED:
            good = {k: v for k, v in changed.items() if k != "FAKE_SLOW"} | {"FAKE_SLOW": r"2\.7B/.*forward"}
            command = lambda values: " ".join(["env", *(shlex.quote(f"{k}={v}") for k, v in values.items()), shlex.quote(fake_bench)])
            flags = ["--good", command(good), "--new", command(changed), "--confirm-dir", os.path.join(folder, "confirm")]
        subprocess.run([tbench, "gate", run, "--db", db, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    other = os.path.join(folder, "other")
    os.mkdir(other)
    with open(os.path.join(other, "results.json"), "w") as file:
        json.dump(other_machine(golden), file)
    subprocess.run([tbench, "history", "--db", db, "--import", other], stdout=subprocess.DEVNULL, check=True)
    return db
