// One head as a heatmap: the pointer, touch and keyboard on it, zoom, and a layer above for the cross hair.
import { announce, clamp, contextOf, eachFrame, make, onWidth, sizedContext } from "./dom.js";
import { cellAt, heatLayout, labelReach } from "./heat_layout.js";
import { LABEL_SIZE, heatImage, paintColumnLabel, paintHeat, paintRowLabel, titleFont } from "./heat_paint.js";
import { cellSentence, spokenCell } from "./pointing.js";
import { unitsWith } from "./units.js";
import { wordsFor } from "./words.js";

const ZOOM_STEP = 1.25;
/** Cells smaller than this are hard to distinguish: the wheel then zooms. */
const SMALL_CELL = 8;
const DRAG_FROM = 5;
const SETTLE_MS = 120;
/** Of PointerEvent.button; fingers and pens touch with it. */
const MAIN_BUTTON = 0;
const HELP = "Heatmap. The arrow keys move from cell to cell, Enter picks the row's token, plus and minus zoom.";

export class Heatmap {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./pointing.js").Pointing} pointing
   * @param {number} place  which of the panels this is
   */
  constructor(store, pointing, place) {
    this.store = store;
    this.pointing = pointing;
    this.place = place;
    /** @type {import("./heat_layout.js").View} */
    this.view = { zoom: 1, row: 0, col: 0 };
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {import("./heat_paint.js").HeatImage | null} */
    this.image = null;
    this.title = make("h3", { class: "panel-title" });
    this.base = make("canvas", { "aria-hidden": "true" });
    this.over = make("canvas", { "aria-hidden": "true", class: "over" });
    this.stage = make(
      "div",
      { class: "stage", tabindex: 0, role: "group", "aria-roledescription": "heatmap" },
      this.base,
      this.over,
    );
    this.readout = make("p", { class: "readout" });
    this.zoomButtons = make(
      "span",
      { class: "zoom" },
      make("button", {
        type: "button",
        text: "−",
        "aria-label": "zoom out",
        click: () => this.zoomBy(1 / ZOOM_STEP ** 2),
      }),
      make("button", { type: "button", text: "+", "aria-label": "zoom in", click: () => this.zoomBy(ZOOM_STEP ** 2) }),
      make("button", { type: "button", text: "fit", click: () => this.zoomBy(0) }),
    );
    this.element = make(
      "div",
      { class: "heatmap" },
      make("div", { class: "panel-head" }, this.title, this.zoomButtons),
      this.stage,
      this.readout,
    );
    this.redraw = eachFrame(() => this.draw());
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.dragged = 0;
    this.moving = false;
    this.settling = 0;
    this.listen();
    pointing.subscribe((at) => this.drawOver(at));
  }

  get panel() {
    return this.scene?.panels[this.place];
  }

  /** @param {Scene} scene */
  update(scene) {
    const shown = scene.panels[this.place]?.shown;
    if (shown?.queries.length !== this.panel?.shown.queries.length) {
      this.view = { zoom: 1, row: 0, col: 0 };
    }
    this.scene = scene;
    this.image = null;
    this.draw();
  }

  draw() {
    const { scene, panel } = this;
    // A page that is not laid out yet has no width; the observer calls again.
    const width = Math.floor(this.element.clientWidth);
    if (!scene || !panel || width === 0) {
      return;
    }
    const { shade, theme, state } = scene;
    this.title.textContent = panel.title;
    const ratio = window.devicePixelRatio || 1;
    const measuring = contextOf(this.over);
    const lengthOf = (/** @type {string} */ text) => measuring.measureText(text).width;
    measuring.font = titleFont(theme);
    const titles = { query: lengthOf(panel.axes.query), key: lengthOf(panel.axes.key) };
    measuring.font = `${LABEL_SIZE}px ${theme.mono}`;
    const maxHeight = clamp(window.innerHeight * 0.72, 220, 900);
    const layout = heatLayout(panel.shown, width, maxHeight, this.view, ratio, lengthOf, titles);
    this.layout = layout;
    this.view = { zoom: layout.cell / layout.fit, row: layout.row, col: layout.col };
    const masked = state.showMask ? theme.masked : null;
    this.image = heatImage(panel.shown, layout, shade, masked, ratio, this.image, this.moving);
    paintHeat(
      sizedContext(this.base, layout.width, layout.height),
      panel,
      layout,
      this.image,
      shade,
      theme,
      state.showMask,
    );
    this.overContext = sizedContext(this.over, layout.width, layout.height);
    this.stage.style.height = `${layout.height}px`;
    this.stage.style.touchAction = this.view.zoom > 1 ? "none" : "pan-y";
    this.zoomButtons.hidden = layout.fit >= 32;
    this.stage.setAttribute(
      "aria-label",
      `${panel.title}, ${panel.shown.queries.length} queries by ${panel.shown.keys.length} keys. ${HELP}`,
    );
    this.drawOver(this.pointing.at);
  }

