#!/usr/bin/env python3
"""Every command of tbench that reads files, on files that were changed at random.

    mutated_files_test.py SOURCE_DIR TBENCH [--runs=N] [--seed=S] [--jobs=J] [--only=RUN] [--keep=FOLDER]

A run draws a command and changes one of its files: bytes, slices and numbers of the text, values of the JSON, cells of the
database, or the packed bytes. The command then has to end by itself within 5 s and in 1 GiB, with a documented exit status,
and write valid UTF-8 without control characters. A refusal, status 2, has to be one line on standard error that names the
program, after warnings about files that were skipped. No temporary file may be left. A run depends on the seed and its
number alone: --only repeats one, and --keep gets its files. Exits 1 if a run broke a rule.
"""
import argparse
import collections
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import re
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

MAX_SECONDS = 5
MAX_BYTES = 1 << 30
LAST_STATUS = 7  # of the gate's; of the other commands' at most 4
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
CONTROL_IN_JSON = re.compile("[\x00-\x08\x0b-\x1f]")  # a document for programs keeps all other characters
NUMBERS = ("0", "-1", "1e308", "-1e308", "1e999", "5e-324", "18446744073709551616", "-9223372036854775809", "0.1", "NaN", "null")
VALUES = (None, True, "", "\u001b[31m", "\u202e", "x" * 70000, "../../x", [], {}, [[]], -1, 0, 1e308, 2**63, "NaN", "<img>", "a\nb")
TOKENS = (b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 200, b'{"a":' * 70, b'"', b"\\", b"\n", b",", b"}", b"\\ud800", b"\x1b[2J")


def changed_bytes(draw, data):
    """Returns the bytes with one to four changes."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.randrange(len(data) + 1)
        end = min(len(data), at + draw.choice((1, 4, 40, 400, 4000)))
        kind = draw.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = data[at:end]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at] = draw.choice(TOKENS)
        else:
            numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e[-+]?\d+)?", data[at:at + 4000]))
            if numbers:
                number = draw.choice(numbers)
                data[at + number.start():at + number.end()] = draw.choice(NUMBERS).encode()
    return bytes(data)


def nodes(value):
    """Yields every container below a value of JSON with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from nodes(value[key])


def changed_json(draw, value):
    """Returns the text of the value with one to three of its values replaced, moved, repeated or left out."""
    value = json.loads(json.dumps(value))
    for _ in range(draw.choice((1, 1, 2, 3))):
        places = list(nodes(value))
        if not places:
            break
        holder, key = draw.choice(places)
        other_holder, other_key = draw.choice(places)
        kind = draw.randrange(5)
        if kind == 0:
            holder[key] = draw.choice(VALUES)
        elif kind == 1:
            del holder[key]
        elif kind == 2:
            holder[key] = json.loads(json.dumps(other_holder[other_key]))
        elif kind == 3 and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
        elif isinstance(holder[key], (int, float)):
            holder[key] = holder[key] * draw.choice((-1, 0, 1e-9, 1e9, 1e30))
    return json.dumps(value).encode()


def changed_database(draw, script):
    """Returns a database of the script's with one to three cells changed, a row or a table gone, or a view in its place."""
    database = sqlite3.connect(":memory:")
    database.executescript(script)
    names = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    for _ in range(draw.choice((0, 1, 1, 2, 3))):
        table = draw.choice(names)
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        kind = draw.randrange(8)
        try:
            if kind == 0:
                database.execute(f'DROP TABLE "{table}"')
                names.remove(table)
                if draw.randrange(2):
                    database.execute(f'CREATE VIEW "{table}" AS SELECT 1')
            elif kind == 1:
                database.execute(f'DELETE FROM "{table}" WHERE rowid % 2')
            elif kind == 2:
                database.execute(f'ALTER TABLE "{table}" DROP COLUMN "{draw.choice(columns)}"')
            else:
                new = draw.choice((*VALUES[:7], -1, 0, 1e308, 2**62, b"\xff\x00"))
                database.execute(f'UPDATE "{table}" SET "{draw.choice(columns)}" = ? WHERE rowid % ? = 0', (new, draw.choice((1, 2, 3))))
        except sqlite3.Error:
            pass  # a constraint or a primary key: the database stays as it was
        if not names:
            break
    data = database.serialize()
    return changed_bytes(draw, data) if draw.randrange(4) == 0 else data


