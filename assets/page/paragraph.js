// The text as a paragraph, each token shaded by the weight between it and what is pointed at or picked.
import { announce, isolated, make, numberText } from "./dom.js";
import { NOWHERE, pointedUnits } from "./pointing.js";
import { largestPlaces, pickedError, pickedSums } from "./derive.js";
import { unitsWith } from "./units.js";
import { wordsFor } from "./words.js";

const STEPS = 48;

/**
 * Backgrounds from none to full.
 * @param {string} color
 * @param {string} background
 */
function ramp(color, background) {
  return Array.from({ length: STEPS + 1 }, (_, i) =>
    i === 0 ? "" : `color-mix(in srgb, ${color} ${Math.round((100 * i) / STEPS)}%, ${background})`,
  );
}

/**
 * @typedef {object} Paragraph  spans of the units of one side
 * @property {HTMLElement} element
 * @property {HTMLSpanElement[]} spans
 * @property {Int8Array} steps  how dark each span is now: negative numbers for negative weights
 * @property {boolean} isKeys
 */

export class TokenText {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./pointing.js").Pointing} pointing
   */
  constructor(store, pointing) {
    this.store = store;
    this.pointing = pointing;
    this.box = make("div", { class: "paragraphs" });
    this.sentence = make("p", { class: "readout" });
    this.element = make("div", {}, this.box, this.sentence);
    /** @type {Paragraph[]} */
    this.paragraphs = [];
    this.cursor = 0;
    this.key = "";
    /** @type {Shown | null} */
    this.shown = null;
    this.box.addEventListener("scroll", () => this.shade(this.pointing.at));
    new ResizeObserver(() => this.shade(this.pointing.at)).observe(this.box);
    pointing.subscribe((at) => this.shade(at));
  }

  /** @param {Scene} scene */
  update(scene) {
    const { data, state, theme } = scene;
    const { shown } = scene.panels[0];
    this.scene = scene;
    this.shown = shown;
    this.from = ramp(theme.from, theme.background);
    this.to = ramp(theme.to, theme.background);
    this.negative = ramp(theme.negative, theme.background);
    const key = JSON.stringify([
      state.units,
      state.folds,
      state.dropSink,
      data.queries.text.length,
      data.text,
      state.asKey,
    ]);
    if (key !== this.key) {
      this.key = key;
      const names = wordsFor(data.drawing).isAttention ? ["Queries", "Keys"] : ["Tokens", "Experts"];
      const sides = data.keys ? [false, true] : [state.asKey];
      this.paragraphs = sides.map((isKeys) =>
        this.paragraph(isKeys ? shown.keys : shown.queries, isKeys, sides.length > 1),
      );
      this.box.replaceChildren(
        ...this.paragraphs.flatMap(({ element, isKeys }) =>
          sides.length > 1 ? [make("h3", { text: isKeys ? names[1] : names[0] }), element] : [element],
        ),
      );
    }
    this.paragraphs.forEach(({ element, spans, steps, isKeys }) => {
      steps.forEach((step, place) => {
        if (step !== 0) {
          spans[place].style.backgroundColor = "";
        }
      });
      steps.fill(0);
      element.querySelectorAll('[aria-selected="true"]').forEach((span) => span.setAttribute("aria-selected", "false"));
      const picked = isKeys === state.asKey ? unitsWith(isKeys ? shown.keys : shown.queries, state.picks) : [];
      picked.forEach((place) => spans[place].setAttribute("aria-selected", "true"));
    });
    this.reveal();
    this.shade(this.pointing.at);
  }

  /** Scrolls the box, but not the page, to what was picked last. */
  reveal() {
    const place = this.firstPicked(this.store.state.asKey);
    const span = this.paragraphs.find(({ isKeys }) => isKeys === this.store.state.asKey)?.spans[place ?? -1];
    const top = span ? span.offsetTop - this.box.scrollTop : 0;
    if (span && (top < 0 || top + span.offsetHeight > this.box.clientHeight)) {
      this.box.scrollTop += top - this.box.clientHeight / 2;
    }
  }

