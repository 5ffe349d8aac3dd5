// Reads the file of a model's weights: named tables of numbers, in half precision.
// The format: https://huggingface.co/docs/safetensors (8 bytes with the size of a JSON header, the
// header, then all numbers, little endian).

/**
 * @typedef {{shape: number[], data: Float32Array}} Tensor  numbers row by row
 * @typedef {{dtype: string, shape: number[], data_offsets: [number, number]}} TensorEntry
 */

/**
 * The values of all half-precision numbers, by their 16 bits. A million weights are looked up
 * faster than they are computed.
 * IEEE 754, binary16: 1 bit of sign, 5 of exponent, 10 of fraction.
 * @returns {Float32Array} [65536]
 */
function halfPrecisionValues() {
  const values = new Float32Array(65536);
  for (let bits = 0; bits < 32768; ++bits) {
    const exponent = bits >> 10;
    const fraction = bits & 1023;
    let value;
    if (exponent === 31) {
      value = fraction === 0 ? Infinity : NaN;
    } else if (exponent === 0) {
      value = fraction * 2 ** -24;  // subnormal: no leading one
    } else {
      value = (1024 + fraction) * 2 ** (exponent - 25);
    }
    values[bits] = value;
    values[bits + 32768] = -value;
  }
  return values;
}

/**
 * @param {ArrayBuffer} file
 * @returns {{header: Record<string, any>, numbersBegin: number}}
 */
function readTensorHeader(file) {
  const sizeBytes = 8;
  if (file.byteLength < sizeBytes) {
    throw new Error("weights: not a safetensors file: it has fewer than 8 bytes");
  }
  const headerSize = Number(new DataView(file).getBigUint64(0, true));
  const numbersBegin = sizeBytes + headerSize;
  if (numbersBegin > file.byteLength) {
    throw new Error("weights: not a safetensors file: the header is longer than the file");
  }
  const text = new TextDecoder().decode(new Uint8Array(file, sizeBytes, headerSize));
  return { header: JSON.parse(text), numbersBegin };
}

/**
 * All tensors of a file, in single precision.
 * @param {ArrayBuffer} file
 * @returns {Map<string, Tensor>}
 */
export function readSafetensors(file) {
  const { header, numbersBegin } = readTensorHeader(file);
  const values = halfPrecisionValues();
  /** @type {Map<string, Tensor>} */
  const tensors = new Map();
  for (const [name, stored] of Object.entries(header)) {
    if (name === "__metadata__") {
      continue;
    }
    const entry = /** @type {TensorEntry} */ (stored);
    if (entry.dtype !== "F16") {
      throw new Error(`weights: ${name}: expected F16, found ${entry.dtype}`);
    }
    const [begin, end] = entry.data_offsets;
    if (numbersBegin + end > file.byteLength) {
      throw new Error(`weights: ${name}: the file ends before it does`);
    }
    // A copy, which begins where 16-bit numbers may; every browser's machine is little endian.
    const halves = new Uint16Array(file.slice(numbersBegin + begin, numbersBegin + end));
    const data = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; ++i) {
      data[i] = values[halves[i]];
    }
    tensors.set(name, { shape: entry.shape, data });
  }
  return tensors;
}