class Seeds:
    """The files that runs change, by kind: JSON values, texts or SQL scripts."""

    def __init__(self, source):
        data = source / "tests/data"
        golden = json.loads((data / "results_golden.json").read_text())
        context = golden["context"]
        host = {key: context[key] for key in ("executable", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg") if key in context}
        journal = [{**context["tbench"], "host": host}, *(entry["tbench"] for entry in golden["benchmarks"] if "tbench" in entry)]
        versions = [json.loads(gzip.decompress(path.read_bytes())) for path in sorted((data / "versions").glob("*.json.gz"))]
        spreads = json.loads((source / "src/compare/known_spreads.json").read_text())
        manifest = json.loads((source / "bench/results/nvidia_h100/manifest.json").read_text())
        ncu = json.loads(gzip.decompress((source / "bench/results/nvidia_h100/model/ncu.json.gz").read_bytes()))
        lines = (source / "bench/durations/nvidia_h100.csv").read_text().splitlines(keepends=True)
        experiments = (source / "src/kernels/experiments.csv").read_text().splitlines(keepends=True)
        fuzz = source / "tests/fuzz"
        self.golden = json.dumps(golden).encode()
        self.plain = (data / "plain/base.json").read_bytes()
        self.values = {"results": [golden, *versions], "plain": [json.loads(self.plain)], "spreads": [spreads],
                       "manifest": [manifest], "ncu": [ncu], "trace": [json.loads((fuzz / "trace.json").read_text())]}
        self.texts = {"journal": "\n".join(map(json.dumps, journal)), "durations": "".join(lines[:60]),
                      "experiments": "".join(experiments[:40]), "memory": (fuzz / "memory.csv").read_text(),
                      "rules": (source / "src/profile/kernel_rules.txt").read_text(),
                      "page": "# A page\n<!-- tbench:a report good.json --markdown -->\n<!-- /tbench:a -->\n<!-- tbench:b diff "
                              "good.json good.json -->\n| a |\n<!-- /tbench:b -->\n"}
        self.scripts = {"nsys": [(fuzz / "nsys_export.sql").read_text()],
                        "history": [(data / f"history/version{number}.sql").read_text() for number in range(1, 7)]}

    def changed(self, draw, kind):
        if kind in self.scripts:
            return changed_database(draw, draw.choice(self.scripts[kind]))
        if kind in self.texts:
            return changed_bytes(draw, self.texts[kind].encode())
        value = draw.choice(self.values[kind])
        data = changed_json(draw, value) if draw.randrange(3) else changed_bytes(draw, json.dumps(value).encode())
        if draw.randrange(6) == 0:
            data = gzip.compress(data, 1)
            return changed_bytes(draw, data) if draw.randrange(2) else data
        return data


# Each entry has the kind of the changed file, its name, and the words after `tbench`. good.json is as it was.
COMMANDS = [(kind, name, words.split()) for kind, name, words in (
    ("results", "x.json", "report x.json"),
    ("results", "x.json", "report x.json --json"),
    ("results", "x.json", "report x.json --markdown --pivot=precision"),
    ("results", "x.json", "report x.json -o page.html"),
    ("results", "x.json", "report --study end_to_end x.json"),
    ("results", "x.json", "report --study answers x.json --json"),
    ("results", "x.json", "report --headline x.json good.json --price H100=2"),
    ("results", "x.json", "report --over=impl:fused x.json"),
    ("results", "x.json", "report --repeat x.json good.json"),
    ("results", "x.json", "report --limits x.json"),
    ("results", "x.json", "report --host-times x.json"),
    ("results", "x.json", "diff x.json good.json"),
    ("results", "x.json", "diff good.json x.json --all"),
    ("results", "x.json", "diff good.json x.json --json"),
    ("results", "x.json", "diff good.json x.json --junit=out.xml --csv"),
    ("results", "x.json", "merge x.json good.json -o out.json"),
    ("results", "x.json", "merge x.json -o out.json.gz"),
    ("results", "x.json", "gate x.json --db=new.db"),
    ("results", "x.json", "history --import x.json --db=new.db"),
    ("results", "x.json", "fleet x.json good.json"),
    ("results", "x.json", "fleet good.json x.json --json"),
    ("results", "x.json", "durations x.json"),
    ("results", "x.json", "spreads x.json good.json"),
    ("results", "x.json", "profile x.json"),
    ("results", "x.json", "nsys x.json"),
    ("plain", "x.json", "diff x.json plain.json"),
    ("plain", "x.json", "diff plain.json x.json --csv"),
    ("plain", "x.json", "report x.json"),
    ("journal", "good.json.journal", "report good.json"),
    ("journal", "x.json.journal", "report x.json"),
    ("journal", "x.json.journal", "merge x.json -o out.json"),
    ("spreads", "x.json", "diff good.json good2.json --spreads=x.json"),
    ("durations", "x.csv", "durations good.json --cases=x.csv"),
    ("experiments", "x.csv", "report --experiments x.csv"),
    ("manifest", "x.json", "report --manifest x.json"),
    ("manifest", "x.json", "report --self-comparison x.json"),
    ("ncu", "x.json", "report good.json --ncu=x.json"),
    ("ncu", "x.json", "report good.json --pytorch=x.json"),
    ("page", "x.md", "report --check=x.md"),
    ("page", "x.md", "report --update=x.md"),
    ("trace", "x.json", "profile x.json"),
    ("trace", "x.json", "profile x.json --json"),
    ("trace", "x.json", "profile x.json -o page.html"),
    ("memory", "x.csv", "profile x.csv"),
    ("rules", "x.txt", "profile trace.json --rules=x.txt"),
    ("rules", "x.txt", "classify --rules=x.txt"),
    ("nsys", "x.sqlite", "nsys x.sqlite"),
    ("nsys", "x.sqlite", "nsys x.sqlite --json"),
    ("history", "x.db", "history --db=x.db"),
    ("history", "x.db", "history --db=x.db --json"),
    ("history", "x.db", "history --db=x.db -o page.html"),
    ("history", "x.db", "gate good.json --db=x.db"),
    ("history", "x.db", "diff good.json good2.json --db=x.db"),
)]


class Runner:
    """Runs in a folder of its own, one after the other."""

    def __init__(self, source, program, seed):
        self.seeds, self.program, self.seed = Seeds(source), str(program), seed
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mutated_files_"))
        self.temporary = self.folder / "temporary"
        self.work = self.folder / "work"
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def fill(self):
        for folder in (self.temporary, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        (self.work / "good.json").write_bytes(self.seeds.golden)
        other = self.seeds.golden.replace(b'"seed": 1', b'"seed": 2')
        (self.work / "good2.json").write_bytes(other)
        (self.work / "plain.json").write_bytes(self.seeds.plain)
        (self.work / "trace.json").write_text(json.dumps(self.seeds.values["trace"][0]))
        (self.work / "names.txt").write_text("nvjet_hsh_128x64\nelementwise_kernel\n")

    def run(self, number):
        """Returns the command and the rule that it broke, or None."""
        draw = random.Random(f"{self.seed}:{number}")
        kind, name, words = draw.choice(COMMANDS)
        self.fill()
        (self.work / name).write_bytes(self.seeds.changed(draw, kind))
        return " ".join(words), self.broken_rule(words)

    def start(self, words):
        opens = [(os.POSIX_SPAWN_OPEN, descriptor, str(self.folder / name), os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
                 for descriptor, name in ((1, "out"), (2, "err"))]
        opens.append((os.POSIX_SPAWN_OPEN, 0, str(self.work / "names.txt"), os.O_RDONLY, 0))
        return os.posix_spawn(self.program, [self.program, *words], self.environment, file_actions=opens)

    def broken_rule(self, words):
        os.chdir(self.work)
        began = time.monotonic()
        pid = self.start(words)
        descriptor = os.pidfd_open(pid)
        is_over = bool(select.select([descriptor], [], [], MAX_SECONDS)[0])
        os.close(descriptor)
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        if not is_over:
            return f"still ran after {time.monotonic() - began:.1f} s"
        if os.WIFSIGNALED(status):
            return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
        return self.broken_promise(os.WEXITSTATUS(status), usage.ru_maxrss * 1024, "--json" in words)

    def broken_promise(self, status, memory, is_json):
        if status > LAST_STATUS:
            return f"exit status {status}"
        if memory > MAX_BYTES:
            return f"took {memory / 2**20:.0f} MiB"
        try:
            out, err = ((self.folder / name).read_bytes().decode() for name in ("out", "err"))
        except UnicodeDecodeError as error:
            return f"wrote invalid UTF-8: {error}"
        control = (CONTROL_IN_JSON if is_json else CONTROL).search(out) or CONTROL.search(err)
        if control:
            return f"wrote a control character: {control[0]!r}"
        err = err.replace("\n  ", " ")  # a message is wrapped
        refusal = [line for line in err.splitlines() if not line.startswith("warning: skipped: ")]
        if status == 2 and (len(refusal) != 1 or not refusal[0].startswith("tbench: ")):
            return f"refused in {len(refusal)} lines: {err[:300]!r}"
        left = sorted(path.name for path in self.temporary.iterdir())
        left += sorted(path.name for path in self.work.iterdir() if ".tmp" in path.name)
        return f"left {left}" if left else None


def work_off(arguments, first, found):
    """Makes every `jobs`-th run from the first one on, and sends what broke a rule, and at the end the counts."""
    runner = Runner(arguments.source, arguments.program, arguments.seed)
    made = collections.Counter()
    for number in range(first, arguments.runs, arguments.jobs):
        command, why = runner.run(number)
        made[command] += 1
        if why:
            found.put((number, command, why))
    shutil.rmtree(runner.folder)
    found.put(made)


def run_all(arguments):
    found = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work_off, args=(arguments, first, found)) for first in range(arguments.jobs)]
    for worker in workers:
        worker.start()
    made, broken = collections.Counter(), 0
    for _ in workers:
        while not isinstance(message := found.get(), collections.Counter):
            broken += 1
            number, command, why = message
            print(f"run {number}: tbench {command}: {why}", flush=True)
        made += message
    for worker in workers:
        worker.join()
    return made, broken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.only is not None:
        runner = Runner(arguments.source, arguments.program, arguments.seed)
        print(*runner.run(arguments.only), sep=": ")
        shutil.move(runner.folder, arguments.keep or runner.folder)
        return
    began = time.monotonic()
    made, broken = run_all(arguments)
    runs = sum(made.values())
    print(f"{runs:,} runs of {len(made)} commands in {time.monotonic() - began:.0f} s, seed {arguments.seed}: {broken} broke a rule")
    if broken or runs != arguments.runs:
        sys.exit(1)


if __name__ == "__main__":
    main()
