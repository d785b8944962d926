#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that this machine can run, in two halves. `sanitizers` runs,
# under AddressSanitizer and UBSan, the unit programs of the layers that need neither CUDA nor LibTorch. `release` runs
# all other tests. A half that does not build counts as a failed test, and the other half still runs. One run of ctest
# has both halves. Its summary, the last lines, has each half's number of tests under its label, names what failed, and
# lists what was skipped.
# Tests that need a GPU are skipped without one. In CI (CI is set), only the tests that ci/README.md lists may be
# skipped.
#   TBENCH_LONG_TESTS=1   runs every test in both halves that can run it, and the long ones at full length
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A preset_of=([sanitizers]=asan [release]=release)
both=build/tests # a folder with nothing but the list of the halves' folders
tests=half
[ "${TBENCH_LONG_TESTS:-0}" != 1 ] || tests=all

# build HALF: builds a half. The output is in $both/HALF.log.
build() {
  local began=$SECONDS status=0
  ci/build.sh "${preset_of[$1]}" "-DTBENCH_TESTS=$tests" 2>&1 | tee "$both/$1.log" || status=$?
  echo "test: built the half '$1' in $((SECONDS - began)) s, status $status"
  return "$status"
}

ci/setup.sh tests
rm -rf "$both"
mkdir -p "$both"
# Scripts have the same name in both halves. ctest applies the properties of a name to all earlier tests with that name,
# so the half that labels the scripts comes first.
for half in release sanitizers; do
  if build "$half"; then
    list="subdirs(\"$PWD/build/${preset_of[$half]}\")"
  else
    list="add_test($half/BUILD sh -c \"tail -n 60 '$PWD/$both/$half.log'; exit 1\")
set_tests_properties($half/BUILD PROPERTIES LABELS $half)"
  fi
  echo "$list" >>"$both/CTestTestfile.cmake"
done
echo "add_test(halves python3 \"$PWD/tests/halves_test.py\" \"$PWD/$both\")
set_tests_properties(halves PROPERTIES LABELS release)" >>"$both/CTestTestfile.cmake"
. ci/env.sh
exec ctest --test-dir "$both" --label-regex '^(sanitizers|release)$' --parallel "$(nproc)" --output-on-failure --no-tests=error
