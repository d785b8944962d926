#!/usr/bin/env bash
# Installs what is missing, builds what it runs (half of all objects are tests), and runs transformer_bench with the
# given arguments. The default is the standard suite on a GPU, and the smoke suite without one.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh release -- transformer_bench tbench
exec ./transformer_bench "$@"
