// Where the parts of a heatmap lie: labels, cells, and which of them are in view.
import { clamp } from "./dom.js";
import { fittingBlock } from "./pool.js";
import { unitPlace } from "./units.js";

const LARGEST_CELL = 64;
/** Room for the title of an axis, across its text. */
export const AXIS_TITLE = 16;
const LABEL_GAP = 6;
/** Half a label: the first row's reaches above the cells. */
const HALF_LABEL = 6;
/** Labels closer than this would touch each other. */
export const ROW_LABEL_STEP = 11.5;
export const COLUMN_LABEL_STEP = 15;
/** Of labels at 45°: how far they reach down and to the side for each pixel of text. */
const SLANT = Math.SQRT1_2;

/**
 * @typedef {object} View  what part is looked at: 1 fits everything in
 * @property {number} zoom
 * @property {number} row  at the upper edge, perhaps between two rows
 * @property {number} col
 *
 * @typedef {object} HeatLayout
 * @property {number} width
 * @property {number} height
 * @property {number} left    of the cells
 * @property {number} top
 * @property {number} plotWidth
 * @property {number} plotHeight
 * @property {number} cell    pixels from one cell to the next
 * @property {number} fit     the same when everything fits in
 * @property {number} row     see View
 * @property {number} col
 * @property {number} labelWidth   room for a row's label
 * @property {number} labelHeight  room for the slanted labels of columns
 */

/**
 * The widest of these labels, measured only for the longest texts.
 * @param {Unit[]} units
 * @param {(text: string) => number} measure
 */
function widest(units, measure) {
  const longest = units
    .map((unit) => unit.label)
    .sort((a, b) => b.length - a.length)
    .slice(0, 24);
  return longest.reduce((width, label) => Math.max(width, measure(label)), 0);
}

/**
 * @param {Shown} shown
 * @param {number} width      of the whole picture
 * @param {number} maxHeight  of the cells
 * @param {View} view
 * @param {number} ratio      device pixels a pixel
 * @param {(text: string) => number} measure  of labels
 * @param {{query: number, key: number}} titles  how long those of the axes are
 * @returns {HeatLayout}
 */
export function heatLayout(shown, width, maxHeight, view, ratio, measure, titles) {
  const { queries, keys } = shown;
  const most = clamp(width * 0.28, 40, 170);
  const roomBeside = (/** @type {number} */ labels) => Math.max(40, width - AXIS_TITLE - labels - LABEL_GAP - 2);
  const indexWidth = (/** @type {Unit[]} */ units) => measure(` ${unitPlace(units[units.length - 1])}`);
  const plainWidth = Math.min(widest(queries, measure) + 2, most);
  const fit = fittingCell(shown, roomBeside(plainWidth), maxHeight, ratio);
  // Indices take what the cells leave: with a little less room these would lose a whole pixel each.
  const spare = roomBeside(plainWidth) - fit * keys.length;
  const rowIndex = isThinned(fit, ROW_LABEL_STEP) ? Math.min(indexWidth(queries), spare) : 0;
  const labelWidth = Math.min(plainWidth + rowIndex, most);
  const room = roomBeside(labelWidth);
  const columnIndex = isThinned(fit, COLUMN_LABEL_STEP) ? indexWidth(keys) : 0;
  const labelHeight = Math.min(widest(keys, measure) + columnIndex + 12, most * 0.9) * SLANT + LABEL_GAP;
  const left = AXIS_TITLE + labelWidth + LABEL_GAP;
  const cell = clamp(fit * view.zoom, fit, LARGEST_CELL);
  const plotWidth = Math.min(room, Math.ceil(keys.length * cell));
  const plotHeight = Math.min(maxHeight, Math.ceil(queries.length * cell));
  const plain = cell === fit;
  return {
    width: Math.max(left + plotWidth, AXIS_TITLE + titles.key) + 2,
    height: Math.max(HALF_LABEL + plotHeight + labelHeight, titles.query) + AXIS_TITLE + 2,
    left,
    top: HALF_LABEL,
    plotWidth,
    plotHeight,
    cell,
    fit,
    row: plain ? 0 : clamp(view.row, 0, queries.length - plotHeight / cell),
    col: plain ? 0 : clamp(view.col, 0, keys.length - plotWidth / cell),
    labelWidth,
    labelHeight,
  };
}

