# shellcheck shell=bash
# For scripts to source: runs the steps of a build quietly, one line each.
# Sets root (the source folder) and changes nothing else.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

# step NAME COMMAND…: runs it with its output in build/logs/NAME.log, and shows that only on failure.
step() {
  local name=$1 log="$root/build/logs/${1// /-}.log" start=$SECONDS
  shift
  mkdir -p "${log%/*}"
  printf '%s … ' "$name" >&2
  if ! "$@" >"$log" 2>&1 </dev/null; then
    printf 'failed\n' >&2
    tail -n 200 "$log" >&2
    printf 'The whole log: %s\n' "$log" >&2
    return 1
  fi
  printf '%s s\n' "$((SECONDS - start))" >&2
}

configure() (
  cd "$root" || exit
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
  fi
  cmake --preset "$@"
)
build() { cmake --build "$root/build/$1" ${2:+--target "${@:2}"}; }