  /**
   * @param {Unit[]} units
   * @param {boolean} isKeys
   * @param {boolean} named
   * @returns {Paragraph}
   */
  paragraph(units, isKeys, named) {
    const side = isKeys ? "key" : "query";
    const spans = units.map((unit, place) =>
      make("span", {
        role: "option",
        id: `${side}-${place}`,
        "data-place": place,
        class: unit.special ? "special" : unit.generated ? "generated" : undefined,
        "aria-selected": "false",
        text: unit.text.replace(/\n/g, "↵\n"),
      }),
    );
    const element = make(
      "div",
      {
        class: "paragraph",
        role: "listbox",
        tabindex: 0,
        dir: "auto",
        "aria-multiselectable": "true",
        "aria-label": named ? `tokens, ${isKeys ? "keys" : "queries"}` : "tokens",
        pointermove: (event) => event.pointerType !== "touch" && this.point(placeOf(event), isKeys),
        pointerleave: () => this.point(-1, isKeys),
        click: (event) => this.pick(placeOf(event), isKeys, event.shiftKey || event.ctrlKey || event.metaKey),
        keydown: (event) => this.press(event, isKeys),
        focus: () => this.moveTo(this.firstPicked(isKeys) ?? this.cursor, isKeys, false),
      },
      ...spans,
    );
    this.pointing.clearOnLeaving(element);
    return { element, spans, steps: new Int8Array(units.length), isKeys };
  }

  /**
   * @param {number} place
   * @param {boolean} isKeys
   */
  point(place, isKeys) {
    const sameText = !this.store.data.keys;
    if (place < 0) {
      this.pointing.clear();
    } else if (sameText || isKeys === this.store.state.asKey) {
      const at = this.aligned(place, isKeys);
      this.pointing.set(this.store.state.asKey ? { ...NOWHERE, key: at } : { ...NOWHERE, query: at });
    }
  }

  /**
   * The place on the side that the state picks from; the paragraph of one text shows that side.
   * @param {number} place
   * @param {boolean} isKeys
   */
  aligned(place, isKeys) {
    return isKeys === this.store.state.asKey ? place : -1;
  }

  /**
   * Picks a token; with two texts the side that it is on then becomes the one that is picked from.
   * @param {number} place
   * @param {boolean} isKeys
   * @param {boolean} more
   */
  pick(place, isKeys, more) {
    const unit = (isKeys ? this.shown?.keys : this.shown?.queries)?.[place];
    if (!unit) {
      return;
    }
    this.cursor = place;
    if (isKeys !== this.store.state.asKey) {
      this.store.set({ asKey: isKeys, picks: [unit.begin] });
    } else {
      this.store.pick(unit.begin, more);
    }
  }

