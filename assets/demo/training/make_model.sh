#!/bin/sh
# Makes the demo model from nothing: text, tokenizer, training, measurements.
#
#   make_model.sh RUN_FOLDER [SEED]      then  install_model.sh RUN_FOLDER  puts it in the place of the one here
#
# An interrupted training goes on where its last checkpoint was when this is run again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
run=$1
seed=${2:-1}
mkdir -p "$run"
[ -f "$run/corpus.txt" ] || {
  "$here/corpus.py" --words 20e6 --seed 1 --out "$run/corpus.part"
  mv "$run/corpus.part" "$run/corpus.txt"
}
[ -d "$run/tokenizer" ] || "$here/tokenizer.py" "$run/corpus.txt" "$run/tokenizer" --vocabulary 5248
"$here/train.py" --corpus "$run/corpus.txt" --tokenizer "$run/tokenizer" --out "$run" --seed "$seed" --steps 3000
"$here/check_forward.py" "$run/model"
"$here/evaluate.py" "$run/model" > "$run/evaluation.txt"
head -20 "$run/evaluation.txt"
