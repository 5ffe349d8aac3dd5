// Vectors as small strips of coloured fields.

/**
 * A vector as coloured fields: negative numbers in one colour, positive ones in another.
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array | Float64Array} numbers
 * @param {number} begin
 * @param {number} size
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} extent  number of the full colour
 * @param {number} part    all are multiplied by this
 * @param {Theme} theme
 */
export function drawStrip(context, numbers, begin, size, x, y, width, height, extent, part, theme) {
  context.fillStyle = theme.line;
  context.fillRect(x, y + height, width, 1);
  for (let i = 0; i < size; i++) {
    const value = numbers[begin + i] * part;
    // A little steeper than the numbers, so that small ones can be seen, too.
    context.globalAlpha = Math.min(1, Math.abs(value) / (extent || 1)) ** 0.7;
    context.fillStyle = value < 0 ? theme.negativeLine : theme.fromLine;
    context.fillRect(x + (i * width) / size, y, width / size - (width / size > 4 ? 1 : 0), height);
  }
  context.globalAlpha = 1;
}

/**
 * How far from 0 the numbers go.
 * @param {Float32Array | Float64Array} numbers
 */
export function largestSize(numbers) {
  let most = 0;
  numbers.forEach((/** @type {number} */ value) => (most = Math.max(most, Math.abs(value))));
  return most;
}

/**
 * The number that has the full colour: the largest one drawn.
 * @param {import("./steps_math.js").Step} step
 * @param {import("./steps_math.js").Walk} made
 * @param {Float32Array | null} vectors
 * @param {number[]} keys
 * @param {number} size
 */
export function stripExtent(step, made, vectors, keys, size) {
  if (!vectors || step.vectors !== "sum") {
    return vectors ? largestSize(vectors) : 1;
  }
  const parts = keys.map((key) => made.weights[key] * largestSize(vectors.subarray(key * size, (key + 1) * size)));
  return Math.max(...parts, largestSize(made.context));
}
