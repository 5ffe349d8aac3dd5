#!/usr/bin/env bash
# Builds the program as others would, and compares what it draws and computes with the release:
#   tests/elsewhere.sh [plain] [baseline] [clang] [clang-asan] [arm64] [s390x] [debian13]
#
#   plain       without any optimization, each source alone
#   baseline    for the oldest x86-64: no SIMD that is chosen at start
#   clang       Clang instead of GCC
#   clang-asan  Clang with the sanitizers
#   arm64       cross-compiled, and run by qemu-user
#   s390x       the same for a machine whose bytes are in the other order
#   debian13    by the compiler and with the libraries of Debian 13, tests included, which run there
#
# Without a name: all. Pictures must be the same byte for byte, numbers to 2e-6. What cannot be tried
# here is reported as SKIPPED. Give the release build first: tests/run.sh does.
set -euo pipefail

# shellcheck source=lib/cmake/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/cmake/steps.sh"
place="$root/build/elsewhere"
mkdir -p "$place"
jobs="$(nproc)"

skipped() { echo "SKIPPED: $1: $2" >&2; }

# Everything that a program writes here, by a command that runs it. A step does not end at the
# first command that fails by itself.
results() (
  rm -rf "$1"
  mkdir -p "$1" && cd "$1" || exit
  program=("${@:2}")
  run() { "${program[@]}" "$@" || exit; }
  # What one build refuses, the other must refuse with the same message; nothing may crash.
  try_to() {
    local name=$1 status=0
    shift
    "${program[@]}" "$@" -q -o "$name" 2>"$name.txt" || status=$?
    ((status < 128)) || exit "$status"
    ((status == 0)) || rm -f "$name"
  }
  text="When Mary and John went to the store, John gave a drink to Mary"
  run "$text" -q -o demo.png -o demo.svg -o demo.html -o demo.json
  run "$text" -q --head 3.2 -o head.png -o head.svg
  run "$text" -q --random --layers 2 --heads 3 --kv-heads 1 --positions rope -o random.png -o random.json
  run render "$root/samples/le-chat-dort.json" -q -o given.png -o given.svg
  run weights --layers 1 --heads 2 --seed 7 -q -o weights.json
  run "$text" -q --head 3.2 -o head.npy
  # This build's array, and the same numbers as the release wrote them.
  run render head.npy -q -o array.png
  run render "$place/results/release/head.npy" -q -o given-array.png
  run heads --json >heads.json
  run why "$text" --json >why.json
  for file in "$root"/tests/reference/gguf/models/*.gguf "$root"/tests/reference/models/*/; do
    name=${file%/}
    try_to "model-${name##*/}.json" -m "$file" --ids 1,2,3,4,5,6,7
  done
  for file in "$root"/samples/*.json; do
    try_to "weights-${file##*/}" -m "$file"
  done
)

# Pictures and random weights have the same bytes on every machine; what is computed may be rounded.
compare() {
  local file fault=0
  for file in "$1"/*.{png,svg,txt} "$1"/weights.json; do
    cmp "$file" "$2/${file##*/}" || fault=1
  done
  python3 - "$1" "$2" <<'PYTHON' || fault=1
import json, math, pathlib, sys

def differences(a, b, place):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from differences(a[key], b[key], f"{place}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{place}[{i}]")
    elif isinstance(a, float) and isinstance(b, (int, float)):
        # Attention is at most 1; scores and logits may be larger.
        if not math.isclose(a, b, rel_tol=2e-5, abs_tol=2e-6):
            yield f"{place}: {a} and {b}"
    elif a != b and not (isinstance(b, float) and abs(a - b) <= 2e-6):
        yield f"{place}: {a} and {b}"

faults = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    other = pathlib.Path(sys.argv[2]) / path.name
    faults += differences(json.loads(path.read_text()), json.loads(other.read_text()), path.name)
print("\n".join(faults[:20]))
sys.exit(len(faults) > 0)
PYTHON
  return "$fault"
}

# try NAME RUNNER -- OPTION…: builds with CMake's options and compares; RUNNER runs the program.
try() {
  local name=$1 runner=()
  shift
  while [[ $1 != -- ]]; do
    runner+=("$1")
    shift
  done
  shift
  step "$name: configure" cmake -S "$root" -B "$place/$name" -G Ninja -DATTNVIZ_BUILD_TESTS=OFF \
    -DATTNVIZ_WARNINGS_AS_ERRORS=ON "$@"
  step "$name: build" cmake --build "$place/$name" --target attnviz_cli
  step "$name: run" results "$place/results/$name" "${runner[@]}" "$place/$name/app/attnviz"
  step "$name: compare" compare "$place/results/release" "$place/results/$name"
}

