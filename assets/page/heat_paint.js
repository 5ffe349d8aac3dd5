// Draws a heatmap into a canvas: the page's and that of a saved picture.
import { clamp, isolated, numberText } from "./dom.js";
import {
  AXIS_TITLE,
  COLUMN_LABEL_STEP,
  ROW_LABEL_STEP,
  inView,
  isThinned,
  labelled,
  whollyInView,
} from "./heat_layout.js";
import { cellImage, imageCanvas, pooledCells } from "./pool.js";
import { unitPlace } from "./units.js";

export const LABEL_SIZE = 11;
const GAPS_FROM = 9;
const HATCH_FROM = 7;
const NUMBERS_FROM = 36;
/** Matrices up to this size are coloured as a whole, so that moving in them draws nothing anew. */
const WHOLE_UP_TO = 1024;

/** Of the titles of axes. */
export function titleFont(/** @type {Theme} */ theme) {
  return `11px ${theme.sans}`;
}

/**
 * @typedef {object} HeatImage  coloured cells, ready to be drawn at any size
 * @property {import("./pool.js").Cells} cells
 * @property {HTMLCanvasElement} canvas
 */

/**
 * Colours the cells in view, or takes `kept` when that has them.
 * @param {Shown} shown
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {import("./colors.js").Shade} shade
 * @param {string | null} masked
 * @param {number} ratio
 * @param {HeatImage | null} kept  of the same pattern and colours
 * @param {boolean} hurries        rather a kept image of coarser or finer cells than a new one
 * @returns {HeatImage}
 */
export function heatImage(shown, layout, shade, masked, ratio, kept, hurries) {
  const block = Math.max(1, Math.ceil(1 / (layout.cell * ratio) - 1e-6));
  const rows = inView(layout.row, layout.plotHeight, layout.cell, shown.queries.length);
  const cols = inView(layout.col, layout.plotWidth, layout.cell, shown.keys.length);
  if (kept && (kept.cells.block === block || hurries)) {
    const { row, col, block: size } = kept.cells;
    if (
      row <= rows.begin &&
      col <= cols.begin &&
      row + kept.cells.rows * size >= rows.end &&
      col + kept.cells.cols * size >= cols.end
    ) {
      return kept;
    }
  }
  const whole = block > 1 || Math.max(shown.queries.length, shown.keys.length) <= WHOLE_UP_TO;
  const region = whole
    ? { row: 0, endRow: shown.queries.length, col: 0, endCol: shown.keys.length }
    : { ...widened("row", "endRow", rows, shown.queries.length), ...widened("col", "endCol", cols, shown.keys.length) };
  const largest = shade.kind === "row-max" ? shown.matrix.rowLargest() : null;
  const cells = pooledCells(shown, region, block, largest);
  return { cells, canvas: imageCanvas(cellImage(cells, shade, masked)) };
}

/**
 * What is in view with a margin around it, so that not every move needs new cells.
 * @template {string} A
 * @template {string} B
 * @param {A} first
 * @param {B} last
 * @param {{begin: number, end: number}} range
 * @param {number} size
 */
