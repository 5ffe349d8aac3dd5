// The page's binary parts: base64 of raw deflate, unpacked when first asked for.

export class Blobs {
  /** @param {string[]} packed */
  constructor(packed) {
    this.packed = packed;
    /** @type {Map<number, Promise<Uint8Array<ArrayBuffer>>>} */
    this.unpacked = new Map();
    /** @type {Map<number, () => Uint8Array<ArrayBuffer>>} */
    this.made = new Map();
    this.next = packed.length;
  }

  /**
   * @param {number} index
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  get(index) {
    let bytes = this.unpacked.get(index);
    if (!bytes) {
      const make = this.made.get(index);
      bytes = make ? Promise.resolve(make()) : inflate(this.packed[index]);
      this.unpacked.set(index, bytes);
    }
    return bytes;
  }

  /**
   * Takes bytes that are made here when first asked for, such as those of a live model, and gives them a number.
   * @param {() => Uint8Array<ArrayBuffer>} bytes
   */
  put(bytes) {
    this.made.set(this.next, bytes);
    return this.next++;
  }

  /** Forgets the bytes that were put. */
  dropMade() {
    this.made.forEach((_, index) => this.unpacked.delete(index));
    this.made.clear();
  }

  /**
   * @param {number} index
   * @returns {Promise<Float32Array>}
   */
  async floats(index) {
    return new Float32Array((await this.get(index)).buffer);
  }
}

/**
 * @param {string} base64
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function inflate(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
