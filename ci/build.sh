#!/usr/bin/env bash
# ci/build.sh [PRESET [FLAG...] [-- TARGET...]]
# Builds one preset (default: release), or only the targets, with the tools that ci/setup.sh installed. Flags go to the
# configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/env.sh
preset=${1:-release}
# Lets ccache use objects that another clone has compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
shift || true
flags=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  flags+=("$1")
  shift
done
shift || true
configured=$(cmake --preset "$preset" "${tbench_cmake_arguments[@]}" "${flags[@]}" 2>&1) || {
  printf '%s\n' "$configured" >&2
  exit 1
}
cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
