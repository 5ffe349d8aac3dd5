#!/usr/bin/env bash
# Runs the fuzz targets under libFuzzer, after building them: tests/run.sh --fuzz MINUTES
#
#   tests/fuzz/run.sh MINUTES [TARGET…]
#
# As many at a time as there are CPUs, each for its share of so many minutes. Inputs that reach new
# code are kept in build/fuzz-corpus/TARGET, for the next run to go on from; those that are findings
# in build/fuzz-corpus/findings/TARGET. Prints a table of all runs so far, which is kept beside them.
# Ends with 1 after a finding.
set -euo pipefail

# shellcheck source=lib/cmake/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/cmake/steps.sh"
minutes=${1:?MINUTES}
shift
jobs="$(nproc)"
programs="$root/build/fuzz/tests/fuzz"
corpora="$root/build/fuzz-corpus"

most_megabytes=512  # of an input; libfuzzer.cpp has the seconds
export ASAN_OPTIONS=quarantine_size_mb=16:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS="suppressions=$root/tests/support/leaks_of_libraries.txt:print_suppressions=0"

targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in "$root"/tests/fuzz/*_fuzz.cpp; do
    targets+=("$(basename "$source" _fuzz.cpp)")
  done
fi

# The number that follows `name` in the log, of its last line that has it.
last_number() {
  { grep -o "$2[: ]*[0-9]*" "$1" || true; } | tail -n 1 | grep -o '[0-9]*$' || echo 0
}

# Runs one target for so many seconds, again and again where it ends at a finding, and adds what it
# did to corpora/TARGET.total: executions, edges, findings, CPU seconds.
run_target() {
  local target=$1 seconds=$2 program="$programs/fuzz_$1" log="$root/build/logs/fuzz-$1.log"
  local corpus="$corpora/$1" findings="$corpora/findings/$1" total="$corpora/$1.total"
  local executions=0 edges=0 found=0 cpu=0 end=$((SECONDS + seconds)) known=() times
  mkdir -p "$corpus" "$findings" "$corpora/seeds/$target"
  ATTNVIZ_FUZZ_SEEDS="$corpora/seeds/$target" "$program"
  if [[ -d $root/tests/fuzz/found/$target ]]; then
    known=("$root/tests/fuzz/found/$target")
  fi
  local ends=0 input left
  while ((left = end - SECONDS, left > 0 && ends++ < 20)); do
    local status=0
    touch "$total.began"
    times="$( (
      TIMEFORMAT='%U %S'
      time "$program" -max_total_time="$left" -timeout=1200 \
        -rss_limit_mb="$most_megabytes" -malloc_limit_mb="$most_megabytes" -print_final_stats=1 \
        -artifact_prefix="$findings/" "$corpus" "$corpora/seeds/$target" "${known[@]}" \
        >"$log" 2>&1
    ) 2>&1)" || status=$?
    cpu="$(awk -v sum="$cpu" '{ print sum + $1 + $2 }' <<<"$times")"
    executions=$((executions + $(last_number "$log" stat::number_of_executed_units)))
    edges="$(last_number "$log" ' cov')"
    if ((status == 0)); then
      break
    fi
    # What the target says last may be lost with the streams of the command that it runs.
    input="$(find "$findings" -type f -newer "$total.began" ! -name '*.log' | head -n 1)"
    if [[ -z $input ]]; then
      tail -n 50 "$log" >&2
      return 1
    fi
    if [[ ! -e $input.log ]]; then
      printf '%s: %s\n' "$target" "$input" >&2
      cp "$log" "$input.log"
      found=$((found + 1))
    fi
  done
  read -r -a times < <(cat "$total" 2>/dev/null || echo 0 0 0 0)
  awk -v e="$executions" -v c="$edges" -v f="$found" -v s="$cpu" \
    '{ printf "%d %d %d %d\n", $1 + e, (c > $2 ? c : $2), $3 + f, $4 + s }' <<<"${times[*]}" \
    >"$total.new"
  mv "$total.new" "$total"
}

# All runs so far, as Markdown.
table() {
  printf '| target | executions | edges | corpus | findings | CPU minutes |\n'
  printf '| --- | ---: | ---: | ---: | ---: | ---: |\n'
  local total target
  for total in "$corpora"/*.total; do
    target="$(basename "$total" .total)"
    printf '%s %s %s\n' "$target" "$(<"$total")" "$(find "$corpora/$target" -type f | wc -l)"
  done | awk '{
      printf "| %s | %d | %d | %d | %d | %.1f |\n", $1, $2, $3, $6, $4, $5 / 60
      executions += $2; inputs += $6; found += $4; seconds += $5
    }
    END {
      printf "| all | %d | | %d | %d | %.1f |\n", executions, inputs, found, seconds / 60
    }'
}

export -f run_target last_number
export root programs corpora most_megabytes
step "fuzz: configure" configure fuzz
step "fuzz: build" build fuzz "${targets[@]/#/fuzz_}"
mkdir -p "$corpora" "$root/build/logs"
new="$corpora/began"
touch "$new"
share=$((minutes * 60 * jobs / ${#targets[@]}))
# shellcheck disable=SC2016
printf '%s\n' "${targets[@]}" |
  xargs -P "$jobs" -I '{}' bash -euo pipefail -c 'run_target "$1" "$2"' - '{}' "$((share > 0 ? share : 1))"
table | tee "$corpora/table.md"
if [[ -n $(find "$corpora/findings" -type f -newer "$new" ! -name '*.log') ]]; then
  exit 1
fi
