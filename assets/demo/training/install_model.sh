#!/bin/sh
# Puts a trained model, its log and its measurements in the place of those here, and renews the tests' reference.
#
#   install_model.sh RUN_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
run=$1
for name in config.json model.safetensors tokenizer.json tokenizer_config.json; do
  cp "$run/model/$name" "$here/model/$name"
done
cp "$run/training.log" "$here/training.log"
"$here/evaluate.py" "$here/model" > "$here/evaluation.txt"
"$here/../../tests/reference/demo/make_reference.py" "$here/model"