  /** @param {Hover} at */
  drawOver(at) {
    const { scene, panel, layout, overContext: context } = this;
    if (!scene || !panel || !layout || !context) {
      return;
    }
    const { theme, state } = scene;
    const { shown } = panel;
    context.clearRect(0, 0, layout.width, layout.height);
    context.font = `${LABEL_SIZE}px ${theme.mono}`;
    for (const pick of unitsWith(state.asKey ? shown.keys : shown.queries, state.picks)) {
      this.paintBand(context, pick, state.asKey, state.asKey ? theme.toLine : theme.fromLine, 2);
    }
    const query = at.query < shown.queries.length ? at.query : -1;
    const key = at.key < shown.keys.length ? at.key : -1;
    if (query >= 0) {
      this.paintBand(context, query, false, theme.text, 1);
    }
    if (key >= 0) {
      this.paintBand(context, key, true, theme.text, 1);
    }
    const isNamed = at.panel === this.place || (query >= 0 && key >= 0);
    this.readout.textContent = isNamed && (query >= 0 || key >= 0) ? cellSentence(shown, at, wordsFor(this.store.data.drawing)) : "";
    if (this.readout.textContent === "") {
      this.readout.textContent = `Values ${panel.exactness}`;
    } else if (query >= 0 && key >= 0 && shown.mask.sees(query, key) && shown.matrix.error) {
      this.readout.textContent += ` ± ${shown.matrix.errorAt(query, key).toPrecision(2)}`;
    }
  }

  /**
   * Frames a row or a column, and writes its label above the others.
   * @param {CanvasRenderingContext2D} context
   * @param {number} place
   * @param {boolean} isColumn
   * @param {string} color
   * @param {number} line
   */
  paintBand(context, place, isColumn, color, line) {
    const { layout, panel, scene } = this;
    if (!layout || !panel || !scene) {
      return;
    }
    const { left, top, plotWidth, plotHeight, cell } = layout;
    const start = isColumn ? left + (place - layout.col) * cell : top + (place - layout.row) * cell;
    const end = isColumn ? left + plotWidth : top + plotHeight;
    if (start + cell < (isColumn ? left : top) || start > end) {
      return;
    }
    const size = Math.max(cell, 2);
    const paper = scene.theme.background;
    // A line of the paper's colour below makes it visible on dark and light cells, if these are large enough.
    const halo = cell >= SMALL_CELL ? 2 : 0;
    for (const [style, width] of /** @type {[string, number][]} */ ([
      [paper, line + halo],
      [color, line],
    ])) {
      context.strokeStyle = style;
      context.lineWidth = width;
      if (isColumn) {
        context.strokeRect(start, top, size, plotHeight);
      } else {
        context.strokeRect(left, start, plotWidth, size);
      }
    }
    context.font = `bold ${LABEL_SIZE}px ${scene.theme.mono}`;
    const [before, after] = labelReach(place, cell, isColumn);
    if (isColumn) {
      context.save();
      context.translate(start + cell / 2 + 2, top + plotHeight + 6);
      context.rotate(-Math.PI / 4);
      context.fillStyle = paper;
      context.fillRect(-layout.labelHeight * 1.4, -before, layout.labelHeight * 1.4 + 2, before + after);
      context.restore();
      paintColumnLabel(context, panel.shown.keys[place], place, layout, scene.theme.text);
    } else {
      context.fillStyle = paper;
      const y = start + cell / 2 - before;
      context.fillRect(left - layout.labelWidth - 6, y, layout.labelWidth + 3, before + after);
      paintRowLabel(context, panel.shown.queries[place], place, layout, scene.theme.text);
    }
  }

