#!/usr/bin/env bash
# Draws the README's pictures again: samples/gallery.sh [PROGRAM] [FOLDER]
# PROGRAM is build/release/app/attnviz unless given, FOLDER is samples. The same everywhere: these
# labels need no font but the built-in one.
set -euo pipefail

samples="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
program="${1:-$samples/../build/release/app/attnviz}"
folder="${2:-$samples}"

draw() {
  local picture="$1"
  shift
  "$program" "$@" -q -o "$folder/$picture"
}

draw cat.png "The cat sat on the mat because it was tired"

# One word changes, and a head looks elsewhere; the same with a name that returns.
draw trophy.png "The trophy did not fit in the suitcase because it was too big. The" --head 2.1
draw suitcase.png "The trophy did not fit in the suitcase because it was too small. The" --head 2.1
draw repeated-name.png "Harry Potter is a wizard. Harry Potter lives in London." --head 2.1

draw layer.png "The cat sat on the mat because it was tired" --head '2.*' --scale row-max \
  --colormap blues --cell 24

draw heads.png heads --score induction

draw four-heads.png -m "$samples/four-heads.json" "the cat saw the dog and the cat ran"

# One head, with numbers, dark for slides.
draw dark.png -m "$samples/verbs-and-nouns.json" "the cat saw a dog and the dog slept ." \
  --theme dark --colormap magma --title "Verbs look at the nouns before them"

# Two texts: what each word of the one looks at in the other.
scratch="$(mktemp -d)"
trap 'rm -r "$scratch"' EXIT
"$samples/alignment.py" "$scratch/aligner"
draw alignment.png -m "$scratch/aligner" \
  "The agreement on the European Economic Area was signed in August 1992 ." \
  --target "L' accord sur la zone économique européenne a été signé en août 1992 ." \
  --head 0.0 --merge words --no-special --plain-labels

# The page as a browser shows it, where there is one; fonts are those of this machine.
if browser="$(command -v chromium)"; then
  page="$scratch/page"
  mkdir "$page"
  "$program" "The cat sat on the mat because it was tired" -q -o "$page/page.html"
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,900 \
    --user-data-dir="$page/profile" --virtual-time-budget=4000 \
    --screenshot="$folder/page.png" "file://$page/page.html" 2>/dev/null
fi

# The terminal, drawn from what is really printed.
if command -v rsvg-convert >/dev/null; then
  sentence="The cat sat on the mat because it was tired"
  COLORTERM=truecolor LC_ALL=C.UTF-8 COLUMNS=100 "$program" "$sentence" --color always --style blocks |
    "$samples/terminal.py" "attnviz \"$sentence\"" |
    rsvg-convert --zoom 1.5 --output "$folder/terminal.png"
fi
