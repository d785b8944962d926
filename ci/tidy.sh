#!/usr/bin/env bash
# Runs clang-format and clang-tidy (14) over the project. Prints what is wrong and exits 1, or exits 0. clang-tidy reads
# only the files that need neither CUDA nor LibTorch: with LibTorch's headers it would take 20 s per file and find
# little more.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/env.sh
for tool in clang-format clang-tidy; do
  "$tool" --version 2>/dev/null | grep -q 'version 14\.' || {
    echo "tidy: error: needs $tool 14 (Debian: apt-get install clang-format-14 clang-tidy-14)" >&2
    exit 1
  }
done
git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror
cmake --preset host >/dev/null
python3 - <<'PYTHON' | xargs -P "$(nproc)" -n 4 clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p build/host
import json
files = {e["file"] for e in json.load(open("build/host/compile_commands.json"))}
print("\n".join(sorted(f for f in files if "/build/" not in f)))
PYTHON
