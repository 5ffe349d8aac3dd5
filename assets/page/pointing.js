// What the pointer, or the keyboard's cursor, is at. Every view is notified once a frame. Apart from the state because
// it changes with every move.
import { eachFrame, isolated, numberText } from "./dom.js";
import { wordsFor } from "./words.js";

/** @type {Hover} */
export const NOWHERE = { panel: 0, query: -1, key: -1 };

export class Pointing {
  constructor() {
    this.at = NOWHERE;
    /** @type {((at: Hover) => void)[]} */
    this.listeners = [];
    this.notify = eachFrame(() => this.listeners.forEach((listener) => listener(this.at)));
  }

  /** @param {(at: Hover) => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** @param {Hover} at */
  set(at) {
    const { panel, query, key } = this.at;
    if (at.panel !== panel || at.query !== query || at.key !== key) {
      this.at = at;
      this.notify();
    }
  }

  /** What is picked away from the views is shown, not what a cursor was left at. */
  clear() {
    this.set(NOWHERE);
  }

  /**
   * A cursor ends where its view loses the keyboard, but not when the whole window does.
   * @param {HTMLElement} view
   */
  clearOnLeaving(view) {
    view.addEventListener("blur", () => {
      if (document.activeElement !== view) {
        this.clear();
      }
    });
  }

  /**
   * Stays at the last row or column where the one that it was at is gone.
   * @param {Shown} shown
   */
  keepWithin({ queries, keys }) {
    const { panel, query, key } = this.at;
    this.set({ panel, query: Math.min(query, queries.length - 1), key: Math.min(key, keys.length - 1) });
  }
}

/**
 * The rows (or, with state.asKey, columns) whose weights the token views show: under the pointer, else picked.
 * @param {Hover} at
 * @param {State} state
 * @param {number[]} picked
 */
export function pointedUnits(at, state, picked) {
  const under = state.asKey ? at.key : at.query;
  return under >= 0 ? [under] : picked;
}

/**
 * One cell in words: "␣sat looks at ␣cat: 0.063".
 * @param {Shown} shown
 * @param {Hover} at
 * @param {import("./words.js").Words} words
 */
export function cellSentence({ matrix, mask, queries, keys }, { query, key }, words) {
  const named = (/** @type {Unit | undefined} */ unit) => (unit ? `“${isolated(unit.label)}”` : "");
  const from = named(queries[query]);
  const to = named(keys[key]);
  if (from === "" || to === "") {
    return from + to;
  }
  return mask.sees(query, key)
    ? `${from} → ${to}: ${numberText(matrix.at(query, key), matrix.errorAt(query, key))}`
    : `${from} → ${to}: ${words.hidden}`;
}

/**
 * The same for screen readers.
 * @param {Shown} shown
 * @param {Hover} at
 * @param {Drawing} drawing
 */
export function spokenCell(shown, at, drawing) {
  const words = wordsFor(drawing);
  const verb = drawing.zero_centred ? " changes its attention to " : ` ${words.does.join(" ")} `;
  return `row ${at.query + 1}, column ${at.key + 1}: ${cellSentence(shown, at, words).replace(" → ", verb)}`;
}
