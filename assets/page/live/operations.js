// The few operations on rows of numbers that a transformer is made of. Matrices are Float32Arrays,
// row by row: row t of x [n, d] is x[t * d] to x[t * d + d - 1]. Sums are kept in double precision,
// which is what JavaScript computes in anyway.

/**
 * y = x Wᵀ: each row of x times each row of the weights, which are stored as PyTorch's nn.Linear
 * stores them.
 *
 * Four rows of the weights at a time: a number of x is then fetched once for four products, and
 * the four sums do not wait for each other. These 4 rows stay in the fastest cache while all of x
 * passes by. Twice as fast as one row at a time.
 * @param {Float32Array} x        [n, dIn]
 * @param {Float32Array} weights  [dOut, dIn]
 * @param {number} dIn
 * @returns {Float32Array}        [n, dOut]
 */
export function linear(x, weights, dIn) {
  const n = x.length / dIn;
  const dOut = weights.length / dIn;
  const y = new Float32Array(n * dOut);
  const last = dOut - 1;
  for (let row = 0; row < dOut; row += 4) {
    // Where dOut is not a multiple of 4, the last row is computed again.
    const row1 = Math.min(row + 1, last);
    const row2 = Math.min(row + 2, last);
    const row3 = Math.min(row + 3, last);
    const w0 = row * dIn;
    const w1 = row1 * dIn;
    const w2 = row2 * dIn;
    const w3 = row3 * dIn;
    for (let t = 0; t < n; ++t) {
      const from = t * dIn;
      let sum0 = 0;
      let sum1 = 0;
      let sum2 = 0;
      let sum3 = 0;
      for (let i = 0; i < dIn; ++i) {
        const value = x[from + i];
        sum0 += value * weights[w0 + i];
        sum1 += value * weights[w1 + i];
        sum2 += value * weights[w2 + i];
        sum3 += value * weights[w3 + i];
      }
      const to = t * dOut;
      y[to + row] = sum0;
      y[to + row1] = sum1;
      y[to + row2] = sum2;
      y[to + row3] = sum3;
    }
  }
  return y;
}

/**
 * Divides each row by its root mean square, then multiplies each column by its gain:
 * y = x / √(mean(x²) + ε) · gain. Source: Zhang & Sennrich 2019.
 * @param {Float32Array} x     [n, d]
 * @param {Float32Array} gain  [d]
 * @param {number} epsilon     keeps a row of zeros from being divided by zero
 * @returns {Float32Array}     [n, d]
 */
export function rmsNorm(x, gain, epsilon) {
  const d = gain.length;
  const y = new Float32Array(x.length);
  for (let begin = 0; begin < x.length; begin += d) {
    let squares = 0;
    for (let i = 0; i < d; ++i) {
      squares += x[begin + i] * x[begin + i];
    }
    const scale = 1 / Math.sqrt(squares / d + epsilon);
    for (let i = 0; i < d; ++i) {
      y[begin + i] = x[begin + i] * scale * gain[i];
    }
  }
  return y;
}

/**
 * Softmax of numbers [begin, end), in place: eˣ / Σ eˣ. The largest is subtracted first, which
 * changes nothing but keeps eˣ from overflowing.
 * @param {Float32Array} x
 * @param {number} begin
 * @param {number} end
 */
export function softmaxInPlace(x, begin, end) {
  let largest = -Infinity;
  for (let i = begin; i < end; ++i) {
    largest = Math.max(largest, x[i]);
  }
  let sum = 0;
  for (let i = begin; i < end; ++i) {
    x[i] = Math.exp(x[i] - largest);
    sum += x[i];
  }
  for (let i = begin; i < end; ++i) {
    x[i] /= sum;
  }
}

/**
 * x += change
 * @param {Float32Array} x
 * @param {Float32Array} change  as long
 */
export function addInPlace(x, change) {
  for (let i = 0; i < x.length; ++i) {
    x[i] += change[i];
  }
}
