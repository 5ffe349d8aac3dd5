#!/usr/bin/env bash
# Installs the Debian packages of the given scopes that are missing: install-packages.sh build test
# Names and scopes come from dependencies.txt. Elsewhere it says what is needed and goes on.
set -euo pipefail

table="$(dirname "${BASH_SOURCE[0]}")/dependencies.txt"

# Column $1 (3: Debian package, 4: upstream project) of the scopes that follow.
column() {
  local field=$1
  shift
  awk -F ' *[|] *' -v field="$field" -v scopes=" $* " \
    '!/^#/ && index(scopes, " " $2 " ") { print $field }' "$table" | sort -u
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is no Debian system; attnviz needs these (CMake says which are missing):" >&2
  column 4 "$@" | sed 's/^/  /' >&2
  exit 0
fi

mapfile -t wanted < <(column 3 "$@")
mapfile -t present < <(
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^installed //p')
mapfile -t missing < <(
  comm -23 <(printf '%s\n' "${wanted[@]}") <(printf '%s\n' "${present[@]}" | sort -u))
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages; as root run:  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120)

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
echo "Installing ${missing[*]}" >&2
install() { "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1; }
# A package list that is absent or out of date is the usual reason to fail.
if ! install; then
  if ! { "${apt[@]}" update </dev/null >"$log" 2>&1 && install; }; then
    cat "$log" >&2
    echo "Could not install: ${missing[*]}" >&2
    exit 1
  fi
fi
