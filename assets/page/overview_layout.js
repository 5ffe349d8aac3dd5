// Where the small pictures of all heads lie: a row for each layer, heads that share keys and values close together.
import { clamp } from "./dom.js";

export const THUMB_GAP = 3;
const GROUP_GAP = 7;
const LABEL_WIDTH = 26;
const LEAST_WIDTH = 120;
const SMALLEST = 14;
const LARGEST = 84;
/** Rows of more heads than this go on in another line. */
const MOST_IN_LINE = 16;
/** Names are written below pictures of at least this size. */
const NAMED_FROM = 52;
const NAME_HEIGHT = 12;
const BRACKET_HEIGHT = 4;
export const BLANK_HEIGHT = 16;

/**
 * @typedef {{place: number, x: number, y: number}} Thumb
 *
 * @typedef {object} OverviewLayout
 * @property {Thumb[]} thumbs
 * @property {{layer: number, y: number}[]} layers  where their names are
 * @property {{numbers: string, name: string, y: number}[]} blanks  layers without attention
 * @property {number} size      of each picture
 * @property {boolean} grouped  some heads share keys and values
 * @property {boolean} named    names are written below the pictures
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {Head[]} heads
 * @param {number} available  pixels
 * @param {Blank[]} between  what has no pictures
 * @returns {OverviewLayout}
 */
export function overviewLayout(heads, available, between = []) {
  const width = Math.max(LEAST_WIDTH, available);
  const rows = [...new Set(heads.map((head) => head.layer))].map((layer) =>
    heads.map((head, place) => ({ head, place })).filter(({ head }) => head.layer === layer),
  );
  const most = Math.max(...rows.map((row) => row.length));
  const groups = Math.max(...rows.map((row) => new Set(row.map(({ head }) => head.group)).size));
  const grouped = groups < most;
  const room = width - LABEL_WIDTH - (grouped ? groups * GROUP_GAP : 0);
  const size = clamp(Math.floor(room / Math.min(most, MOST_IN_LINE)) - THUMB_GAP, SMALLEST, LARGEST);
  const perLine = Math.max(1, Math.floor(room / (size + THUMB_GAP)));
  const named = size >= NAMED_FROM && heads.some((head) => head.names.length > 0);
  const step = size + THUMB_GAP + (grouped ? BRACKET_HEIGHT : 0) + (named ? NAME_HEIGHT : 0);
  /** @type {Thumb[]} */
  const thumbs = [];
  /** @type {OverviewLayout["layers"]} */
  const layers = [];
  /** @type {OverviewLayout["blanks"]} */
  const blanks = [];
  let y = 2;
  /** @param {number} row */
  const addBlanks = (row) => {
    for (const { numbers, name } of between.filter((blank) => blank.row === row)) {
      blanks.push({ numbers, name, y });
      y += BLANK_HEIGHT + THUMB_GAP;
    }
  };
  rows.forEach((row, index) => {
    addBlanks(index);
    layers.push({ layer: row[0].head.layer, y: y + size / 2 });
    let x = LABEL_WIDTH;
    row.forEach(({ head, place }, i) => {
      if (i > 0 && i % perLine === 0) {
        x = LABEL_WIDTH;
        y += step;
      } else if (grouped && i > 0 && head.group !== row[i - 1].head.group) {
        x += GROUP_GAP;
      }
      thumbs.push({ place, x, y });
      x += size + THUMB_GAP;
    });
    y += step;
  });
  addBlanks(rows.length);
  return { thumbs, layers, blanks, size, grouped, named, width, height: y + 2 };
}