function widened(first, last, { begin, end }, size) {
  const margin = Math.ceil((end - begin) / 4);
  return /** @type {Record<A | B, number>} */ ({
    [first]: Math.max(0, begin - margin),
    [last]: Math.min(size, end + margin),
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Panel} panel
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {HeatImage} image
 * @param {import("./colors.js").Shade} shade
 * @param {Theme} theme
 * @param {boolean} showMask
 */
export function paintHeat(context, { shown, axes }, layout, image, shade, theme, showMask) {
  const { left, top, cell, plotWidth, plotHeight } = layout;
  const { cells } = image;
  context.save();
  context.beginPath();
  context.rect(left, top, plotWidth, plotHeight);
  context.clip();
  context.imageSmoothingEnabled = false;
  const x = left + (cells.col - layout.col) * cell;
  const y = top + (cells.row - layout.row) * cell;
  context.drawImage(image.canvas, x, y, cells.cols * cells.block * cell, cells.rows * cells.block * cell);
  const rows = inView(layout.row, plotHeight, cell, shown.queries.length);
  const cols = inView(layout.col, plotWidth, cell, shown.keys.length);
  if (showMask && cell >= HATCH_FROM && !shown.mask.hidesNothing) {
    paintHatch(context, shown, layout, rows, cols, theme);
  }
  if (cell >= GAPS_FROM) {
    context.fillStyle = theme.background;
    const gap = cell >= 40 ? 2 : 1;
    for (let row = rows.begin; row <= rows.end; row++) {
      context.fillRect(left, top + (row - layout.row) * cell - gap / 2, plotWidth, gap);
    }
    for (let col = cols.begin; col <= cols.end; col++) {
      context.fillRect(left + (col - layout.col) * cell - gap / 2, top, gap, plotHeight);
    }
  }
  if (cell >= NUMBERS_FROM) {
    paintNumbers(context, shown, layout, shade, theme);
  }
  context.restore();
  paintLabels(context, shown, axes, layout, rows, cols, theme);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shown} shown
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {{begin: number, end: number}} rows
 * @param {{begin: number, end: number}} cols
 * @param {Theme} theme
 */
function paintHatch(context, { mask }, { left, top, cell, row, col }, rows, cols, theme) {
  context.save();
  context.beginPath();
  for (let query = rows.begin; query < rows.end; query++) {
    for (let key = cols.begin; key < cols.end; key++) {
      const begin = key;
      while (key < cols.end && !mask.sees(query, key)) {
        key++;
      }
      if (key > begin) {
        context.rect(left + (begin - col) * cell, top + (query - row) * cell, (key - begin) * cell, cell);
      }
    }
  }
  context.clip();
  context.beginPath();
  const right = left + (cols.end - col) * cell;
  const bottom = top + (rows.end - row) * cell;
  for (let x = left - (bottom - top); x < right; x += 6) {
    context.moveTo(x, bottom);
    context.lineTo(x + bottom - top, top);
  }
  context.strokeStyle = theme.hatch;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shown} shown
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {import("./colors.js").Shade} shade
 * @param {Theme} theme
 */
function paintNumbers(context, { matrix, mask }, layout, shade, theme) {
  const { left, top, cell, row, col } = layout;
  // A number that is cut off would be another number.
  const rows = whollyInView(row, layout.plotHeight, cell, matrix.rows);
  const cols = whollyInView(col, layout.plotWidth, cell, matrix.cols);
  context.font = `${Math.min(13, cell * 0.3)}px ${theme.mono}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const largest = shade.kind === "row-max" ? matrix.rowLargest() : null;
  for (let query = rows.begin; query < rows.end; query++) {
    for (let key = cols.begin; key < cols.end; key++) {
      if (mask.sees(query, key)) {
        const value = matrix.at(query, key);
        const index = shade.index(largest && largest[query] > 0 ? value / largest[query] : value);
        context.fillStyle = shade.inks[index];
        context.fillText(cellText(value), left + (key - col + 0.5) * cell, top + (query - row + 0.5) * cell);
      }
    }
  }
}

/** @param {number} value */
function cellText(value) {
  return Math.abs(value) < 100 ? value.toFixed(2) : numberText(value);
}

/**
 * A label cut to fit, with an ellipsis.
 * @param {CanvasRenderingContext2D} context
 * @param {string} label
 * @param {number} room
 */
export function cutLabel(context, label, room) {
  if (context.measureText(label).width <= room) {
    return isolated(label);
  }
  const signs = [...label];
  while (signs.length > 1 && context.measureText(`${signs.join("")}…`).width > room) {
    signs.length = Math.min(signs.length - 1, Math.ceil(signs.length * 0.9));
  }
  return isolated(`${signs.join("")}…`);
}

/**
 * "The 100" where not every token has a label: else twelve of them could all be "The".
 * @param {CanvasRenderingContext2D} context
 * @param {Unit} unit
 * @param {boolean} isIndexed
 * @param {number} room
 */
function indexedLabel(context, unit, isIndexed, room) {
  const index = isIndexed ? ` ${unitPlace(unit)}` : "";
  return cutLabel(context, unit.label, room - context.measureText(index).width) + index;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shown} shown
 * @param {Axes} axes
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {{begin: number, end: number}} rows
 * @param {{begin: number, end: number}} cols
 * @param {Theme} theme
 */
function paintLabels(context, shown, axes, layout, rows, cols, theme) {
  context.font = `${LABEL_SIZE}px ${theme.mono}`;
  for (const row of labelled(rows, layout.cell, ROW_LABEL_STEP)) {
    paintRowLabel(context, shown.queries[row], row, layout, theme.text);
  }
  for (const col of labelled(cols, layout.cell, COLUMN_LABEL_STEP)) {
    paintColumnLabel(context, shown.keys[col], col, layout, theme.text);
  }
  context.fillStyle = theme.quiet;
  context.font = titleFont(theme);
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const { left, top, plotWidth, plotHeight, width, height } = layout;
  context.fillText(axes.key, titleMiddle(context, axes.key, left + plotWidth / 2, AXIS_TITLE, width - 1), height - 3);
  context.save();
  context.translate(10, titleMiddle(context, axes.query, top + plotHeight / 2, 0, height - AXIS_TITLE));
  context.rotate(-Math.PI / 2);
  context.fillText(axes.query, 0, 0);
  context.restore();
}

/**
 * Where the middle of a title is: that of the cells, unless these are so few that the title is longer.
 * @param {CanvasRenderingContext2D} context
 * @param {string} title
 * @param {number} wanted
 * @param {number} low   it may not begin before this, nor
 * @param {number} high  end after this
 */
function titleMiddle(context, title, wanted, low, high) {
  const half = context.measureText(title).width / 2;
  return clamp(wanted, low + half, high - half);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Unit} unit
 * @param {number} row
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {string} color
 */
export function paintRowLabel(context, unit, row, layout, color) {
  const y = layout.top + (row - layout.row + 0.5) * layout.cell;
  if (y < layout.top || y > layout.top + layout.plotHeight) {
    return;
  }
  context.fillStyle = color;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const label = indexedLabel(context, unit, isThinned(layout.cell, ROW_LABEL_STEP), layout.labelWidth);
  context.fillText(label, layout.left - 5, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Unit} unit
 * @param {number} col
 * @param {import("./heat_layout.js").HeatLayout} layout
 * @param {string} color
 */
export function paintColumnLabel(context, unit, col, layout, color) {
  const x = layout.left + (col - layout.col + 0.5) * layout.cell;
  if (x < layout.left || x > layout.left + layout.plotWidth) {
    return;
  }
  context.save();
  context.translate(x + 2, layout.top + layout.plotHeight + 6);
  context.rotate(-Math.PI / 4);
  context.fillStyle = color;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const room = (layout.labelHeight - 6) / Math.SQRT1_2 - 8;
  context.fillText(indexedLabel(context, unit, isThinned(layout.cell, COLUMN_LABEL_STEP), room), 0, 0);
  context.restore();
}
