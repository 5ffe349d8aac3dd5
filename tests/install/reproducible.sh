#!/usr/bin/env bash
# Builds a copy of the sources in another folder, and compares what is shipped with the release build
# byte for byte. tests/run.sh --reproducible makes that build first.
set -euo pipefail

# shellcheck source=lib/cmake/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/cmake/steps.sh"
copy="$root/build/reproducible/a-folder-of-another-name"

mkdir -p "$copy"
(cd "$root" && tar --exclude=./build --exclude=./.git -cf - .) | tar -xf - -C "$copy"

export CCACHE_DISABLE=1
step "reproducible: configure" cmake --preset release -S "$copy" -B "$copy/build/release" \
  -DATTNVIZ_BUILD_TESTS=OFF
step "reproducible: build" cmake --build "$copy/build/release" --target attnviz attnviz_cli
fault=0
for file in lib/libattnviz.a app/libattnviz_options.a app/attnviz; do
  cmp "$root/build/release/$file" "$copy/build/release/$file" || fault=1
done
exit "$fault"
