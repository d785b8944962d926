#!/usr/bin/env bash
# Installs what is missing, builds, and runs transformer_bench with the arguments given: by default the standard suite
# on a GPU, the smoke suite without one.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh release
exec ./transformer_bench "$@"
