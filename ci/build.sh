#!/usr/bin/env bash
# ci/build.sh [PRESET [FLAG...] [-- TARGET...]]
# Builds one preset (default: release), or the targets of it, with what ci/setup.sh installed. Flags go to the
# configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/env.sh
preset=${1:-release}
# ccache finds what another clone has compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
shift || true
flags=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  flags+=("$1")
  shift
done
shift || true
cmake --preset "$preset" "${tbench_cmake_arguments[@]}" "${flags[@]}" >"/tmp/tbench-configure-$$.log" 2>&1 || {
  cat "/tmp/tbench-configure-$$.log" >&2
  exit 1
}
rm -f "/tmp/tbench-configure-$$.log"
cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