  /** Draws soon; cells that fit the new size wait until the view rests. */
  move() {
    this.moving = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.moving = false;
      this.redraw();
    }, SETTLE_MS);
    this.redraw();
  }

  /**
   * @param {number} factor  0: all in view again
   * @param {{x: number, y: number} | null} [around]  point that stays where it is; null: the cursor or the middle
   */
  zoomBy(factor, around = null) {
    const { layout } = this;
    if (!layout) {
      return;
    }
    const x = (around?.x ?? layout.left + layout.plotWidth / 2) - layout.left;
    const y = (around?.y ?? layout.top + layout.plotHeight / 2) - layout.top;
    const cell = clamp(layout.cell * factor, layout.fit, 64);
    this.view = {
      zoom: cell / layout.fit,
      row: layout.row + y / layout.cell - y / cell,
      col: layout.col + x / layout.cell - x / cell,
    };
    this.move();
  }

  /**
   * @param {number} x  pixels
   * @param {number} y
   */
  panBy(x, y) {
    const cell = this.layout?.cell ?? 1;
    this.view = { ...this.view, row: this.view.row - y / cell, col: this.view.col - x / cell };
    this.move();
  }

  /** @param {PointerEvent | WheelEvent} event */
  point(event) {
    const box = this.over.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  listen() {
    const { stage } = this;
    onWidth(this.element, this.redraw);
    stage.addEventListener("pointermove", (event) => this.moved(event));
    stage.addEventListener("pointerdown", (event) => {
      if (event.button === MAIN_BUTTON) {
        this.fingers.set(event.pointerId, this.point(event));
        this.dragged = 0;
      }
    });
    stage.addEventListener("pointerup", (event) => this.released(event));
    for (const name of /** @type {const} */ (["pointercancel", "pointerleave"])) {
      stage.addEventListener(name, (event) => {
        this.fingers.delete(event.pointerId);
        // What a finger touched stays in view when it is lifted.
        if (event.pointerType !== "touch") {
          this.pointing.clear();
        }
      });
    }
    stage.addEventListener(
      "wheel",
      (event) => {
        const zooms = event.ctrlKey || (this.layout && this.layout.fit < SMALL_CELL);
        // Where nothing is left to zoom out of, the page scrolls.
        if (zooms && (event.deltaY < 0 || this.view.zoom > 1)) {
          event.preventDefault();
          this.zoomBy(Math.exp(-clamp(event.deltaY, -100, 100) * 0.003), this.point(event));
        }
      },
      { passive: false },
    );
    stage.addEventListener("keydown", (event) => this.key(event));
    this.pointing.clearOnLeaving(stage);
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const { panel, layout } = this;
    if (!panel || !layout) {
      return;
    }
    const now = this.point(event);
    const before = this.fingers.get(event.pointerId);
    if (before) {
      const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      this.dragged += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (others.length > 0) {
        const distance = (/** @type {{x: number, y: number}} */ p) => Math.hypot(p.x - others[0].x, p.y - others[0].y);
        this.zoomBy(distance(now) / Math.max(1, distance(before)), others[0]);
        this.dragged = DRAG_FROM;
      } else if (this.view.zoom > 1 && this.dragged >= DRAG_FROM) {
        this.panBy(now.x - before.x, now.y - before.y);
      }
      this.fingers.set(event.pointerId, now);
    }
    this.pointing.set({ panel: this.place, ...cellAt(layout, panel.shown, now.x, now.y) });
  }

  /** @param {PointerEvent} event */
  released(event) {
    this.fingers.delete(event.pointerId);
    const { panel, layout } = this;
    if (!panel || !layout || event.button !== MAIN_BUTTON || this.dragged >= DRAG_FROM) {
      return;
    }
    const { x, y } = this.point(event);
    const at = { panel: this.place, ...cellAt(layout, panel.shown, x, y) };
    this.pointing.set(at);
    this.pickAt(at, event.shiftKey || event.ctrlKey || event.metaKey);
  }

  /**
   * @param {Hover} at
   * @param {boolean} more
   */
  pickAt(at, more) {
    const { asKey } = this.store.state;
    const unit = asKey ? this.panel?.shown.keys[at.key] : this.panel?.shown.queries[at.query];
    if (unit) {
      this.store.pick(unit.begin, more);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { panel, layout } = this;
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    });
    if (!panel || !layout || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const { queries, keys } = panel.shown;
    const { at } = this.pointing;
    const start = unitsWith(queries, this.store.state.picks)[0] ?? 0;
    if (event.key in moves || event.key === "Home" || event.key === "End") {
      const [down, right] = moves[event.key] ?? [0, event.key === "Home" ? -keys.length : keys.length];
      const query = at.query < 0 ? start : clamp(at.query + down, 0, queries.length - 1);
      const key = at.key < 0 ? 0 : clamp(at.key + right, 0, keys.length - 1);
      this.pointing.set({ panel: this.place, query, key });
      this.reveal(query, key);
      announce(spokenCell(panel.shown, { panel: this.place, query, key }, this.store.data.drawing));
    } else if (event.key === "Enter" || event.key === " ") {
      this.pickAt(at, event.key === " ");
    } else if (["+", "=", "-", "0"].includes(event.key)) {
      this.zoomBy({ "+": ZOOM_STEP, "=": ZOOM_STEP, "-": 1 / ZOOM_STEP, 0: 0 }[event.key] ?? 1);
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * Moves the view so that a cell is in it.
   * @param {number} query
   * @param {number} key
   */
  reveal(query, key) {
    const { layout } = this;
    if (layout && this.view.zoom > 1) {
      const rows = layout.plotHeight / layout.cell;
      const cols = layout.plotWidth / layout.cell;
      this.view = {
        ...this.view,
        row: clamp(this.view.row, query + 1 - rows, query),
        col: clamp(this.view.col, key + 1 - cols, key),
      };
      this.redraw();
    }
  }
}
