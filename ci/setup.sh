#!/usr/bin/env bash
# ci/setup.sh [tests | clang]
# Installs what this machine lacks for building and running, and prints what it does. It may be run again at any time.
#   Debian or Ubuntu packages come through apt (as root, or with sudo), and Python wheels go into .venv.
# With `tests` it also installs what only the tests need: a browser, unless there is a Chromium or Chrome, and, in CI
# (CI is set) as root, Slurm. With `clang` it installs what tidy.sh and fuzz.sh need, and no wheels: neither CUDA nor
# LibTorch.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

. ci/setup_python.sh

# Each entry has a package, and a file that exists if the package is installed.
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
  # Debian has ensurepip in python3-venv. A Python from elsewhere has its own.
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

# Finds the browser that the tests run. tests/html/browser.py looks for it under the same names.
find_browser() {
  local name path
  for name in chromium chromium-browser google-chrome; do
    # Ubuntu's chromium-browser is a script that asks for a snap, so the program must run.
    path=$(command -v "$name") && "$path" --version >/dev/null 2>&1 && echo "$path" && return
  done
  return 1
}

# Without these, tests are skipped, or fail in CI. The script then prints a message, but does not stop.
install_for_tests() {
  local wanted=() browser
  if browser=$(find_browser); then
    say "browser: $browser"
  elif ! grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null; then
    wanted+=("chromium:/usr/bin/chromium" "fonts-liberation:/usr/share/fonts/truetype/liberation")
  fi
  # The test of Slurm starts its daemons as root. The packages leave services running, so they are not installed on a
  # machine where people work.
  if [ -n "${CI:-}" ] && [ "$(id -u)" -eq 0 ]; then
    wanted+=("slurm-wlm:/usr/sbin/slurmctld" "munge:/usr/sbin/munged")
  fi
  (packages=("${wanted[@]}") && install_packages) || say "warning: tests that need these packages cannot run"
  find_browser >/dev/null || say "warning: no browser for the tests of pages. Install Debian's package chromium; on Ubuntu, where" \
    "that is a snap, Google's google-chrome-stable, or 'snap install chromium'."
}

# Installs what tidy.sh and fuzz.sh run, and the CMake that the wheels would bring. Debian 12 has Clang 14, which
# tidy.sh needs.
install_for_clang() {
  packages+=(
    "cmake:/usr/bin/cmake"
    "clang:/usr/bin/clang++"
    "clang-format:/usr/bin/clang-format"
    "clang-tidy:/usr/bin/clang-tidy"
    "libclang-rt-dev:/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux"
  )
  install_packages
}

# Makes links with the names that CMake's FindCUDA looks for, which the toolkit of the wheels lacks.
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

# Runs once every tool that the build runs.
check_tools() {
  local version
  version=$(cmake --version 2>&1 | head -1) || die "cmake does not run: $version"
  version=${version##* }
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -1)" = 3.25 ] ||
    die "cmake is $version ($(command -v cmake)): 3.25 or later is needed. Delete .venv, and run ci/setup.sh again."
  ninja --version >/dev/null || die "ninja does not run: $(command -v ninja)"
}

check_writable
[ "${1:-}" != clang ] || {
  install_for_clang
  check_tools
  say "done"
  exit
}
install_packages
check_python
[ ! -e .venv ] || make_venv
case "${1:-}" in
  "") ;;
  tests) install_for_tests ;;
  *) die "'$1': not a set of packages. Say 'ci/setup.sh tests', 'ci/setup.sh clang', or nothing behind ci/setup.sh." ;;
esac
install_wheels ci/requirements.txt
. ci/env.sh
if [ -z "$tbench_cuda" ]; then
  say "no CUDA 13 toolkit on this system"
  install_wheels ci/requirements-cuda.txt
  link_cuda_wheels
  . ci/env.sh
fi
[ -n "$tbench_cuda" ] || die "no nvcc of CUDA 13 found, neither on PATH, in CUDA_HOME, in /usr/local/cuda, nor from the wheels in .venv"
check_tools
say "CUDA toolkit: $tbench_cuda"
say "done"
