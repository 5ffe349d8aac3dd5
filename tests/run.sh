#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: tests/run.sh
#
#   (nothing)   the tests of the program as it is shipped
#   --asan      under the address and undefined-behaviour sanitizers
#   --tsan      under the thread sanitizer, the layers that use threads
#   --coverage  with line coverage, reported a file
#   --faults    with every kind of call to the system failing in turn, at many thousand places
#   --fuzz N    hostile inputs for N minutes; see tests/fuzz/README.md
#   --lint      clang-format, clang-tidy, and the types of the pages' scripts
#   --reproducible  whether a build in another folder has the same bytes
#   --elsewhere the builds of others: unoptimized, for old processors, by Clang, on Debian 13, for arm64, s390x
#   --all       everything but the coverage and elsewhere, with a short run of the benchmarks, as
#               before a merge
#
# Options add up. Each step prints its seconds; the last line is ctest's summary.
set -euo pipefail

# shellcheck source=lib/cmake/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/cmake/steps.sh"
jobs="$(nproc)"

# Builds one preset and runs its tests; notes ctest's summary in `summary`.
summary=""
bench=OFF
run_tests() {
  local preset=$1 log="$root/build/logs/$1-tests.log" status=0 runner=() layers=() only=()
  local options=(-DATTNVIZ_BUILD_TESTS=ON)
  if [[ $preset == release ]]; then
    options+=(-DATTNVIZ_BUILD_BENCH="$bench")
  fi
  if [[ $preset == tsan ]]; then
    layers=(core kernels attention analysis cli)
    only=(-R "^($(IFS='|' && echo "${layers[*]}"))(_rest)?\$")
  fi
  step "$preset: configure" configure "$preset" "${options[@]}"
  step "$preset: build" build "$preset" "${layers[@]/#/test_}"
  if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then
    runner=(setarch -R)  # the thread sanitizer cannot use the address layouts of newer kernels
  fi
  (cd "$root" && "${runner[@]}" ctest --preset "$preset" --parallel "$jobs" "${only[@]}" 2>&1) |
    tee "$log" || status=$?
  { grep -ho 'SKIPPED: .*' "$root/build/$preset/Testing/Temporary/LastTest.log" || true; } | sort |
    uniq -c | awk '{ n += $1; print } END { if (n) printf "%d checks skipped\n", n }'
  summary="$(grep 'tests passed' "$log" || true)"
  if ((status)); then
    printf '%s\n' "$preset: $summary"
    exit 1
  fi
}

sources() {
  find "$root"/{lib,app,tests,samples} -name "$1" -print0 | sort -z
}

lint() {
  step "lint: configure" configure release -DATTNVIZ_BUILD_TESTS=ON -DATTNVIZ_BUILD_BENCH=ON \
    -DATTNVIZ_BUILD_FUZZ=ON
  step "lint: build" build release  # sources made by the build are read too
  step "lint: clang-format" check_format
  step "lint: clang-tidy" check_tidy
  step "lint: page types" check_page_types
  grep -h '^SKIPPED: ' "$root/build/logs/lint:-page-types.log" || true
}
check_format() {
  sources '*.[ch]*' | grep -zE '\.(h|cpp)$' | xargs -0 clang-format --dry-run -Werror
}
check_tidy() {
  # As the release compiles them, several sources at a time: that takes a quarter of the time. But
  # without precompiled headers: Clang takes GCC's for its own. The analyzer, half of it all, looks
  # for what files of strangers could do to the program; tests read their own.
  local commands="$root/build/lint/compile_commands.json"
  mkdir -p "${commands%/*}"
  sed 's/-Winvalid-pch//; s/--param=ggc-[^ ]*//; s/-include [^ ]*cmake_pch\.hxx//' \
    "$root/build/release/compile_commands.json" >"$commands"
  { tidy 'lib|app' && tidy tests --checks='-clang-analyzer-*'; } 2>&1 |
    sed '/^[0-9]* warnings\{0,1\} generated\.$/d'
}
tidy() {
  sed -n 's/^ *"file": "\(.*\)"$/\1/p' "$root/build/lint/compile_commands.json" |
    grep -E "^$root/(($1)/|build/release/($1)/.*/Unity/)" | tr '\n' '\0' |
    xargs -0 -n 1 -P "$jobs" clang-tidy -p "$root/build/lint" --quiet "${@:2}"
}

check_page_types() {
  local status=0
  "$root/tests/browser/check_types.sh" "$root" "$root/build" || status=$?
  ((status == 0 || status == 77))
}

coverage() {
  run_tests coverage
  # gcov prints lines of inlined templates that gcovr cannot read.
  gcovr --gcov-ignore-parse-errors --root "$root" --filter "$root/lib" --filter "$root/app" \
    "$root/build/coverage"
}

release() {
  step "release: configure" configure release
  step "release: build" build release attnviz attnviz_cli
}
reproducible() { release && "$root/tests/install/reproducible.sh"; }
elsewhere() { release && "$root/tests/elsewhere.sh"; }
# Takes minutes; ctest runs a sample of it.
faults() {
  step "faults: configure" configure release -DATTNVIZ_BUILD_TESTS=ON
  step "faults: build" build release attnviz_cli attnviz_faults
  python3 "$root/tests/fault/faults.py" --program "$root/build/release/app/attnviz" \
    --module "$root/build/release/tests/fault/attnviz_faults.so" --runs 250
}

scopes=(build test)
steps=()
while (($# > 0)); do
  argument=$1
  shift
  case $argument in
    --asan | --tsan) steps+=("run_tests ${argument#--}") ;;
    --faults) steps+=(faults) ;;
    --coverage) steps+=(coverage) scopes+=(coverage) ;;
    --reproducible | --elsewhere) steps+=("${argument#--}") ;;
    --fuzz)
      if [[ ! ${1-} =~ ^[1-9][0-9]*$ ]]; then
        echo "tests/run.sh --fuzz needs a number of minutes" >&2
        exit 2
      fi
      steps+=("$root/tests/fuzz/run.sh $1")
      scopes+=(fuzz)
      shift
      ;;
    --lint) steps+=(lint) scopes+=(check bench) ;;
    --all)
      steps+=(lint "run_tests asan" "run_tests tsan" "run_tests release" reproducible)
      scopes+=(check bench)
      bench=ON
      ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "tests/run.sh: no option $argument; see tests/run.sh --help" >&2
      exit 2
      ;;
  esac
done
if ((${#steps[@]} == 0)); then
  steps=("run_tests release")
fi

"$root/lib/cmake/install-packages.sh" "${scopes[@]}"
for one in "${steps[@]}"; do
  $one
done
if [[ -n $summary ]]; then
  printf '%s\n' "$summary"
fi