/**
 * The size of a cell with which all fit in, in whole device pixels; where they are smaller, a share of one.
 * @param {Shown} shown
 * @param {number} room       beside the labels
 * @param {number} maxHeight  of the cells
 * @param {number} ratio
 */
function fittingCell({ queries, keys }, room, maxHeight, ratio) {
  const wanted = Math.min(room / keys.length, maxHeight / queries.length, LARGEST_CELL);
  const fit = Math.floor(wanted * ratio) / ratio;
  if (fit > 0) {
    return fit;
  }
  const size = Math.max(keys.length, queries.length);
  const { block, pixelsPerBlock } = fittingBlock(size, Math.floor(wanted * size * ratio));
  return pixelsPerBlock / block / ratio;
}

/**
 * The cells in view: [begin, end).
 * @param {number} first  at the edge
 * @param {number} pixels
 * @param {number} cell
 * @param {number} size
 */
export function inView(first, pixels, cell, size) {
  return { begin: Math.floor(first), end: Math.min(size, Math.ceil(first + pixels / cell - 1e-6)) };
}

/**
 * The cells of which nothing is cut off: [begin, end).
 * @param {number} first  at the edge
 * @param {number} pixels
 * @param {number} cell
 * @param {number} size
 */
export function whollyInView(first, pixels, cell, size) {
  return { begin: Math.ceil(first - 1e-6), end: Math.min(size, Math.floor(first + pixels / cell + 1e-6)) };
}

/**
 * @param {number} cell
 * @param {number} least
 */
function labelStride(cell, least) {
  let stride = 1;
  for (const next of [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]) {
    if (stride * cell < least) {
      stride = next;
    }
  }
  return stride;
}

/**
 * Whether not every row (or column) has a label: then each of these says its index, too.
 * @param {number} cell
 * @param {number} least  pixels from one label to the next
 */
export function isThinned(cell, least) {
  return cell < least;
}

/**
 * How far before and after a position its label must cover the paper, so that nothing remains of labels that it would
 * touch. Labels at 45° are nearer to each other than their columns.
 * @param {number} place
 * @param {number} cell
 * @param {boolean} isColumn
 */
export function labelReach(place, cell, isColumn) {
  const stride = labelStride(cell, isColumn ? COLUMN_LABEL_STEP : ROW_LABEL_STEP);
  const off = place % stride;
  return [off, off > 0 ? stride - off : 0].map((count) => {
    const distance = count * cell * (isColumn ? SLANT : 1);
    return HALF_LABEL + (distance < 2 * HALF_LABEL ? distance : 0);
  });
}

/**
 * The labels to draw: every one where there is room, else every second, fifth, tenth …
 * @param {{begin: number, end: number}} range
 * @param {number} cell
 * @param {number} least  pixels from one label to the next
 */
export function labelled({ begin, end }, cell, least) {
  const stride = labelStride(cell, least);
  const places = [];
  for (let place = Math.ceil(begin / stride) * stride; place < end; place += stride) {
    places.push(place);
  }
  return places;
}

/**
 * Which cell lies under a point, or -1.
 * @param {HeatLayout} layout
 * @param {Shown} shown
 * @param {number} x
 * @param {number} y
 */
export function cellAt(layout, shown, x, y) {
  const col = Math.floor(layout.col + (x - layout.left) / layout.cell);
  const row = Math.floor(layout.row + (y - layout.top) / layout.cell);
  const beside = x < layout.left && x > 0;
  const below = y > layout.top + layout.plotHeight && y < layout.height;
  return {
    query: y >= layout.top && !below && row < shown.queries.length ? row : -1,
    key: x >= layout.left && !beside && x < layout.left + layout.plotWidth && col < shown.keys.length ? col : -1,
  };
}
