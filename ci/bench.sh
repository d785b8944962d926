#!/usr/bin/env bash
# Installs what is missing, builds what runs (half of all objects are tests), and runs transformer_bench with the arguments given: by default the standard suite
# on a GPU, the smoke suite without one.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh release -- transformer_bench tbench
exec ./transformer_bench "$@"
