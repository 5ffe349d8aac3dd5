// Cells for a picture: one for each weight, or where there is no room the largest of a block, as the program pools.

/**
 * @typedef {object} Cells  of the rows from `row` and the columns from `col`, in blocks of `block` x `block` weights
 * @property {number} row
 * @property {number} col
 * @property {number} rows
 * @property {number} cols
 * @property {number} block
 * @property {Float32Array} values   what the colour scale is asked for; NaN where a visible weight is
 * @property {Uint8Array} visible    whether anything visible lies under the cell
 */

/**
 * `row` and `col` are multiples of `block`; [row, endRow) x [col, endCol) is what is wanted.
 * @param {Shown} shown
 * @param {{row: number, endRow: number, col: number, endCol: number}} region
 * @param {number} block
 * @param {Float32Array | null} largest  of each row: values become shares of it
 * @returns {Cells}
 */
export function pooledCells({ matrix, mask }, { row, endRow, col, endCol }, block, largest) {
  const rows = Math.ceil((endRow - row) / block);
  const cols = Math.ceil((endCol - col) / block);
  const values = new Float32Array(rows * cols).fill(-Infinity);
  const visible = new Uint8Array(rows * cols);
  const weights = new Float32Array(endCol - col);
  for (let query = row; query < endRow; query++) {
    matrix.readRow(query, weights, col, endCol);
    if (largest && largest[query] > 0) {
      for (let i = 0; i < weights.length; i++) {
        weights[i] /= largest[query];
      }
    }
    const start = Math.floor((query - row) / block) * cols;
    // Without bits of its own a mask shows a row up to one place, so that nothing needs to be asked for each key.
    const { bits } = mask;
    const end = !bits && mask.triangle ? Math.min(endCol, query + mask.top - mask.left + 1) - col : weights.length;
    for (let i = 0, cell = start, left = block; i < end; i++) {
      if (!bits || mask.sees(query, col + i)) {
        visible[cell] = 1;
        const value = weights[i];
        // NaN stays: nothing is above it.
        if (value > values[cell] || value !== value) {
          values[cell] = value;
        }
      }
      if (--left === 0) {
        left = block;
        cell++;
      }
    }
  }
  return { row, col, rows, cols, block, values, visible };
}

/**
 * The cells' colours, one pixel each.
 * @param {Cells} cells
 * @param {import("./colors.js").Shade} shade
 * @param {string | null} masked  colour of cells that do not exist, "#rrggbb"; null: none
 */
export function cellImage({ rows, cols, values, visible }, shade, masked) {
  const image = new ImageData(cols, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const hidden = masked
    ? (0xff000000 |
        (parseInt(masked.slice(5, 7), 16) << 16) |
        (parseInt(masked.slice(3, 5), 16) << 8) |
        parseInt(masked.slice(1, 3), 16)) >>>
      0
    : 0;
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = visible[i] ? shade.pixels[shade.index(values[i])] : hidden;
  }
  return image;
}

/**
 * An image as a canvas, which can be drawn at any size.
 * @param {ImageData} image
 */
export function imageCanvas(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
  return canvas;
}

/**
 * How `size` weights fit into `pixels`: the finest blocks, and how many pixels each gets.
 * @param {number} size
 * @param {number} pixels
 */
export function fittingBlock(size, pixels) {
  const block = Math.max(1, Math.ceil(size / Math.max(1, pixels)));
  return { block, pixelsPerBlock: Math.max(1, Math.floor(pixels / Math.ceil(size / block))) };
}
