#!/bin/sh
# keep_ptxas_report.sh COMPILER ARGUMENT... -o OBJECT ...
# Runs a compiler, and writes what ptxas reports on registers and spills (nvcc -Xptxas=-v) to OBJECT.ptxas instead of
# the console. Passes on the compiler's other messages and its exit status.
previous=
for argument; do
  [ "$previous" != -o ] || object=$argument
  previous=$argument
done
[ -n "${object:-}" ] || exec "$@"
report=$object.ptxas
"$@" 2>"$report"
status=$?
grep -v -e '^ptxas info ' -e '^ *[0-9]* bytes stack frame' "$report" >&2
exit $status
