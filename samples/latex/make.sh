#!/usr/bin/env bash
# Makes figure.pdf: samples/latex/make.sh [PROGRAM] [FOLDER]
# PROGRAM is build/release/app/attnviz unless given, FOLDER, in which all files are made, is
# build/latex. Takes Debian's librsvg2-bin and texlive-latex-base.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$here/../.."
program="$(realpath "${1:-$root/build/release/app/attnviz}")"
folder="${2:-$root/build/latex}"
text="The cat sat on the mat because it was tired"

mkdir -p "$folder"
cd "$folder"

"$program" "$text" --head 2.1 -q -o head.svg
"$program" "$text" -q -o heads.svg
for picture in head heads; do
  rsvg-convert -f pdf -o "$picture.pdf" "$picture.svg"
done

# The second time it knows the figures' numbers.
for _ in 1 2; do
  pdflatex -interaction=batchmode -halt-on-error "$here/figure.tex"
done
echo "wrote $folder/figure.pdf"
