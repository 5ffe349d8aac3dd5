// Patterns made from the stored ones: means over heads, tokens taken together, the first key left out.
import { Matrix, Mask } from "./matrix.js";

/**
 * The mean of patterns of one shape.
 * @param {Matrix[]} matrices
 */
export function meanMatrix(matrices) {
  const [{ rows, cols }] = matrices;
  if (matrices.length === 1) {
    return matrices[0];
  }
  const values = new Float32Array(rows * cols);
  const sums = new Float64Array(cols);
  const row = new Float32Array(cols);
  for (let query = 0; query < rows; query++) {
    sums.fill(0);
    for (const matrix of matrices) {
      matrix.readRow(query, row);
      for (let key = 0; key < cols; key++) {
        sums[key] += row[key];
      }
    }
    for (let key = 0; key < cols; key++) {
      values[query * cols + key] = sums[key] / matrices.length;
    }
  }
  return new Matrix({ rows, cols, values, error: largestError(matrices) });
}

/**
 * The mean of values is not further from the true one than the least exact of them would be: errors grow ever more
 * slowly with the values.
 * @param {Matrix[]} matrices
 * @returns {import("./matrix.js").ErrorOf | null}
 */
function largestError(matrices) {
  const errors = matrices.flatMap(({ error }) => error ?? []);
  return errors.length > 0 ? (value) => Math.max(...errors.map((error) => error(value))) : null;
}

/**
 * For a mean: a query sees a key where it does in any of the patterns.
 * @param {Mask[]} masks  of one shape, each once
 */
export function unionMask(masks) {
  const [first] = masks;
  const widest = masks.length === 1 ? first : masks.find((mask) => mask.hidesNothing);
  if (widest) {
    return widest;
  }
  const { rows, cols } = first;
  const bits = new Uint8Array(Math.ceil((rows * cols) / 8));
  for (let query = 0, bit = 0; query < rows; query++) {
    for (let key = 0; key < cols; key++, bit++) {
      bits[bit >> 3] |= Number(masks.some((mask) => mask.sees(query, key))) << (bit & 7);
    }
  }
  return new Mask(rows, cols, bits, false);
}

/**
 * The weight that a unit puts on another: the sum over the keys of the other, averaged over its own queries. Rows that
 * sum to 1 still do (Clark et al. 2019, section 4).
 * @param {Matrix} matrix
 * @param {Unit[]} queries
 * @param {Unit[]} keys
 */
export function mergedMatrix(matrix, queries, keys) {
  const values = new Float32Array(queries.length * keys.length);
  const sums = new Float64Array(keys.length);
  const row = new Float32Array(matrix.cols);
  queries.forEach((unit, place) => {
    sums.fill(0);
    for (let query = unit.begin; query < unit.end; query++) {
      matrix.readRow(query, row);
      keys.forEach(({ begin, end }, key) => {
        for (let i = begin; i < end; i++) {
          sums[key] += row[i];
        }
      });
    }
    sums.forEach((sum, key) => {
      values[place * keys.length + key] = sum / (unit.end - unit.begin);
    });
  });
  const { error } = matrix;
  const most = Math.max(...keys.map(({ begin, end }) => end - begin));
  return new Matrix({
    rows: queries.length,
    cols: keys.length,
    values,
    error: error && ((value) => most * error(value / most)),
  });
}

/**
 * A unit sees another where any of its tokens sees any of the other's.
 * @param {Mask} mask
 * @param {Unit[]} queries
 * @param {Unit[]} keys
 */
export function mergedMask(mask, queries, keys) {
  if (mask.hidesNothing) {
    return new Mask(queries.length, keys.length, null, false);
  }
  const bits = new Uint8Array(Math.ceil((queries.length * keys.length) / 8));
  queries.forEach((unit, row) =>
    keys.forEach((other, col) => {
      const bit = row * keys.length + col;
      let seen = false;
      for (let query = unit.begin; query < unit.end && !seen; query++) {
        for (let key = other.begin; key < other.end && !seen; key++) {
          seen = mask.sees(query, key);
        }
      }
      bits[bit >> 3] |= Number(seen) << (bit & 7);
    }),
  );
  return new Mask(queries.length, keys.length, bits, false);
}

/**
 * Without the first key, on which many heads rest when nothing else fits (Xiao et al. 2024); the rest of each row is
 * divided by its sum.
 * @param {Shown} shown
 * @param {number} dropped  1 where the first query goes, too, because it sees nothing else; else 0
 * @returns {Shown}
 */
export function withoutFirstKey({ matrix, mask, queries, keys }, dropped) {
  const seen = mask.without(dropped, 1);
  const row = new Float32Array(matrix.cols);
  const sums = Float64Array.from({ length: seen.rows }, (_, query) => {
    matrix.readRow(query + dropped, row);
    return row.subarray(1).reduce((sum, value) => sum + value, 0);
  });
  const { values, table, triangle, stride, top, left, error } = matrix;
  const rest = new Matrix({
    rows: seen.rows,
    cols: seen.cols,
    values,
    table,
    triangle,
    stride,
    top: top + dropped,
    left: left + 1,
    sums,
    error,
  });
  return { matrix: rest, mask: seen, queries: queries.slice(dropped), keys: keys.slice(1) };
}

/**
 * Adds up the rows (or columns) of picked units: where they look, or who looks at them.
 * @param {Shown} shown
 * @param {number[]} picked  rows, or columns when `asKey`
 * @param {boolean} asKey
 */
export function pickedSums({ matrix }, picked, asKey) {
  const sums = new Float32Array(asKey ? matrix.rows : matrix.cols);
  if (asKey) {
    for (let query = 0; query < matrix.rows; query++) {
      for (const key of picked) {
        sums[query] += matrix.at(query, key);
      }
    }
    return sums;
  }
  const row = new Float32Array(matrix.cols);
  for (const query of picked) {
    matrix.readRow(query, row);
    for (let key = 0; key < sums.length; key++) {
      sums[key] += row[key];
    }
  }
  return sums;
}

/**
 * How far this sum may be from the true one.
 * @param {Shown} shown
 * @param {number[]} picked
 * @param {boolean} asKey
 * @param {number} place  of the sum
 */
export function pickedError({ matrix }, picked, asKey, place) {
  return picked.reduce((sum, pick) => sum + (asKey ? matrix.errorAt(place, pick) : matrix.errorAt(pick, place)), 0);
}

/**
 * The places of the few largest values, the largest first; NaN is none of them. Without sorting all: this is done with
 * every move of the pointer.
 * @param {Float32Array} values
 * @param {number} count
 */
export function largestPlaces(values, count) {
  /** @type {number[]} */
  const places = [];
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (value === value && (places.length < count || value > values[places[count - 1]])) {
      const at = places.findIndex((other) => value > values[other]);
      places.splice(at < 0 ? places.length : at, 0, place);
      places.length = Math.min(places.length, count);
    }
  }
  return places;
}
