#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that this machine can run: first those that need neither CUDA
# nor LibTorch under AddressSanitizer and UBSan, but for long simulations and what measures speed, then all of them. Tests
# that need a GPU are skipped without one.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh asan
ci/build.sh release
. ci/env.sh
ctest --preset asan --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)"
