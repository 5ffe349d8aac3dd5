#!/usr/bin/env bash
# Checks the types of the page's scripts, which stand in their comments: check_types.sh SOURCE BUILD
# Ends with 77 where TypeScript cannot be had.
set -euo pipefail

source=$(cd "$1" && pwd)
mkdir -p "$2/npm"
npm=$(cd "$2/npm" && pwd)
here="$(dirname "${BASH_SOURCE[0]}")"

if ! command -v node >/dev/null; then
  echo "SKIPPED: the types of the page's scripts need node (Debian: nodejs)"
  exit 77
fi
"$here/npm_package.sh" typescript@7.0.2 "$npm"
mapfile -t modules < <(sed "s|^|$source/assets/page/|" "$source/assets/page/modules.txt")
exec node "$npm/typescript/node_modules/typescript/bin/tsc" --noEmit --allowJs --checkJs --strict \
  --target es2022 --module es2022 --moduleResolution bundler --lib es2023,dom,dom.iterable \
  --types "" --skipLibCheck "${modules[@]}"
