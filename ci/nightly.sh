#!/usr/bin/env bash
# Builds, measures, publishes and gates one night. Needs a machine with a GPU and a folder that is kept:
#   ci/nightly.sh DIR
# DIR/history.db is the history. DIR/backups/ has the history as it was before each of the last seven nights.
# DIR/runs/DATE/ has a night's results and reports. DIR/good and DIR/pinned are the builds with which regression
# candidates are compared. Once a week a slowdown is injected into one case, and the gate must find it.
# ci/README.md has the variables that set it up, and the exit statuses (Settings and exit statuses).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'nightly: %s\n' "$*" >&2; }
die() {
  printf 'nightly: error: %s\n' "$*" >&2
  exit 2
}
set -E
trap 'die "line $LINENO: a command failed"' ERR  # a failure of another kind must not look like a regression

[ $# -eq 1 ] || die "usage: ci/nightly.sh DIR"
mkdir -p "$1/runs" || die "cannot make '$1/runs'"
dir=$(cd "$1" && pwd)
read -ra arguments <<<"${TBENCH_NIGHT_ARGUMENTS:---tb_suite=standard}"
filter=${TBENCH_NIGHT_FILTER:-.}
processes=${TBENCH_NIGHT_PROCESSES:-5}
null_cases=10
case " ${arguments[*]}" in *" --benchmark_filter"* | *" --benchmark_out"* | *" --tb_processes"* | *" --tb_order_seed"* | *" --tb_plant"*)
  die "TBENCH_NIGHT_ARGUMENTS: --benchmark_filter, --benchmark_out, --tb_processes, --tb_order_seed and --tb_plant are set here; use TBENCH_NIGHT_FILTER and TBENCH_NIGHT_PROCESSES" ;;
esac

exec 9>"$dir/lock"
flock -n 9 || die "another night is at work in '$dir'"

# Tonight's build is in its own folder, because it may be kept.
tool=${TBENCH_NIGHT_TOOL:-./tbench}
rm -rf "$dir/tonight"
if [ -n "${TBENCH_NIGHT_BENCH:-}" ]; then
  install -D "$TBENCH_NIGHT_BENCH" "$dir/tonight/bin/transformer_bench" || die "cannot copy '$TBENCH_NIGHT_BENCH'"
else
  ci/setup.sh || die "ci/setup.sh failed"
  ci/build.sh release -- transformer_bench tbench || die "the build failed"
  (. ci/env.sh && cmake --install build/release --prefix "$dir/tonight" >&2) || die "cmake --install failed"
fi
bench=$dir/tonight/bin/transformer_bench

run=$dir/runs/$(date -u +%Y-%m-%dT%H%M%SZ)
while [ -e "$run" ]; do # the night before began in this second
  sleep 1
  run=$dir/runs/$(date -u +%Y-%m-%dT%H%M%SZ)
done
mkdir "$run" "$run/null" || die "cannot make '$run'"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "run=$run" >>"$GITHUB_OUTPUT"

# measure FILE FLAGS...: measures into FILE. Status 1 means that a case failed, which is a result.
measure() {
  local out=$1 status=0
  shift
  "$bench" "${arguments[@]}" "$@" --benchmark_out="$out" >&2 9>&- || status=$?
  [ "$status" -le 1 ] || die "transformer_bench ended with status $status"
  [ -s "$out" ] || die "transformer_bench wrote no '$out'"
}

say "measuring in $processes processes: ${arguments[*]}"
measure "$run/run.json" --benchmark_filter="$filter" --tb_processes="$processes" --tb_order_seed="$(date -u +%Y%m%d)"

# Measures the same build alternately under two labels, with cases from the whole list.
names=$("$bench" "${arguments[@]}" --benchmark_filter="$filter" --benchmark_list_tests | grep -v '^Ceiling/' || true)
[ -n "$names" ] || die "no case is selected by: ${arguments[*]}"
null_filter=$(awk -v most=$null_cases '{ name[NR] = $0 }
  END { step = NR > most ? NR / most : 1; for (i = 0; i * step < NR; i++) print name[int(i * step) + 1] }' <<<"$names" |
  sed 's/[][\.*^$+?(){}|]/\\&/g' | paste -sd '|')
say "null control"
for label in a1 b1 b2 a2; do
  measure "$run/null/$label.json" --benchmark_filter="^($null_filter)$"
done

if [ -n "${TBENCH_NIGHT_PUBLISH:-}" ]; then
  sh -c "$TBENCH_NIGHT_PUBLISH \"\$1\"" sh "$run" >&2 || say "warning: publishing failed"
fi

if [ -f "$dir/history.db" ]; then
  mkdir -p "$dir/backups"
  "$tool" history --db "$dir/history.db" --backup "$dir/backups/$(basename "$run").db" >&2 || die "cannot back the history up in '$dir/backups'"
  find "$dir/backups" -name '*.db' | sort | head -n -7 | while IFS= read -r old; do rm -- "$old"; done
