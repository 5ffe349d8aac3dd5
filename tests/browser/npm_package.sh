#!/usr/bin/env bash
# Fetches a package of npm into a folder, once: npm_package.sh axe-core@4.14.1 build/npm
# Says nothing when it is there; otherwise, when it cannot be had, why, and ends with 77.
set -euo pipefail

package=$1
folder=$2
name=${package%@*}
stamp="$folder/$name/$package"
if [[ -e $stamp ]]; then
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "SKIPPED: $name needs npm to fetch it (Debian: npm)"
  exit 77
fi
mkdir -p "$folder/$name"
if ! log="$(timeout 120 npm install --prefix "$folder/$name" --no-save --no-package-lock --no-audit \
  --no-fund --ignore-scripts --fetch-retries=1 --loglevel=error "$package" 2>&1 </dev/null)"; then
  echo "SKIPPED: npm cannot fetch $package: $(head -n 1 <<<"$log")"
  exit 77
fi
touch "$stamp"
