#!/usr/bin/env bash
# Builds one preset (default: release) with what ci/setup.sh installed. Further arguments go to the configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/env.sh
preset=${1:-release}
# ccache finds what another clone has compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
shift || true
cmake --preset "$preset" "${tbench_cmake_arguments[@]}" "$@" >"/tmp/tbench-configure-$$.log" 2>&1 || {
  cat "/tmp/tbench-configure-$$.log" >&2
  exit 1
}
rm -f "/tmp/tbench-configure-$$.log"
cmake --build --preset "$preset" --parallel "$(nproc)"
