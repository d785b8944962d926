#!/usr/bin/env bash
# ci/wheel.sh [FOLDER]
# Installs what is missing and makes the wheel of tools/wheel in FOLDER (default: dist), for the torch in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh
. ci/env.sh
# The compiler that CMake chooses by itself, so that ccache can use objects of another build.
export CXX=${CXX:-c++} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export CMAKE_GENERATOR=Ninja CMAKE_ARGS="${tbench_cmake_arguments[*]}"
python3 -m pip wheel --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "${1:-dist}" ./tools/wheel
