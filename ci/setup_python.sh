# Sourced by ci/setup.sh, which defines say and die. Makes the Python of .venv and its wheels. The wheels go to .venv
# whatever the user has set for pip (PIP_USER, PIP_TARGET, PIP_CONSTRAINT, also in pip.conf). The user's settings still
# determine where the wheels come from.

# Checks that there is a usable Python, before anything is made.
check_python() {
  command -v python3 >/dev/null || die "there is no python3 on PATH. Install Python 3.10 or later."
  local version
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
    die "$(command -v python3) does not run. Put another python3 first on PATH."
  case $version in
    3.[0-9] | 2.*) die "python3 is $version ($(command -v python3)): 3.10 or later is needed. Put one first on PATH." ;;
  esac
}

check_writable() {
  local probe
  probe=$(mktemp "$PWD/.setup.XXXXXX" 2>/dev/null) ||
    die "the folder '$PWD' cannot be written to (read-only, or its permissions). Check the project out somewhere else."
  rm -f "$probe"
}

# Repairs the scripts of a .venv that was moved: their first line names a Python that no longer exists.
mend_moved_scripts() {
  local script first mended=0
  for script in .venv/bin/*; do
    [ -f "$script" ] && [ ! -L "$script" ] && IFS= read -r first <"$script" 2>/dev/null || continue
    [[ $first == '#!'*/bin/python* ]] && [ ! -e "${first#\#!}" ] || continue
    sed -i "1s|.*|#!$PWD/.venv/bin/python3|" "$script"
    mended=$((mended + 1))
  done
  [ $mended -eq 0 ] || say ".venv was moved: mended the first line of $mended scripts"
}

# Makes .venv with a Python that runs and a pip.
make_venv() {
  if [ -e .venv/bin/python3 ] && ! .venv/bin/python3 -c '' 2>/dev/null; then
    say ".venv's Python does not run: making .venv anew"
    rm -rf .venv
  fi
  if [ ! -e .venv/bin/python3 ]; then
    say "making .venv"
    python3 -m venv --system-site-packages .venv || die "python3 -m venv .venv failed: see above"
  fi
  mend_moved_scripts
  .venv/bin/python3 -m pip --version >/dev/null 2>&1 && return
  say ".venv has no pip: adding it"
  .venv/bin/python3 -m ensurepip --upgrade >/dev/null || die ".venv has no pip, and ensurepip failed. Delete .venv, and install python3-venv."
}

# Prints the lines of a requirements file that neither .venv nor the system's python3 satisfies. For torch, the version
# and its CUDA must be the required ones, because results depend on them. For other packages, any version suffices.
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
        found, _, build = version(match[1]).partition("+")
    except PackageNotFoundError:
        found, build = None, ""
    is_other_torch = match[1] == "torch" and (found != match[3] or not re.match(r"(cu13.*)?$", build))
    if found is None or is_other_torch:
        print(line.strip())
PYTHON
}

# Prints the entries of ci/requirements.lock for requirements, one per line on standard input, and for their
# dependencies.
locked_wheels() {
  python3 -c '
import re, sys
entries = re.findall(r"^(([\w-]+)==([^\s;]+)[^#]*)# via (.*)\n", open("ci/requirements.lock").read(), re.M)
wanted = set()
for line in sys.stdin.read().split():
    name, _, version = re.sub(r"\[.*\]", "", line).lower().partition("==")
    if not any((name, version) == entry[1:3] for entry in entries):
        sys.exit(f"ci/requirements.lock has no {line}. Run ci/lock.py.")
    wanted.add(name)
while needed := {entry[1] for entry in entries if wanted & set(entry[3].split(", "))} - wanted:
    wanted |= needed
print("\n".join(entry[0].rstrip() for entry in entries if entry[1] in wanted))'
}

# Runs pip so that it installs only into .venv.
venv_pip() {
  PIP_USER=0 PIP_TARGET='' PIP_PREFIX='' PIP_ROOT='' PIP_CONSTRAINT='' PIP_REQUIRE_HASHES='' \
    .venv/bin/python3 -m pip --disable-pip-version-check "$@"
}

torch_version() {
  .venv/bin/python3 -c 'from importlib.metadata import version; print(version("torch"))' 2>/dev/null
}

# pip accepts a torch for another CUDA instead of the required one. Removes such a torch from .venv, and prints the
# flag that makes pip ignore the system's.
remove_other_torch() {
  local found
  found=$(torch_version) || return 0
  say "torch $found is not the one that results depend on: .venv gets that" >&2
  venv_pip uninstall --quiet --yes torch >/dev/null 2>&1 || true
  torch_version >/dev/null && echo --ignore-installed
  return 0
}

install_wheels() {
  local wanted locked log status=0 flag=''
  wanted=$(missing_wheels "$1")
  if [ -z "$wanted" ]; then
    say "wheels of $1: all there"
    return
  fi
  make_venv
  wanted=$(missing_wheels "$1")
  [[ $wanted != *torch==* ]] || flag=$(remove_other_torch)
  say "wheels: installing $(echo "$wanted" | tr '\n' ' ')(torch takes about 5 GB)"
  locked=$(echo "$wanted" | locked_wheels 2>&1) || die "$locked"
  log=$(mktemp)
  echo "$locked" | venv_pip install --quiet $flag --require-hashes --only-binary :all: -r /dev/stdin 2>"$log" || status=$?
  if [ $status -ne 0 ]; then
    cat "$log" >&2
    wanted="$(echo "$wanted" | tr '\n' ' '): $(grep -m1 '^ERROR' "$log" || echo "see above")"
    rm -f "$log"
    die "pip could not install $wanted"
  fi
  rm -f "$log"
  wanted=$(missing_wheels "$1")
  [ -z "$wanted" ] ||
    die "pip installed another build than $(echo "$wanted" | tr '\n' ' ')of $1, one without CUDA 13 for instance. Its index is" \
      "'$(venv_pip config get global.index-url 2>/dev/null || echo "pip's own")': set PIP_INDEX_URL to one that has it."
}
