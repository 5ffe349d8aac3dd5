#!/usr/bin/env bash
# From a fresh clone to a picture of attention: samples/quickstart.sh "The cat sat on the mat because it was tired"
# Installs what is missing, builds, and draws the sentence in the terminal and as a PNG in the
# current folder. Options of `attnviz show` may follow the sentence; -o chooses another picture.
set -euo pipefail

# shellcheck source=lib/cmake/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/cmake/steps.sh"

program="$root/build/release/app/attnviz"
stamp="$root/build/release/.quickstart"  # as old as the start of the last good build

# Asking ninja would take longer than attnviz itself. Folders count too: their time changes when a
# file goes away.
up_to_date() {
  [[ -x $program && -e $stamp ]] &&
    [[ -z $(find "$root"/{CMakeLists.txt,CMakePresets.json,lib,app,assets} -newer "$stamp" \
              -print -quit) ]]
}

if ! up_to_date; then
  "$root/lib/cmake/install-packages.sh" build
  mkdir -p "${stamp%/*}"
  touch "$stamp.new"
  if [[ ! -e $root/build/release/build.ninja ]]; then
    step "Configuring" configure release -DATTNVIZ_BUILD_TESTS=OFF
  fi
  step "Building (some minutes, this first time)" build release
  mv "$stamp.new" "$stamp"
fi

if (($# == 0)); then
  set -- "The cat sat on the mat because it was tired"
fi
for argument in "$@"; do
  case $argument in
    -o* | --output | --output=*) exec "$program" show "$@" ;;
  esac
done
"$program" show --output attention.png "$@"
echo "The picture: $PWD/attention.png" >&2