  /**
   * @param {KeyboardEvent} event
   * @param {boolean} isKeys
   */
  press(event, isKeys) {
    const count = this.paragraphs.find((paragraph) => paragraph.isKeys === isKeys)?.spans.length ?? 0;
    const target = /** @type {Element} */ (event.currentTarget);
    const right = getComputedStyle(target).direction === "rtl" ? -1 : 1;
    const moves = /** @type {Record<string, number>} */ ({
      ArrowLeft: -right,
      ArrowUp: -1,
      ArrowRight: right,
      ArrowDown: 1,
      Home: -count,
      End: count,
      PageUp: -10,
      PageDown: 10,
    });
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    if (event.key in moves) {
      this.moveTo(Math.min(Math.max(this.cursor + moves[event.key], 0), count - 1), isKeys, true);
      if (event.shiftKey) {
        this.pick(this.cursor, isKeys, true);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.pick(this.cursor, isKeys, event.key === " ");
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * @param {number} place
   * @param {boolean} isKeys
   * @param {boolean} speaks
   */
  moveTo(place, isKeys, speaks) {
    const paragraph = this.paragraphs.find((other) => other.isKeys === isKeys);
    if (!paragraph?.spans[place]) {
      return;
    }
    paragraph.element.querySelector(".cursor")?.classList.remove("cursor");
    this.cursor = place;
    paragraph.spans[place].classList.add("cursor");
    paragraph.spans[place].scrollIntoView({ block: "nearest" });
    paragraph.element.setAttribute("aria-activedescendant", paragraph.spans[place].id);
    if (speaks) {
      this.point(place, isKeys);
      announce(this.spoken(place));
    }
  }

  /**
   * What a token looks at most, or who looks at it most, for screen readers.
   * @param {number} place
   */
  spoken(place) {
    const { shown } = this;
    const { state, data } = this.store;
    return shown
      ? strongest(shown, pickedSums(shown, [place], state.asKey), [place], state.asKey, 3, data.drawing)
      : "";
  }

  /** @param {boolean} isKeys */
  firstPicked(isKeys) {
    const { asKey, picks } = this.store.state;
    return isKeys === asKey ? unitsWith((isKeys ? this.shown?.keys : this.shown?.queries) ?? [], picks)[0] : undefined;
  }

  /** @param {Hover} at */
  shade(at) {
    const { scene } = this;
    if (!scene) {
      return;
    }
    const { state, panels } = scene;
    const panel = panels[at.panel] ?? panels[0];
    const { shown } = panel;
    const pointed = pointedUnits(at, state, unitsWith(state.asKey ? shown.keys : shown.queries, state.picks));
    const sums = pickedSums(shown, pointed, state.asKey);
    const largest = sums.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
    const shades = /** @type {string[]} */ (state.asKey ? this.to : this.from);
    for (const paragraph of this.paragraphs) {
      // Of two texts the weights belong to the other one; of one text they are shown in place.
      if (this.paragraphs.length > 1 && paragraph.isKeys === state.asKey) {
        continue;
      }
      const units = paragraph.isKeys ? shown.keys : shown.queries;
      const others = state.asKey ? shown.queries : shown.keys;
      const shift = this.paragraphs.length > 1 ? 0 : offset(units, others);
      const [begin, end] = visibleSpans(paragraph.spans, this.box);
      for (let place = begin; place < end; place++) {
        const value = sums[place + shift];
        const step = largest > 0 && value ? Math.round((STEPS * value) / largest) : 0;
        if (step !== paragraph.steps[place]) {
          paragraph.steps[place] = step;
          paragraph.spans[place].style.backgroundColor = (step < 0 ? this.negative : shades)?.[Math.abs(step)] ?? "";
        }
      }
    }
    this.sentence.textContent =
      (panels.length > 1 ? `${panel.title}: ` : "") +
      strongest(shown, sums, pointed, state.asKey, 1, scene.data.drawing);
  }
}

/** @param {PointerEvent | MouseEvent} event */
function placeOf(event) {
  const span = event.target instanceof Element ? event.target.closest("[data-place]") : null;
  return span ? Number(span.getAttribute("data-place")) : -1;
}

/**
 * How much further on a unit is in another list of the same text, of which the first may be left out.
 * @param {Unit[]} units
 * @param {Unit[]} others
 */
function offset(units, others) {
  return others.findIndex((other) => other.begin === units[0].begin) >= 0
    ? others.findIndex((other) => other.begin === units[0].begin)
    : -units.findIndex((unit) => unit.begin === others[0].begin);
}

/**
 * The spans that can be seen in a box that scrolls: places [begin, end).
 * @param {HTMLSpanElement[]} spans
 * @param {HTMLElement} box
 */
function visibleSpans(spans, box) {
  const first = (/** @type {(span: HTMLSpanElement) => boolean} */ holds) => {
    let low = 0;
    let high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(spans[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const top = box.scrollTop;
  const bottom = top + box.clientHeight;
  return [first((span) => span.offsetTop + span.offsetHeight >= top), first((span) => span.offsetTop > bottom)];
}

/**
 * "␣sat looks most at ␣cat: 0.63".
 * @param {Shown} shown
 * @param {Float32Array} sums
 * @param {number[]} picked
 * @param {boolean} asKey
 * @param {number} count
 * @param {Drawing} drawing  of a change from one pattern to another it may be less, too
 */
function strongest(shown, sums, picked, asKey, count, drawing) {
  const words = wordsFor(drawing);
  const isChange = drawing.zero_centred;
  if (picked.length === 0) {
    return words.isAttention ? "Pick a token to see its attention." : "Pick a token.";
  }
  const units = asKey ? shown.keys : shown.queries;
  const others = asKey ? shown.queries : shown.keys;
  const places = largestPlaces(isChange ? sums.map(Math.abs) : sums, count);
  const names =
    picked
      .slice(0, 3)
      .map((place) => `“${isolated(units[place].label)}”`)
      .join(", ") + (picked.length > 3 ? ` and ${picked.length - 3} more` : "");
  const list = places
    .map((place) => {
      const number = numberText(sums[place], pickedError(shown, picked, asKey, place));
      return `“${isolated(others[place].label)}” ${number}`;
    })
    .join(", ");
  if (places.length === 0) {
    return `${names}: NaN`;
  }
  if (isChange) {
    return asKey
      ? `The attention to ${names} changes most from ${list}`
      : `The attention of ${names} changes most toward ${list}`;
  }
  return (asKey ? words.mostBack : words.most)(names, picked.length > 1, list);
}
