#!/usr/bin/env bash
# Scores heads over a corpus, one text a line, with every CPU of this machine:
#
#   samples/corpus.sh CORPUS FOLDER [OPTIONS of attnviz heads]
#   samples/corpus.sh corpus.txt scores -m gpt2
#
# Leaves the sums in FOLDER/all.json: attnviz heads FOLDER/all.json shows them. What is killed goes
# on where it was when this is called again; a job loses what it did in its last ten seconds at most.
#
# JOBS at once (default: as many as CPUs, each with one thread), the corpus cut into BLOCKS files
# (default: eight a job). PROGRAM is build/release/app/attnviz unless given. Needs GNU parallel.
set -euo pipefail

corpus="${1:?a file of texts, one a line}"
folder="${2:?a folder for the sums}"
shift 2
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
program="${PROGRAM:-$here/../build/release/app/attnviz}"
jobs="${JOBS:-$(nproc)}"
command -v parallel >/dev/null || {
  echo "corpus.sh: needs GNU parallel: apt-get install parallel" >&2
  exit 1
}

# Files rather than pipes: one that is cut off would look like the end of its block. Those without
# a text would be errors.
print="$(cksum <"$corpus")"
if [[ ! -d $folder/blocks ]]; then
  rm -rf "$folder/cutting"
  mkdir -p "$folder/cutting"
  split -n "l/${BLOCKS:-$((8 * jobs))}" -a 4 -d "$corpus" "$folder/cutting/"
  for block in "$folder"/cutting/*; do
    grep -q '[^[:space:]]' "$block" || rm "$block"
  done
  if [[ -z $(ls "$folder/cutting") ]]; then
    echo "corpus.sh: $corpus: no line with a text in it" >&2
    exit 2
  fi
  echo "$print" >"$folder/corpus.cksum"
  mv "$folder/cutting" "$folder/blocks"
elif [[ -e $folder/corpus.cksum && $(<"$folder/corpus.cksum") != "$print" ]]; then
  echo "corpus.sh: $folder has the sums of another corpus: give another folder, or remove it" >&2
  exit 2
fi

parallel --will-cite --jobs "$jobs" --quote --halt soon,fail=1 \
  "$program" heads "$@" --lines --threads 1 -q -f {} --partial "$folder/{/}.json" --resume \
  -o "$folder/{/}.csv" ::: "$folder"/blocks/*

"$program" merge -o "$folder/all.json" "$folder"/[0-9]*.json
