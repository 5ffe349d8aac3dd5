// Queries and keys as two columns, joined by lines as thick as the weights. One canvas, of which only what is in view
// is drawn.
import { clamp, contextOf, eachFrame, make, numberText, onWidth, sizedContext } from "./dom.js";
import { cutLabel } from "./heat_paint.js";
import { NOWHERE, pointedUnits } from "./pointing.js";
import { pickedError, pickedSums } from "./derive.js";
import { unitsWith } from "./units.js";
import { wordsFor } from "./words.js";

const ROOMY_ROW = 20;
const TIGHT_ROW = 14;
const MOST_HEIGHT = 620;
const HEADING = 22;
const THICKEST = 7;
/** Lines thinner than this would only make the picture grey. */
const LEAST_SHARE = 0.01;
/** … and so would more lines than this from one token. */
const MOST_LINES = 200;

export class Arcs {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./pointing.js").Pointing} pointing
   */
  constructor(store, pointing) {
    this.store = store;
    this.pointing = pointing;
    /** @type {Scene | null} */
    this.scene = null;
    this.row = ROOMY_ROW;
    this.height = MOST_HEIGHT;
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.filler = make("div", { class: "filler" });
    this.element = make(
      "div",
      {
        class: "arcs",
        role: "group",
        "aria-label": "lines between queries and keys; the table below shows the same numbers",
      },
      this.canvas,
      this.filler,
    );
    this.redraw = eachFrame(() => this.draw());
    this.element.addEventListener("scroll", this.redraw);
    onWidth(this.element, this.redraw);
    pointing.subscribe(() => this.draw());
    this.canvas.addEventListener("pointermove", (event) => this.pointing.set(this.at(event) ?? NOWHERE));
    this.canvas.addEventListener("pointerleave", () => this.pointing.set(NOWHERE));
    this.canvas.addEventListener("click", (event) => this.pick(event));
  }

  /** The pattern under the pointer, of several beside each other; else the first. */
  get shown() {
    return (this.scene?.panels[this.pointing.at.panel] ?? this.scene?.panels[0])?.shown;
  }

  /** @param {Scene} scene */
  update(scene) {
    this.scene = scene;
    const { queries, keys } = scene.panels[0].shown;
    const rows = Math.max(queries.length, keys.length);
    this.row = clamp((MOST_HEIGHT - HEADING) / rows, TIGHT_ROW, ROOMY_ROW);
    const full = rows * this.row + HEADING;
    const height = Math.min(full, MOST_HEIGHT);
    const scrolls = full > height;
    this.height = height;
    this.element.style.height = `${height}px`;
    this.filler.style.height = `${full - height}px`;
    if (scrolls) {
      this.element.tabIndex = 0;
    } else {
      this.element.removeAttribute("tabindex");
    }
    // Only what has its height can be scrolled.
    this.draw();
    const [pick] = unitsWith(scene.state.asKey ? keys : queries, scene.state.picks);
    if (pick !== undefined && scrolls && `${scene.state.picks}` !== this.revealed) {
      this.revealed = `${scene.state.picks}`;
      this.element.scrollTop = pick * this.row - height / 2;
      this.draw();
    }
  }

