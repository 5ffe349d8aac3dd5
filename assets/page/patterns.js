// Which patterns the state asks for, made from the page's data; the last few are kept.
import { Mask, exactnessText, unpackedMatrix } from "./matrix.js";
import { meanMatrix, mergedMask, mergedMatrix, unionMask, withoutFirstKey } from "./derive.js";
import { unitsOf } from "./units.js";

const PANELS_KEPT = 8;

/**
 * "L2H1", or what a document calls it.
 * @param {Head} head
 */
export function headTitle(head) {
  return head.title || `L${head.layer}H${head.head}`;
}

/**
 * The document that small pictures and scores belong to: the first of several side by side.
 * @param {PageData} data
 * @param {State} state
 */
export function firstDocument(data, state) {
  return data.documents[Math.max(0, state.document)];
}

/**
 * The heads that are averaged when `head` is chosen; only itself when nothing is.
 * @param {State} state
 * @param {Head[]} heads
 * @param {number} head
 */
export function averagedHeads(state, heads, head) {
  const all = heads.map((_, place) => place);
  switch (state.average) {
    case "heads":
      return all.filter((place) => heads[place].layer === heads[head].layer);
    case "layers":
      return all.filter((place) => heads[place].head === heads[head].head);
    case "all":
      return all;
    case "chosen":
      return state.heads.length > 0 ? state.heads : [head];
    default:
      return [head];
  }
}

/**
 * Whether the mean is the same whichever head is chosen: then nothing can be shown beside it.
 * @param {State} state
 */
export function isOneMean({ average }) {
  return average === "all" || average === "chosen";
}

/**
 * The head that is shown beside the chosen one, or -1.
 * @param {State} state
 */
export function headBeside(state) {
  return isOneMean(state) || state.compare === state.head ? -1 : state.compare;
}

/**
 * @param {State} state
 * @param {Head[]} heads
 * @param {number} head
 */
function averageTitle(state, heads, head) {
  const { layer, head: number } = heads[head];
  const count = averagedHeads(state, heads, head).length;
  switch (state.average) {
    case "heads":
      return `L${layer}, average of ${count} heads`;
    case "layers":
      return `H${number}, average of ${count} layers`;
    case "all":
      return `average of all ${count} heads`;
    case "chosen":
      return count > 1 ? `average of ${count} chosen heads` : headTitle(heads[averagedHeads(state, heads, head)[0]]);
    default:
      return headTitle(heads[head]);
  }
}

export class Patterns {
  /**
   * @param {PageData} data
   * @param {import("./blobs.js").Blobs} blobs
   */
  constructor(data, blobs) {
    this.data = data;
    this.blobs = blobs;
    /** @type {Map<string, Promise<Panel>>} */
    this.kept = new Map();
  }

  /** @param {PageData} data */
  replaceData(data) {
    this.data = data;
    this.kept.clear();
  }

  /** @param {number | null} place  see Head.mask */
  async mask(place) {
    const [rows, cols] = this.data.shape;
    if (place === null) {
      return new Mask(rows, cols, null, false);
    }
    const bits = await this.blobs.get(this.data.masks[place].blob);
    const triangle = isTriangle(bits, rows, cols);
    return new Mask(rows, cols, triangle ? null : bits, triangle);
  }

  /**
   * Whether the first query sees only the first key, in every document: without that key it would be an empty row.
   * @param {Unit[]} queries
   * @param {Unit[]} keys
   */
  async firstIsEmpty(queries, keys) {
    const places = new Set(this.data.documents.flatMap((document) => document.heads.map((head) => head.mask)));
    const masks = await Promise.all([...places].map((place) => this.mask(place)));
    return (
      queries.length > 1 &&
      masks.every((mask) => {
        for (let query = 0; query < queries[0].end; query++) {
          for (let key = keys[1].begin; key < mask.cols; key++) {
            if (mask.sees(query, key)) {
              return false;
            }
          }
        }
        return true;
      })
    );
  }

  /**
   * One pattern: the mean of these heads of a document, as the state wants it merged and cut.
   * @param {State} state
   * @param {number} document
   * @param {number[]} places
   * @param {boolean} exact  from exact numbers where the page has them
   * @returns {Promise<Shown>}
   */
  async shown(state, document, places, exact) {
    const { data } = this;
    const heads = places.map((place) => data.documents[document].heads[place]);
    const matrices = await Promise.all(
      heads.map(async (head) => {
        const packed = (exact && head.exact) || head.weights;
        return unpackedMatrix(packed, await this.blobs.get(packed.blob), data.shape, data.triangle);
      }),
    );
    const queries = unitsOf(data.queries, state.units, state.folds, data.text);
    const keys = data.keys ? unitsOf(data.keys, state.units, [], null) : queries;
    let matrix = meanMatrix(matrices);
    const masks = new Set(heads.map((head) => head.mask));
    let mask = unionMask(await Promise.all([...masks].map((place) => this.mask(place))));
    if (queries.length < matrix.rows || keys.length < matrix.cols) {
      matrix = mergedMatrix(matrix, queries, keys);
      mask = mergedMask(mask, queries, keys);
    }
    const shown = { matrix, mask, queries, keys };
    if (!state.dropSink || keys.length < 2) {
      return shown;
    }
    return withoutFirstKey(shown, Number(await this.firstIsEmpty(queries, keys)));
  }

  /**
   * @param {State} state
   * @param {number} document
   * @param {number} head
   * @returns {Promise<Panel>}
   */
  panel(state, document, head) {
    const { heads } = this.data.documents[document];
    const places = averagedHeads(state, heads, head);
    const key = JSON.stringify([document, places, state.units, state.folds, state.dropSink]);
    let panel = this.kept.get(key);
    if (!panel) {
      const { query_axis, key_axis } = this.data.drawing;
      const name = this.data.documents[document].name;
      const title = averageTitle(state, heads, head) + (name && `, ${name}`);
      const high = Math.max(...places.map((place) => heads[place].weights.high));
      panel = this.shown(state, document, places, true).then((shown) => {
        const made = places.length > 1 || shown.queries.some(({ begin, end }) => end - begin > 1) || state.dropSink;
        const axes = { query: query_axis, key: key_axis };
        return { title, axes, exactness: exactnessText(shown.matrix, high, made), shown };
      });
      this.kept.set(key, panel);
      if (this.kept.size > PANELS_KEPT) {
        this.kept.delete([...this.kept.keys()][0]);
      }
    }
    return panel;
  }

  /**
   * The panels that are side by side.
   * @param {State} state
   */
  panels(state) {
    const documents = state.document < 0 ? this.data.documents.map((_, i) => i) : [state.document];
    const beside = headBeside(state);
    const heads = beside < 0 ? [state.head] : [state.head, beside];
    return Promise.all(documents.flatMap((document) => heads.map((head) => this.panel(state, document, head))));
  }
}

/** @type {WeakMap<Uint8Array, boolean>} */
const triangles = new WeakMap();

/**
 * Whether a mask is the usual causal one, which needs no bits.
 * @param {Uint8Array} bits
 * @param {number} rows
 * @param {number} cols
 */
function isTriangle(bits, rows, cols) {
  let is = triangles.get(bits);
  if (is === undefined) {
    const mask = new Mask(rows, cols, bits, false);
    is = rows === cols;
    for (let query = 0; query < rows && is; query++) {
      for (let key = 0; key < cols && is; key++) {
        is = mask.sees(query, key) === key <= query;
      }
    }
    triangles.set(bits, is);
  }
  return is;
}
