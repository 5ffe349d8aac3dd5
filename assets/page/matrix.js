// Attention weights as they lie in the page: packed codes that a table turns into numbers, and who may see whom.

/** A matrix [rows, cols]: a window into stored values, perhaps with each row divided by a sum. */
export class Matrix {
  /**
   * @param {object} parts
   * @param {number} parts.rows
   * @param {number} parts.cols
   * @param {Uint8Array | Uint16Array | Float32Array} parts.values
   * @param {Float32Array | null} [parts.table]  what each code stands for; null: values are numbers
   * @param {boolean} [parts.triangle]           only keys up to the query are stored, others are 0
   * @param {number} [parts.stride]              stored keys a row
   * @param {number} [parts.top]                 stored rows left out above, and
   * @param {number} [parts.left]                columns on the left
   * @param {Float64Array | null} [parts.sums]   each row is divided by its own; by 0 gives 0
   * @param {ErrorOf | null} [parts.error]       of the values before they are divided; null: they are exact
   */
  constructor({
    rows,
    cols,
    values,
    table = null,
    triangle = false,
    stride = cols,
    top = 0,
    left = 0,
    sums = null,
    error = null,
  }) {
    this.rows = rows;
    this.cols = cols;
    this.values = values;
    this.table = table;
    this.triangle = triangle;
    this.stride = stride;
    this.top = top;
    this.left = left;
    this.sums = sums;
    this.error = error;
  }

  /**
   * How far the value of a cell may be from the true one.
   * @param {number} query
   * @param {number} key
   */
  errorAt(query, key) {
    if (!this.error) {
      return 0;
    }
    const value = Math.abs(this.at(query, key));
    if (!this.sums) {
      return this.error(value);
    }
    // The sum that the row is divided by is as uncertain as all of its values together.
    const sum = this.sums[query];
    const sumError = this.cols * this.error(sum / this.cols);
    return sum > sumError ? Math.min(1, (this.error(value * sum) + value * sumError) / (sum - sumError)) : 1;
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  at(query, key) {
    const row = query + this.top;
    const col = key + this.left;
    if (this.triangle && col > row) {
      return 0;
    }
    const value = this.values[(this.triangle ? (row * (row + 1)) / 2 : row * this.stride) + col];
    return this.divided(this.table ? this.table[value] : value, query);
  }

  /**
   * @param {number} value
   * @param {number} query
   */
  divided(value, query) {
    if (!this.sums) {
      return value;
    }
    const sum = this.sums[query];
    return sum === 0 ? 0 : Math.fround(value / sum);
  }

  /**
   * Writes a row, or its part [from, to), into `out` from place 0.
   * @param {number} query
   * @param {Float32Array} out
   * @param {number} [from]
   * @param {number} [to]
   */
  readRow(query, out, from = 0, to = this.cols) {
    const { values, table } = this;
    const row = query + this.top;
    const start = (this.triangle ? (row * (row + 1)) / 2 : row * this.stride) + this.left + from;
    const stored = this.triangle ? Math.min(to, row + 1 - this.left) - from : to - from;
    for (let i = 0; i < stored; i++) {
      out[i] = table ? table[values[start + i]] : values[start + i];
    }
    out.fill(0, Math.max(stored, 0), to - from);
    if (this.sums) {
      for (let i = 0; i < stored; i++) {
        out[i] = this.divided(out[i], query);
      }
    }
  }

  /** The largest value of each row, as the scale "row-max" wants it. */
  rowLargest() {
    const row = new Float32Array(this.cols);
    return Float32Array.from({ length: this.rows }, (_, query) => {
      this.readRow(query, row);
      return row.reduce((a, b) => (b > a ? b : a), 0);
    });
  }
}

/**
 * @param {Packed} packed
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {[number, number]} shape
 * @param {boolean} triangle
 */
export function unpackedMatrix(packed, bytes, [rows, cols], triangle) {
  if (packed.code === "f32") {
    return new Matrix({ rows, cols, triangle, values: new Float32Array(bytes.buffer) });
  }
  const values = packed.code === "u8" ? bytes : joinedHalves(bytes);
  return new Matrix({ rows, cols, triangle, values, table: codeTable(packed), error: codeError(packed) });
}

/**
 * Numbers of 16 bits from all their lower bytes, then all their upper ones.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
function joinedHalves(bytes) {
  const count = bytes.length / 2;
  return Uint16Array.from({ length: count }, (_, i) => bytes[i] | (bytes[count + i] << 8));
}

/**
 * What each code stands for; the last one is NaN.
 * @param {Packed} packed
 */
function codeTable({ code, low, high, curve }) {
  const last = code === "u8" ? 255 : 65535;
  const table = new Float32Array(last + 1);
  for (let i = 0; i < last; i++) {
    const t = i / (last - 1);
    table[i] = low + (curve === "sqrt" ? t * t : t) * (high - low);
  }
  table[last] = NaN;
  return table;
}

/**
 * @callback ErrorOf  how far a value may be from the true one; never less for larger values
 * @param {number} value
 * @returns {number}
 */

/**
 * Half a step from one code to the next. Where codes stand for squares the steps become larger with the values.
 * @param {Packed} packed
 * @returns {ErrorOf}
 */
function codeError({ code, low, high, curve }) {
  const size = high - low;
  const half = 0.5 / ((code === "u8" ? 255 : 65535) - 1);
  return curve === "sqrt"
    ? (value) => size * (2 * Math.sqrt(Math.max(0, value - low) / size) * half + half * half)
    : () => size * half;
}

/**
 * How exact a pattern's numbers are, for readers.
 * @param {Matrix} matrix
 * @param {number} high   the largest that the stored values may be
 * @param {boolean} made  from the stored values, not one of them
 */
export function exactnessText({ error, sums }, high, made) {
  if (!error) {
    return made ? "computed from exact numbers (float32)" : "float32, shown rounded";
  }
  return sums ? "differ in precision: point at a cell" : `± at most ${error(high).toPrecision(2)}`;
}

/** Who may see whom, [rows, cols]. */
export class Mask {
  /**
   * @param {number} rows
   * @param {number} cols
   * @param {Uint8Array | null} bits  row by row, least significant first; null: every key, or with `triangle` those up
   *                                  to the query
   * @param {boolean} triangle
   * @param {number} [stride]
   * @param {number} [top]
   * @param {number} [left]
   */
  constructor(rows, cols, bits, triangle, stride = cols, top = 0, left = 0) {
    this.rows = rows;
    this.cols = cols;
    this.bits = bits;
    this.triangle = triangle;
    this.stride = stride;
    this.top = top;
    this.left = left;
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  sees(query, key) {
    const row = query + this.top;
    const col = key + this.left;
    if (!this.bits) {
      return !this.triangle || col <= row;
    }
    const bit = row * this.stride + col;
    return ((this.bits[bit >> 3] >> (bit & 7)) & 1) === 1;
  }

  get hidesNothing() {
    return !this.bits && !this.triangle;
  }

  /**
   * The same without the first rows and columns.
   * @param {number} top
   * @param {number} left
   */
  without(top, left) {
    return new Mask(
      this.rows - top,
      this.cols - left,
      this.bits,
      this.triangle,
      this.stride,
      this.top + top,
      this.left + left,
    );
  }
}
