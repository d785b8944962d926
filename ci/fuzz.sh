#!/usr/bin/env bash
# Fuzzes the readers of files under AddressSanitizer and UBSan, each for a number of seconds (default: 600), starting
# from a corpus of real files. Needs Clang (ci/setup.sh clang). Exits 1 at the first finding and names its input.
#   fuzz.sh [SECONDS ["TARGET ..."]]     new inputs go to build/fuzz/corpus/TARGET, findings to build/fuzz/findings
#   fuzz.sh --replay ["TARGET ..."]      reads every input of the corpus once, and makes no new ones
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/env.sh
case ${1:-600} in
  --replay) limits=(-runs=0) ;;
  *[!0-9]*)
    echo "fuzz: error: '$1': neither a number of seconds nor --replay" >&2
    exit 2
    ;;
  *) limits=(-max_total_time="${1:-600}" -max_len=65536) ;;
esac
command -v clang++ >/dev/null || {
  echo "fuzz: error: needs clang++ (Debian: apt-get install clang libclang-rt-dev)" >&2
  exit 2
}
build=build/fuzz
cmake -G Ninja -S . -B $build -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTBENCH_HOST_ONLY=ON \
  -DTBENCH_FUZZ=ON -DTBENCH_WARNINGS_AS_ERRORS=OFF >/dev/null
cmake --build $build --target fuzz_results fuzz_journal fuzz_night fuzz_rules fuzz_nsys fuzz_trace fuzz_memory

# Seeds are files that the program wrote, small enough to be changed often.
seeds=$build/seeds
rm -rf $seeds
mkdir -p $seeds/{results,journal,night,rules,nsys,trace,memory}
find tests/data bench/results -name '*.json' -size -200k -exec cp --backup=numbered -t $seeds/results {} +
python3 - $seeds <<'PYTHON'
import json, pathlib, sqlite3, sys
seeds = pathlib.Path(sys.argv[1])
golden = json.load(open("tests/data/results_golden.json"))
host = {key: value for key, value in golden["context"].items() if key in ("executable", "mhz_per_cpu", "cpu_scaling_enabled", "load_avg")}
header = {**golden["context"]["tbench"], "host": host}
lines = [json.dumps(header)] + [json.dumps(e["tbench"]) for e in golden["benchmarks"] if "tbench" in e]
(seeds / "journal/golden").write_text("\n".join(lines) + "\n")
history = sqlite3.connect(":memory:")
history.executescript(open("tests/data/history/version2.sql").read())
(seeds / "memory/small").write_text(open("tests/fuzz/memory.csv").read())
(seeds / "trace/small").write_text(open("tests/fuzz/trace.json").read())
(seeds / "rules/built_in").write_text(open("src/profile/kernel_rules.txt").read())
(seeds / "rules/short").write_text("# own\ngemm ^my_(mm|bmm)+[0-9]*$\nnorm [[:alpha:]_]+\\(\n")
nsys = sqlite3.connect(seeds / "nsys/export")
nsys.executescript(open("tests/fuzz/nsys_export.sql").read())
nsys.close()
for run, report in history.execute("SELECT run, report FROM judgement"):
    (seeds / f"night/{run}").write_text(report)
PYTHON

for target in ${2:-results journal night rules nsys trace memory}; do
  mkdir -p $build/corpus/$target $build/findings
  dictionary=tests/fuzz/json.dict
  case $target in nsys | trace) dictionary=tests/fuzz/$target.dict ;; esac
  echo "fuzz: $target, ${limits[0]#-}"
  $build/tests/fuzz/fuzz_$target "${limits[@]}" -rss_limit_mb=4096 -timeout=30 -print_final_stats=1 \
    -artifact_prefix=$build/findings/$target- -dict=$dictionary $build/corpus/$target $seeds/$target 2>&1 | tail -25
done
