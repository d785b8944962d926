#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks, and says what it does. Idempotent.
#   Debian or Ubuntu packages through apt (as root, or with sudo); Python wheels into .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# package, and the file that shows it is there
packages=(
  "g++:/usr/bin/g++"
  "git:/usr/bin/git"
  "ninja-build:/usr/bin/ninja"
  "ccache:/usr/bin/ccache"
  "python3-venv:/usr/bin/python3"
  "libbenchmark-dev:/usr/include/benchmark/benchmark.h"
  "libbenchmark-tools:/usr/share/benchmark/compare.py"
  "libgtest-dev:/usr/include/gtest/gtest.h"
  "libgmock-dev:/usr/include/gmock/gmock.h"
  "nlohmann-json3-dev:/usr/include/nlohmann/json.hpp"
  "libcli11-dev:/usr/include/CLI/CLI.hpp"
  "libboost-math-dev:/usr/include/boost/math/distributions/students_t.hpp"
  "libfmt-dev:/usr/include/fmt/format.h"
  "libsqlite3-dev:/usr/include/sqlite3.h"
  "libgloo-dev:/usr/include/gloo/context.h"
  "libssl-dev:/usr/include/openssl/evp.h"
  "zlib1g-dev:/usr/include/zlib.h"
)

install_packages() {
  local missing=() entry
  for entry in "${packages[@]}"; do
    [ -e "${entry#*:}" ] || missing+=("${entry%%:*}")
  done
  # Debian keeps ensurepip in python3-venv; a Python from elsewhere has its own.
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  if [ ${#missing[@]} -eq 0 ]; then
    say "system packages: all there"
    return
  fi
  command -v apt-get >/dev/null || die "missing: ${missing[*]}, and there is no apt-get: install them with this system's package manager"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: ${missing[*]}: run 'apt-get install ${missing[*]}' as root (there is no sudo)"
    as_root=(sudo)
  fi
  say "system packages: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq || die "apt-get update failed: is a package mirror reachable? Needed: ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get install ${missing[*]} failed: see above"
}

# Wheels that .venv, or else the system's python3, does not have in the version that requirements.txt pins.
missing_wheels() {
  local python=python3
  [ -x .venv/bin/python3 ] && python=.venv/bin/python3
  "$python" - "$1" <<'PYTHON'
import re, sys
from importlib.metadata import PackageNotFoundError, version
for line in open(sys.argv[1]):
    match = re.match(r"([\w-]+)(\[[\w,]*\])?==([\w.]+)", line)
    if not match:
        continue
    try:
        found = version(match[1]).split("+")[0]
    except PackageNotFoundError:
        found = None
    # Only what results depend on must be exact: LibTorch. Of the rest any version will do.
    if found is None or (match[1] == "torch" and found != match[3]):
        print(line.strip())
PYTHON
}

install_wheels() {
  local wanted
  wanted=$(missing_wheels "$1")
  if [ -z "$wanted" ]; then
    say "wheels of $1: all there"
    return
  fi
  if [ ! -x .venv/bin/python3 ]; then
    say "making .venv"
    python3 -m venv --system-site-packages .venv || die "python3 -m venv .venv failed: install python3-venv"
  fi
  wanted=$(missing_wheels "$1")
  say "wheels: installing $(echo "$wanted" | tr '\n' ' ')(torch takes about 5 GB)"
  echo "$wanted" | .venv/bin/python3 -m pip install --quiet --disable-pip-version-check -r /dev/stdin ||
    die "pip could not install: $(echo "$wanted" | tr '\n' ' '): is a package index reachable, is the disk full?"
}

# The toolkit of the wheels lacks the names that CMake's FindCUDA looks for.
link_cuda_wheels() {
  local root library
  for root in .venv/lib/python3*/site-packages/nvidia/cu13; do
    [ -x "$root/bin/nvcc" ] || continue
    [ -e "$root/lib64" ] || ln -s lib "$root/lib64"
    for library in "$root"/lib/lib*.so.[0-9]*; do
      local plain=${library%%.so.*}.so
      [ -e "$plain" ] || ln -s "$(basename "$library")" "$plain"
    done
  done
}

install_packages
install_wheels ci/requirements.txt
. ci/env.sh
if [ -z "$tbench_cuda" ]; then
  say "no CUDA 13 toolkit on this system"
  install_wheels ci/requirements-cuda.txt
  link_cuda_wheels
  . ci/env.sh
fi
[ -n "$tbench_cuda" ] || die "no nvcc of CUDA 13 found, neither on PATH, in CUDA_HOME, in /usr/local/cuda, nor from the wheels in .venv"
say "CUDA toolkit: $tbench_cuda"
say "done"
