#!/usr/bin/env bash
# ci/subjects.sh [BASE]
# Checks the subjects of the commits that are in HEAD but not in BASE (default: origin/main), except merges. A subject
# is `area: imperative`: at most 72 characters, area and verb in lower case, no full stop. Prints each subject that
# breaks this and exits 1; exits 0 if there is none. Exit status 2: BASE is not a commit of this clone.
set -euo pipefail
base=${1:-origin/main}
git rev-parse --quiet --verify "$base^{commit}" >/dev/null || {
  echo "subjects: error: '$base' is not a commit of this clone. Fetch it, or name another base." >&2
  exit 2
}
# Imperatives that have the ending of a participle.
imperatives='bring|embed|exceed|feed|need|proceed|seed|shed|speed|string|succeed|wed'
wrong=0
while IFS= read -r subject; do
  why='' verb=''
  [[ ! $subject =~ ^[a-z][a-z0-9_./-]*(,\ [a-z][a-z0-9_./-]*)*:\ ([a-z]+) ]] || verb=${BASH_REMATCH[2]}
  if [ ${#subject} -gt 72 ]; then
    why="${#subject} characters; 72 are the most"
  elif [ -z "$verb" ]; then
    why="does not begin with 'area: verb' in lower case"
  elif [[ $verb =~ (ed|ing)$ ]] && ! [[ $verb =~ ^($imperatives)$ ]]; then
    why="'$verb' is not an imperative"
  elif [[ $subject == *. ]]; then
    why="ends with a full stop"
  fi
  [ -z "$why" ] || {
    printf 'subjects: %s: %s\n' "$subject" "$why"
    wrong=1
  }
done < <(git log --no-merges --format=%s "$base..HEAD")
exit $wrong
