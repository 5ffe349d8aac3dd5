// The switches above the panels.
import { announce, make } from "./dom.js";
import { headTitle, isOneMean } from "./patterns.js";
import { unitKinds } from "./units.js";
import { wordsFor } from "./words.js";

/** @typedef {[value: string, text: string]} Choice */

const UNIT_NAMES = { tokens: "tokens", words: "words", sentences: "sentences", turns: "turns" };

export class Controls {
  /** @param {import("./state.js").Store} store */
  constructor(store) {
    this.store = store;
    const { data } = store;
    const { heads } = data.documents[0];
    /** Each shows its part of the state again. @type {(() => void)[]} */
    this.refreshers = [];
    const several = heads.length > 1;
    const { isAttention, showAbsent } = wordsFor(data.drawing);
    this.element = make("div", { class: "controls", role: "group", "aria-label": "display options" });
    this.element.append(
      this.choice(
        "Colours",
        Object.keys(data.colormaps).flatMap((name) => [
          [name, name],
          [`${name}_r`, `${name}, reversed`],
        ]),
        "colormap",
      ),
      this.choice(
        "Scale",
        [
          ["linear", "linear"],
          ["sqrt", "square root"],
          ["log", "logarithmic"],
          ["row-max", "largest weight of the row"],
        ],
        "scale",
      ),
    );
    const stretch = this.flag("End the colours at the largest weight shown", "stretch");
    stretch.title = "the colour scale ends at the largest visible weight";
    if (unitKinds(data).length > 1) {
      this.element.append(
        this.choice(
          "Rows and columns",
          unitKinds(data).map((kind) => [kind, UNIT_NAMES[kind]]),
          "units",
        ),
      );
    }
    if (several && isAttention) {
      this.element.append(
        this.choice(
          "Average",
          [
            ["", "none"],
            ["heads", "heads of the layer"],
            ["layers", "this head in all layers"],
            ["all", "all heads"],
            ["chosen", "chosen heads …"],
          ],
          "average",
        ),
      );
    }
    if (several) {
      this.element.append(
        this.choice(
          "Compare with",
          [["-1", "none"], ...heads.map((head, place) => /** @type {Choice} */ ([String(place), headTitle(head)]))],
          "compare",
        ),
      );
    }
    if (data.documents.length > 1) {
      this.element.append(
        this.choice(
          "Document",
          [
            ["-1", "side by side"],
            ...data.documents.map(({ name }, place) => /** @type {Choice} */ ([String(place), name])),
          ],
          "document",
        ),
      );
    }
    this.element.append(stretch);
    if (data.shape[1] > 1 && !data.drawing.zero_centred && isAttention) {
      this.element.append(this.flag("Hide the first token", "dropSink"));
    }
    if (data.documents.some((document) => document.heads.some((head) => head.mask !== null))) {
      this.element.append(this.flag(showAbsent, "showMask"));
    }
    this.refresh();
  }

  /**
   * @param {string} label
   * @param {string[][]} choices
   * @param {"colormap" | "scale" | "units" | "average" | "compare" | "document"} name
   */
  choice(label, choices, name) {
    const select = make(
      "select",
      {
        change: () => {
          const isNumber = name === "compare" || name === "document";
          const value = isNumber ? Number(select.value) : select.value;
          const { state } = this.store;
          const first =
            name === "average" && value === "chosen" && state.heads.length === 0 ? { heads: [state.head] } : {};
          this.store.set({ [name]: value, ...first });
          if (value === "chosen") {
            announce("Choose heads in “All heads”.");
          }
        },
      },
      ...choices.map(([value, text]) => make("option", { value, text })),
    );
    this.refreshers.push(() => {
      const { state } = this.store;
      select.disabled = name === "compare" && isOneMean(state);
      select.value = select.disabled ? "-1" : String(state[name]);
    });
    return make("label", {}, make("span", { text: label }), select);
  }

  /**
   * @param {string} label
   * @param {"stretch" | "dropSink" | "showMask"} name
   */
  flag(label, name) {
    const box = make("input", { type: "checkbox", change: () => this.store.set({ [name]: box.checked }) });
    this.refreshers.push(() => (box.checked = this.store.state[name]));
    return make("label", { class: "flag" }, box, make("span", { text: label }));
  }

  refresh() {
    this.refreshers.forEach((refresh) => refresh());
  }
}

/**
 * Two buttons of which one is pressed: which way attention is read.
 * @param {import("./state.js").Store} store
 */
export function directionSwitch(store) {
  const button = (/** @type {string} */ text, /** @type {boolean} */ asKey) =>
    make("button", { type: "button", class: asKey ? "to" : "from", text, click: () => turn(store, asKey) });
  const [from, to] = wordsFor(store.data.drawing).directions;
  const buttons = [button(from, false), button(to, true)];
  const element = make("div", { class: "direction", role: "group", "aria-label": "direction" }, ...buttons);
  const refresh = () =>
    buttons.forEach((one, i) => one.setAttribute("aria-pressed", String(store.state.asKey === (i === 1))));
  refresh();
  return { element, refresh };
}

/**
 * With two texts the picks belong to one of them, so turning the direction picks anew.
 * @param {import("./state.js").Store} store
 * @param {boolean} asKey
 */
export function turn(store, asKey) {
  if (asKey !== store.state.asKey) {
    store.set({ asKey, ...(store.data.keys ? { picks: [0] } : {}) });
    announce(wordsFor(store.data.drawing).directions[asKey ? 1 : 0]);
  }
}
