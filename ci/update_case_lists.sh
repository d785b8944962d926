#!/usr/bin/env bash
# ci/update_case_lists.sh
# Writes tests/data/cases_SUITE.txt, the pinned names of all cases, after a change that intentionally adds or renames
# cases. Builds the necessary parts of the release preset, and prints how many names each list has gained and lost.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/build.sh release -- bench_test
TBENCH_UPDATE_GOLDEN=1 build/release/tests/bench/bench_test --gtest_filter=CaseList.IsTheOnePinned --gtest_brief=1
git --no-pager diff --stat -- tests/data/cases_smoke.txt tests/data/cases_standard.txt tests/data/cases_full.txt