plain() {
  try plain -- -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0 -DATTNVIZ_UNITE=1 \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
}

baseline() {
  if [[ $(uname -m) != x86_64 ]]; then
    skipped baseline "this is no x86-64"
    return
  fi
  try baseline -- -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_FLAGS=-march=x86-64 -DHWY_COMPILE_ONLY_STATIC"
}

clang() {
  if ! command -v clang++ >/dev/null; then
    skipped clang "no clang++"
    return
  fi
  try clang -- -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++
}

clang-asan() {
  if ! command -v clang++ >/dev/null; then
    skipped clang-asan "no clang++"
    return
  fi
  try clang-asan -- -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
    "-DCMAKE_CXX_FLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
}

# Packages of dependencies.txt for which awk's condition holds, each followed by a comma.
packages() { awk -F ' *[|] *' -v ORS=, "!/^#/ && ($1) { print \$3 }" "$root/lib/cmake/dependencies.txt"; }

# Debian's packages for another machine, unpacked beside the build: nothing is installed.
unpack_libraries() {
  local machine=$1 folder=$2 packages
  # shellcheck disable=SC2016
  packages="libc6-dev,libstdc++-12-dev,$(packages '$2 == "build" && $1 !~ /^(compiler|cmake|ninja)$/')"
  [[ -e $folder/usr/include/stdio.h ]] ||
    mmdebstrap --arch="$machine" --variant=extract --include="${packages%,}" bookworm "$folder" \
      http://deb.debian.org/debian
}

# cross NAME COMPILER PROCESSOR
cross() {
  local name=$1 compiler=$2 processor=$3 libraries="$place/libraries-$1" tool
  for tool in "$compiler" "qemu-$processor" mmdebstrap; do
    if ! command -v "$tool" >/dev/null; then
      skipped "$name" "no $tool (Debian: g++-${compiler%-g++} qemu-user mmdebstrap)"
      return
    fi
  done
  if ! step "$name: libraries" unpack_libraries "$name" "$libraries"; then
    skipped "$name" "its libraries cannot be fetched"
    return
  fi
  try "$name" "qemu-$processor" -L "$libraries" -- -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-$processor;-L;$libraries" \
    -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$processor" \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_SYSROOT=$libraries" \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY
}

arm64() { cross arm64 aarch64-linux-gnu-g++ aarch64; }
s390x() { cross s390x s390x-linux-gnu-g++ s390x; }

# A Debian 13 beside the build, in which a command runs that finds the sources where they are.
install_debian13() {
  local packages
  # shellcheck disable=SC2016
  packages="$(packages '$2 == "build" || $2 == "test"')"
  [[ -e $1/usr/bin/cmake ]] ||
    mmdebstrap --variant=apt --include="${packages%,}" trixie "$1" http://deb.debian.org/debian
}
in_debian13() (
  unset CMAKE_CXX_COMPILER_LAUNCHER  # of this system, and perhaps not of that one
  # shellcheck disable=SC2016
  exec unshare --mount bash -euc '
    mkdir -p "$1$2"
    mount --bind "$2" "$1$2" && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"
    exec chroot "$1" bash -c "cd \"\$0\" && exec \"\$@\"" "$PWD" "${@:3}"' - "$place/system-debian13" "$root" "$@"
)
debian13() {
  local name=debian13
  if ((EUID != 0)) || ! command -v mmdebstrap >/dev/null || ! unshare --mount true; then
    skipped "$name" "takes root and mmdebstrap"
    return
  fi
  if ! step "$name: system" install_debian13 "$place/system-debian13"; then
    skipped "$name" "its packages cannot be fetched"
    return
  fi
  step "$name: configure" in_debian13 cmake -S "$root" -B "$place/$name" -G Ninja \
    -DATTNVIZ_BUILD_TESTS=ON -DATTNVIZ_WARNINGS_AS_ERRORS=ON -DCMAKE_BUILD_TYPE=Release
  step "$name: build" in_debian13 cmake --build "$place/$name"
  step "$name: tests" in_debian13 ctest --test-dir "$place/$name" --output-on-failure -j "$jobs"
  step "$name: run" results "$place/results/$name" in_debian13 "$place/$name/app/attnviz"
  step "$name: compare" compare "$place/results/release" "$place/results/$name"
}

if (($# == 0)); then
  set -- plain baseline clang clang-asan arm64 s390x debian13
fi
step "release: run" results "$place/results/release" "$root/build/release/app/attnviz"
for one in "$@"; do
  "$one"
done
