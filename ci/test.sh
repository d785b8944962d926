#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that this machine can run, in two halves: `sanitizers`, under
# AddressSanitizer and UBSan, has the unit programs of what needs neither CUDA nor LibTorch; `release` has all else. A half
# that does not build fails as a test, and keeps nothing of the other from running. One run of ctest has both: its summary,
# the last lines, has each half's number of tests under its label, names what failed, and lists what was skipped.
# Tests that need a GPU are skipped without one; in CI (CI is set) no other may be but what ci/README.md lists.
#   TBENCH_LONG_TESTS=1   every test in both halves that can run it, the long ones at full length
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A preset_of=([sanitizers]=asan [release]=release)
both=build/tests # a folder with nothing but the list of the halves' folders
tests=half
[ "${TBENCH_LONG_TESTS:-0}" != 1 ] || tests=all

# build HALF: its build's output stays in $both/HALF.log.
build() {
  local began=$SECONDS status=0
  ci/build.sh "${preset_of[$1]}" "-DTBENCH_TESTS=$tests" 2>&1 | tee "$both/$1.log" || status=$?
  echo "test: built the half '$1' in $((SECONDS - began)) s, status $status"
  return "$status"
}

ci/setup.sh tests
rm -rf "$both"
mkdir -p "$both"
# Scripts have one name in both halves, and what ctest reads of a name holds for all tests before it that have the name: the
# half that labels them comes first.
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
