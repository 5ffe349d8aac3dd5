// Search, direction and folding above the two token views.
import { announce, make } from "./dom.js";
import { directionSwitch } from "./controls.js";

export class TokenPanel {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./pointing.js").Pointing} pointing
   */
  constructor(store, pointing) {
    this.store = store;
    this.pointing = pointing;
    this.direction = directionSwitch(store);
    this.search = make("input", {
      type: "search",
      placeholder: "find a token ( / )",
      "aria-label": "find a token",
      spellcheck: "false",
      input: () => this.find(0),
      keydown: (/** @type {KeyboardEvent} */ event) => this.press(event),
    });
    this.found = make("span", { class: "quiet" });
    this.several = make("button", {
      type: "button",
      text: "pick several",
      "aria-pressed": "false",
      click: () => {
        store.several = !store.several;
        this.several.setAttribute("aria-pressed", String(store.several));
      },
    });
    this.fold = make("button", {
      type: "button",
      text: "fold picked tokens",
      title: "group the tokens from the first picked one to the last",
      click: () => this.foldPicked(),
    });
    this.unfold = make("button", { type: "button", text: "unfold", click: () => this.set({ folds: [] }) });
    this.element = make(
      "div",
      { class: "token-tools" },
      this.direction.element,
      this.search,
      this.found,
      this.several,
      this.fold,
      this.unfold,
    );
    this.place = -1;
    this.refresh();
  }

  refresh() {
    const { picks, folds } = this.store.state;
    this.direction.refresh();
    this.fold.hidden = this.store.data.keys !== null || picks.length < 2;
    this.unfold.hidden = folds.length === 0;
    this.found.textContent = this.foundText();
  }

  /**
   * Rows and columns may become others, and what is picked is to be seen: nothing stays pointed at.
   * @param {Partial<State>} changes
   */
  set(changes) {
    this.pointing.clear();
    this.store.set(changes);
  }

  /** Which of the matches is picked; nothing where other tokens are. */
  foundText() {
    const { picks } = this.store.state;
    const matches = this.matches();
    if (matches.length === 0) {
      return this.search.value === "" ? "" : "not found";
    }
    const [place] = picks.map((token) => matches.indexOf(token));
    if (picks.length === 1 && place >= 0) {
      return `${place + 1} of ${matches.length}`;
    }
    return picks.join() === matches.join() ? `${matches.length} picked` : "";
  }

  /** Tokens with the text that is searched. */
  matches() {
    const { data, state } = this.store;
    const tokens = state.asKey && data.keys ? data.keys : data.queries;
    const wanted = this.search.value.toLocaleLowerCase();
    const holds = (/** @type {string} */ text) => text.toLocaleLowerCase().includes(wanted);
    return wanted === "" ? [] : [...tokens.text.keys()].filter((i) => holds(tokens.text[i]) || holds(tokens.label[i]));
  }

  /**
   * Picks the match after the one that is picked, or was last.
   * @param {number} step  0: the first one
   */
  find(step) {
    const matches = this.matches();
    const picked = matches.indexOf(this.store.state.picks[0]);
    const from = picked >= 0 ? picked : this.place;
    this.place = step === 0 ? 0 : (from + step + matches.length) % Math.max(1, matches.length);
    if (matches.length > 0) {
      this.set({ picks: [matches[this.place]] });
    }
    this.announceFound();
  }

  /** Announces it at once: a view is drawn only when its patterns are there. */
  announceFound() {
    this.found.textContent = this.foundText();
    announce(this.found.textContent);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Enter" && event.altKey) {
      this.set({ picks: this.matches() });
      this.announceFound();
    } else if (event.key === "Enter") {
      this.find(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      this.search.value = "";
      this.found.textContent = "";
      this.search.blur();
    }
  }

  foldPicked() {
    const { picks, folds } = this.store.state;
    const begin = Math.min(...picks);
    const end = Math.max(...picks) + 1;
    const apart = folds.filter(([from, to]) => to <= begin || from >= end);
    this.set({
      folds: /** @type {[number, number][]} */ ([...apart, [begin, end]]).sort((a, b) => a[0] - b[0]),
      picks: [begin],
    });
  }
}