  draw() {
    const { scene, shown } = this;
    const width = this.element.clientWidth;
    if (!scene || !shown || width === 0) {
      return;
    }
    const { data, theme, state } = scene;
    // "target" of "target (attending)".
    const [from, to] = [data.drawing.query_axis, data.drawing.key_axis].map((name) => name.split(" (")[0]);
    const { height, row } = this;
    const ratio = window.devicePixelRatio || 1;
    const same = this.canvas.width === Math.round(width * ratio) && this.canvas.height === Math.round(height * ratio);
    const context = same ? contextOf(this.canvas) : sizedContext(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    const column = Math.min(width * 0.36, 170);
    const top = HEADING - this.element.scrollTop;
    const first = clamp(Math.floor(-top / row), 0, Infinity);
    const last = Math.ceil((height - top) / row);
    const y = (/** @type {number} */ place) => top + (place + 0.5) * row;
    const pointed = pointedUnits(
      this.pointing.at,
      state,
      unitsWith(state.asKey ? shown.keys : shown.queries, state.picks),
    );
    const sums = pickedSums(shown, pointed, state.asKey);
    const largest = sums.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0);
    const color = state.asKey ? theme.toLine : theme.fromLine;
    context.lineCap = "butt";
    const line = (
      /** @type {number} */ query,
      /** @type {number} */ key,
      /** @type {number} */ value,
      /** @type {number} */ share,
    ) => {
      context.strokeStyle = value < 0 ? theme.negativeLine : color;
      context.globalAlpha = 0.25 + 0.75 * share;
      context.lineWidth = Math.max(0.6, share * THICKEST);
      context.beginPath();
      context.moveTo(column + 4, y(query));
      context.bezierCurveTo(width / 2, y(query), width / 2, y(key), width - column - 4, y(key));
      context.stroke();
    };
    const size = (/** @type {number} */ place) => Math.abs(sums[place]);
    let ends = [...sums.keys()].filter((place) => size(place) > LEAST_SHARE * largest);
    if (ends.length > MOST_LINES) {
      ends = ends.sort((a, b) => size(b) - size(a)).slice(0, MOST_LINES);
    }
    for (const picked of pointed) {
      // A line to a token far out of view would only be a stroke at the edge.
      for (const end of ends) {
        const [query, key] = state.asKey ? [end, picked] : [picked, end];
        const value = shown.matrix.at(query, key);
        const share = largest > 0 ? Math.abs(value) / largest : 0;
        const out = (/** @type {number} */ place) => place < first - 40 || place > last + 40;
        if (share > LEAST_SHARE && !(out(query) && out(key))) {
          line(query, key, value, share);
        }
      }
    }
    context.globalAlpha = 1;
    this.paintColumn(
      context,
      shown.queries,
      true,
      first,
      last,
      y,
      column,
      width,
      state.asKey ? sums : null,
      pointed,
    );
    this.paintColumn(
      context,
      shown.keys,
      false,
      first,
      last,
      y,
      column,
      width,
      state.asKey ? null : sums,
      pointed,
    );
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, 20);
    context.fillStyle = theme.quiet;
    context.font = `11px ${theme.sans}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const [does, at] = wordsFor(this.store.data.drawing).does;
    context.fillText(`${from} ${does} …`, column, 10);
    context.textAlign = "left";
    context.fillText(`… ${at} ${to}`, width - column, 10);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Unit[]} units
   * @param {boolean} isLeft
   * @param {number} first
   * @param {number} last
   * @param {(place: number) => number} y
   * @param {number} column  width
   * @param {number} width   of the picture
   * @param {Float32Array | null} sums  numbers beside the labels
   * @param {number[]} picked  whose numbers these are: on this side where it has none
   */
  paintColumn(context, units, isLeft, first, last, y, column, width, sums, picked) {
    const { theme, state } = /** @type {Scene} */ (this.scene);
    const pointed = new Set(sums ? [] : picked);
    const largest = sums ? sums.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0) : 0;
    context.textBaseline = "middle";
    for (let place = first; place < Math.min(units.length, last + 1); place++) {
      const share = sums && largest > 0 ? Math.abs(sums[place]) / largest : 0;
      const shows = share > 0.02;
      const strong = pointed.has(place);
      if (strong) {
        context.fillStyle = state.asKey ? theme.toLine : theme.fromLine;
        context.fillRect(isLeft ? column + 1 : width - column - 4, y(place) - this.row / 2 + 1, 3, this.row - 2);
      }
      context.font = `${strong || share > 0.3 ? "bold " : ""}12px ${theme.mono}`;
      context.fillStyle = units[place].special && !strong && !shows ? theme.quiet : theme.text;
      context.textAlign = isLeft ? "right" : "left";
      const room = column - (shows ? 44 : 6);
      const x = isLeft ? column - 4 : width - column + 4;
      const label = cutLabel(context, units[place].label, room);
      context.fillText(label, x, y(place));
      if (shows && sums) {
        context.font = `11px ${theme.sans}`;
        context.fillStyle = theme.quiet;
        context.textAlign = isLeft ? "left" : "right";
        const error = pickedError(/** @type {Shown} */ (this.shown), picked, isLeft, place);
        context.fillText(numberText(sums[place], error), isLeft ? 0 : width - 2, y(place));
      }
    }
  }

  /**
   * What is under the pointer; the side that is not picked from has none.
   * @param {MouseEvent} event
   * @returns {Hover | null}
   */
  at(event) {
    const { shown } = this;
    if (!shown) {
      return null;
    }
    const box = this.canvas.getBoundingClientRect();
    const place = Math.floor((event.clientY - box.top - HEADING + this.element.scrollTop) / this.row);
    const isLeft = event.clientX - box.left < box.width / 2;
    const units = isLeft ? shown.queries : shown.keys;
    if (place < 0 || place >= units.length) {
      return null;
    }
    const { asKey } = this.store.state;
    const [pick] = unitsWith(asKey ? shown.keys : shown.queries, this.store.state.picks);
    if (isLeft === asKey && pick !== undefined) {
      return { panel: 0, query: asKey ? place : pick, key: asKey ? pick : place };
    }
    return isLeft ? { panel: 0, query: place, key: -1 } : { panel: 0, query: -1, key: place };
  }

  /** A click picks, and turns the direction to the side that was clicked. @param {MouseEvent} event */
  pick(event) {
    const { shown } = this;
    const box = this.canvas.getBoundingClientRect();
    const isLeft = event.clientX - box.left < box.width / 2;
    const place = Math.floor((event.clientY - box.top - HEADING + this.element.scrollTop) / this.row);
    const unit = (isLeft ? shown?.queries : shown?.keys)?.[place];
    if (!unit) {
      return;
    }
    if (isLeft === this.store.state.asKey) {
      this.store.set({ asKey: !isLeft, picks: [unit.begin] });
    } else {
      this.store.pick(unit.begin, event.shiftKey || event.ctrlKey || event.metaKey);
    }
  }
}