fi

# command_of FOLDER: prints the command that runs the build in FOLDER, as the shell reads it.
command_of() { printf '%q ' "$1/bin/transformer_bench" "${arguments[@]}"; }
flags=(--db "$dir/history.db" --null-a "$run/null/a1.json" "$run/null/a2.json" --null-b "$run/null/b1.json"
  "$run/null/b2.json" --confirm-dir "$run/confirm")
[ -d "$dir/good" ] && flags+=(--good "$(command_of "$dir/good")")
[ -d "$dir/pinned" ] && flags+=(--pinned "$(command_of "$dir/pinned")")
[ -d "$dir/good" ] || [ -d "$dir/pinned" ] && flags+=(--new "$(command_of "$dir/tonight")")
pool=()
[ -z "${TBENCH_NIGHT_POOL:-}" ] || pool=(--pool)
flags+=("${pool[@]}")
[ -z "${TBENCH_NIGHT_ACCEPT:-}" ] || flags+=(--accept "$TBENCH_NIGHT_ACCEPT")
status=0
"$tool" gate "$run/run.json" "${flags[@]}" --junit "$run/report.xml" >"$run/report.txt" 9>&- || status=$?
cat "$run/report.txt"
case $status in 0 | 1 | 5 | 6 | 7) ;; *) die "tbench gate ended with status $status" ;; esac

# The run has been judged by now. These calls record and run nothing: they print the recorded report.
"$tool" gate "$run/run.json" --db "$dir/history.db" --markdown >"$run/report.md" || true
"$tool" gate "$run/run.json" --db "$dir/history.db" --json >"$run/report.json" || true
"$tool" history --db "$dir/history.db" -o "$run/history.html" >&2 || say "warning: no page of the history"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$run/report.md" >>"$GITHUB_STEP_SUMMARY"
if [ -n "${TBENCH_NIGHT_HOOK:-}" ]; then
  sh -c "$TBENCH_NIGHT_HOOK" <"$run/report.json" >&2 || say "warning: the hook failed"
fi

# keep NAME: keeps tonight's build under this name, and removes the previous one.
keep() {
  rm -rf "$dir/$1.new"
  cp -a "$dir/tonight" "$dir/$1.new"
  rm -rf "${dir:?}/$1"
  mv "$dir/$1.new" "$dir/$1"
  say "kept tonight's build as '$1'"
}
is_good=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["is_good"])' "$run/report.json")
if [ "$is_good" = True ]; then
  keep good
  if [ ! -d "$dir/pinned" ] || [ -n "${TBENCH_NIGHT_ACCEPT:-}" ]; then keep pinned; fi
fi

# Checks once a week that the gate finds an injected slowdown. Each week takes the next Model case of the list, or the
# next of all cases if no Model case was selected.
heart=$dir/heartbeat
if [ -f "$dir/history.db" ] && { [ ! -e "$heart" ] || [ -n "$(find "$heart" -mtime +6)" ]; }; then
  models=$(grep '^Model/' <<<"$names" || echo "$names")
  share=$(grep -q '^Model/' <<<"$names" && echo 0.05 || echo 0.1)
  case_name=$(sed -n "$(($(date -u +%s) / 604800 % $(wc -l <<<"$models") + 1))p" <<<"$models")
  say "heartbeat: $case_name, slowed down by $share"
  mkdir -p "$run/heartbeat"
  measure "$run/heartbeat/run.json" --benchmark_filter="^($(sed 's/[][\.*^$+?(){}|]/\\&/g' <<<"$case_name"))\$" \
    --tb_processes="$processes" --tb_plant="$case_name:$share"
  beat=0
  "$tool" gate "$run/heartbeat/run.json" --db "$dir/history.db" --heartbeat "${pool[@]}" >"$run/heartbeat/report.txt" 9>&- || beat=$?
  cat "$run/heartbeat/report.txt"
  if grep -q '^heartbeat: found' "$run/heartbeat/report.txt"; then
    touch "$heart"
  elif [ "$beat" -eq 0 ]; then
    say "heartbeat: again tomorrow"
  elif [ "$status" -ne 1 ] && [ "$status" -ne 7 ]; then
    die "$(cat "$run/heartbeat/report.txt")"
  fi
fi

if [ "$status" -eq 6 ]; then
  blind=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["night"]["blind_nights"])' "$run/report.json")
  [ "$blind" -lt 7 ] || die "the gate is blind: nothing could be gated in $blind nights in a row"
  [ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning::Nothing could be gated in $blind nights in a row."
  say "warning: nothing could be gated in $blind nights in a row"
  status=0
fi
if [ "$status" -eq 5 ]; then
  [ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning::The null control failed: tonight's numbers cannot be trusted, nothing was gated."
  say "warning: the null control failed; nothing was gated"
  status=0
fi
exit "$status"
