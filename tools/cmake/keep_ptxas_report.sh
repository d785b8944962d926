#!/bin/sh
# keep_ptxas_report.sh COMPILER ARGUMENT... -o OBJECT ...
# Launches a compiler, and keeps what ptxas says of registers and spills (nvcc -Xptxas=-v) in OBJECT.ptxas instead of on the
# console. Other messages, and the exit status, are the compiler's.
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
