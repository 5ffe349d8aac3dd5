// All layers and heads as small pictures on one canvas. Lines under them join heads that share keys and values.
import { announce, clamp, eachFrame, idle, make, onWidth, sizedContext } from "./dom.js";
import { SHADES } from "./colors.js";
import { drawBar } from "./legend.js";
import { BLANK_HEIGHT, THUMB_GAP, overviewLayout } from "./overview_layout.js";
import { averagedHeads, firstDocument, headBeside, headTitle } from "./patterns.js";
import { cellImage, fittingBlock, imageCanvas, pooledCells } from "./pool.js";
import { scoreNames, scoreOfName, scoreText, scoreTop, scoreWords } from "./scores.js";
import { wordsFor } from "./words.js";

/** How long pictures are made before other work gets its turn. */
const IDLE_WORK_MS = 8;

/** @typedef {import("./overview_layout.js").Thumb} Thumb */

export class Overview {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./patterns.js").Patterns} patterns
   */
  constructor(store, patterns) {
    this.store = store;
    this.patterns = patterns;
    /** @type {Map<number, HTMLCanvasElement>} */
    this.pictures = new Map();
    /** @type {Map<number, import("./pool.js").Cells>} */
    this.cells = new Map();
    this.colors = "";
    this.run = 0;
    this.under = -1;
    this.drawn = "";
    this.layout = overviewLayout(this.heads, 0);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.options = this.heads.map((head, place) =>
      make("div", {
        role: "option",
        id: `head-${place}`,
        "aria-selected": "false",
        text: `${headTitle(head)} ${head.names.join(", ")}`,
      }),
    );
    this.list = make(
      "div",
      {
        class: "overview-list",
        role: "listbox",
        tabindex: 0,
        "aria-label": `${wordsFor(store.data.drawing).pattern}s`,
        keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      },
      this.canvas,
      make("div", { class: "unseen", role: "presentation" }, ...this.options),
    );
    this.caption = make("p", { class: "readout" });
    this.show = make(
      "select",
      { "aria-label": "contents of the small pictures", change: () => this.draw() },
      make("option", { value: "", text: "patterns" }),
      ...scoreNames(this.heads).map((name) => make("option", { value: name, text: `score: ${name}`, title: scoreWords(name) })),
    );
    this.bar = make("canvas", { role: "img", class: "score-bar", hidden: true });
    this.element = make("div", { class: "overview" }, this.list, this.caption);
    if (scoreNames(this.heads).length > 0) {
      this.element.prepend(make("label", { class: "inline", text: "Show " }, this.show), this.bar);
    }
    this.chips = make("div", { class: "chips" });
    /** Those whose scores and names the controls offer. @type {Head[] | null} */
    this.offered = null;
    this.element.append(this.chips);
    this.redraw = eachFrame(() => this.draw());
    onWidth(this.element, this.redraw);
    this.canvas.addEventListener("pointermove", (event) => this.point(this.thumbAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("click", (event) => this.choose(this.thumbAt(event), event.shiftKey));
  }

  get heads() {
    return firstDocument(this.store.data, this.store.state).heads;
  }

  /** Heads with names, the surest first. */
  chipButtons() {
    return this.heads
      .map((head, place) => ({ head, place, sure: scoreOfName(head) }))
      .filter(({ head }) => head.names.length > 0)
      .sort((a, b) => b.sure - a.sure)
      .slice(0, 12)
      .map(({ head, place, sure }) =>
        make(
          "button",
          { type: "button", click: () => this.choose(place, false) },
          `${headTitle(head)} `,
          make("span", { class: "quiet", text: `${head.names.join(", ")}${sure ? ` ${sure.toFixed(2)}` : ""}` }),
        ),
      );
  }

  /** @param {Scene} scene */
  update(scene) {
    this.scene = scene;
    const { state, shade } = scene;
    if (this.heads !== this.offered) {
      this.offered = this.heads;
      this.replaceHeads();
    }
    const colors = JSON.stringify([
      state.colormap,
      state.scale,
      state.showMask,
      scene.theme.dark,
      shade.low,
      shade.high,
    ]);
    if (colors !== this.colors) {
      this.colors = colors;
      this.cells.forEach((cells, place) => this.color(place, cells));
    }
    this.draw();
    const drawn = JSON.stringify([state.scale === "row-max", state.dropSink, state.units, state.folds, state.document]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.paintPictures();
    }
  }

  /** The heads are those of another text or document, of which there may be no scores. */
  replaceHeads() {
    this.drawn = "";
    this.show.disabled = scoreNames(this.heads).length === 0;
    if (this.show.disabled) {
      this.show.value = "";
    }
    const chips = this.chipButtons();
    const note = "Names come from a test on random tokens; a number is the head's score for its name in this text.";
    this.chips.replaceChildren(...(chips.length > 0 ? [make("p", { class: "quiet", text: note })] : []), ...chips);
  }

  draw() {
    const { scene } = this;
    if (!scene || this.element.clientWidth === 0) {
      return;
    }
    const { theme, state, shade } = scene;
    const layout = overviewLayout(this.heads, this.element.clientWidth, this.store.data.model?.blanks);
    this.layout = layout;
    const context = sizedContext(this.canvas, layout.width, layout.height);
    const { size } = layout;
    context.font = `11px ${theme.sans}`;
    context.textBaseline = "middle";
    context.fillStyle = theme.quiet;
    layout.layers.forEach(({ layer, y }) => context.fillText(`L${layer}`, 0, y));
    for (const { numbers, name, y } of layout.blanks) {
      context.fillStyle = theme.masked;
      context.fillRect(0, y, layout.width, BLANK_HEIGHT);
      context.fillStyle = theme.text;
      context.fillText(`L${numbers} ${name}`, THUMB_GAP, y + BLANK_HEIGHT / 2);
    }
    const beside = headBeside(state);
    const score = this.show.value;
    const top = scoreTop(this.heads, score);
    this.bar.hidden = score === "";
    if (score) {
      // The heatmap's bar is of weights.
      drawBar(this.bar, { css: shade.css, valueAt: (position) => position * top }, `score: ${score}`, theme);
    }
    const averaged = new Set(state.average ? averagedHeads(state, this.heads, state.head) : []);
    for (const { place, x, y } of this.layout.thumbs) {
      const head = this.heads[place];
      const value = score ? head.scores?.[score] : undefined;
      const picture = this.pictures.get(place);
      context.fillStyle = theme.line;
      context.fillRect(x, y, size, size);
      if (score) {
        this.drawScore(context, x, y, value, top, shade, theme);
      } else if (picture) {
        context.imageSmoothingEnabled = picture.width > size; // enlarged cells have edges
        context.drawImage(picture, x, y, size, size);
      }
      if (this.layout.named) {
        context.fillStyle = theme.quiet;
        context.textAlign = "left";
        context.font = `10px ${theme.sans}`;
        context.fillText(head.names[0] ?? "", x, y + size + 8, size);
      } else if (head.names.length > 0) {
        context.fillStyle = theme.accent;
        context.fillRect(x, y + size, size, 2);
      }
      if (
        this.layout.grouped &&
        head.group === this.heads[place + 1]?.group &&
        head.layer === this.heads[place + 1]?.layer
      ) {
        context.fillStyle = theme.quiet;
        context.fillRect(x + size / 2, y + size + (this.layout.named ? 15 : 3), size + THUMB_GAP, 1);
      }
      if (head.leftOut) {
        crossOut(context, x, y, size, theme);
      }
      if (averaged.has(place)) {
        frame(context, x, y, size, theme.toLine, 2);
      }
      if (place === state.head || place === beside) {
        frame(context, x, y, size, place === state.head ? theme.fromLine : theme.text, 3);
      } else if (place === this.under) {
        frame(context, x, y, size, theme.text, 1);
      }
    }
    this.options.forEach((option, place) => option.setAttribute("aria-selected", String(place === state.head)));
    this.list.setAttribute("aria-activedescendant", `head-${state.head}`);
    this.caption.textContent = this.headSentence(this.under >= 0 ? this.under : state.head);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   * @param {number | null | undefined} value
   * @param {number} top  that has the last colour
   * @param {import("./colors.js").Shade} shade
   * @param {Theme} theme
   */
  drawScore(context, x, y, value, top, shade, theme) {
    if (value === undefined || value === null) {
      return;
    }
    const index = clamp(Math.floor((value / top) * SHADES), 0, SHADES - 1);
    context.fillStyle = shade.css[index];
    context.fillRect(x, y, this.layout.size, this.layout.size);
    if (this.layout.size >= 24) {
      context.fillStyle = shade.inks[index];
      context.textAlign = "center";
      context.font = `${Math.min(12, this.layout.size * 0.4)}px ${theme.sans}`;
      context.fillText((value < 9.95 ? value.toFixed(2).replace(/^0/, "") : value.toFixed(0)), x + this.layout.size / 2, y + this.layout.size / 2);
      context.textAlign = "left";
    }
  }

  /** @param {number} place */
  headSentence(place) {
    const head = this.heads[place];
    return [
      headTitle(head),
      firstDocument(this.store.data, this.store.state).name,
      head.leftOut ? "ablated" : "",
      head.names.join(", "),
      scoreText(head, this.show.value),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  /** Makes the small pictures one by one, in time that nothing else needs. */
  async paintPictures() {
    const run = ++this.run;
    const { scene } = this;
    if (!scene) {
      return;
    }
    const { state, shade } = scene;
    let started = 0;
    const document = Math.max(0, state.document);
    const pixels = Math.round(this.layout.size * (window.devicePixelRatio || 1));
    for (const { place } of [...this.layout.thumbs]) {
      if (performance.now() - started > IDLE_WORK_MS) {
        await idle();
        started = performance.now();
      }
      const shown = await this.patterns.shown(state, document, [place], false);
      if (run !== this.run) {
        return;
      }
      const { rows, cols } = shown.matrix;
      const { block } = fittingBlock(Math.max(rows, cols), pixels);
      const largest = shade.kind === "row-max" ? shown.matrix.rowLargest() : null;
      const cells = pooledCells(shown, { row: 0, endRow: rows, col: 0, endCol: cols }, block, largest);
      this.cells.set(place, cells);
      this.color(place, cells);
      this.redraw();
    }
  }

  /**
   * @param {number} place
   * @param {import("./pool.js").Cells} cells
   */
  color(place, cells) {
    const { shade, theme, state } = /** @type {Scene} */ (this.scene);
    this.pictures.set(place, imageCanvas(cellImage(cells, shade, state.showMask ? theme.masked : null)));
  }

  /** @param {MouseEvent} event */
  thumbAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const reach = this.layout.size + THUMB_GAP;
    return (
      this.layout.thumbs.find((thumb) => thumb.x <= x && x < thumb.x + reach && thumb.y <= y && y < thumb.y + reach)
        ?.place ?? -1
    );
  }

  /** @param {number} place */
  point(place) {
    if (place !== this.under) {
      this.under = place;
      this.redraw();
    }
  }

  /**
   * Shows a head; with `beside` next to the one that is shown. While heads are chosen for a mean, adds it to these or
   * takes it away.
   * @param {number} place
   * @param {boolean} beside
   */
  choose(place, beside) {
    const { state } = this.store;
    if (place < 0) {
      return;
    }
    if (state.average === "chosen") {
      const heads = state.heads.includes(place)
        ? state.heads.filter((other) => other !== place)
        : [...state.heads, place];
      this.store.set({ head: place, heads: heads.sort((a, b) => a - b) });
    } else {
      this.store.set(beside ? { compare: place === state.compare ? -1 : place } : { head: place });
    }
    announce(this.headSentence(place));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { head } = this.store.state;
    const here = this.layout.thumbs.find((thumb) => thumb.place === head);
    if (!here || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const beyond = /** @type {Record<string, (thumb: Thumb) => boolean>} */ ({
      ArrowLeft: (thumb) => thumb.y === here.y && thumb.x < here.x,
      ArrowRight: (thumb) => thumb.y === here.y && thumb.x > here.x,
      ArrowUp: (thumb) => thumb.y < here.y,
      ArrowDown: (thumb) => thumb.y > here.y,
    })[event.key];
    if (beyond) {
      const distance = (/** @type {Thumb} */ thumb) => Math.abs(thumb.x - here.x) + 4 * Math.abs(thumb.y - here.y);
      const next = this.layout.thumbs.filter(beyond).sort((a, b) => distance(a) - distance(b))[0];
      if (next) {
        this.store.set({ head: next.place });
        announce(this.headSentence(next.place));
      }
      event.preventDefault();
    } else if (event.key === " " && this.store.state.average === "chosen") {
      this.choose(head, false);
      event.preventDefault();
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {string} color
 * @param {number} line
 */
function frame(context, x, y, size, color, line) {
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(x - line / 2 + 0.5, y - line / 2 + 0.5, size + line - 1, size + line - 1);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {Theme} theme
 */
function crossOut(context, x, y, size, theme) {
  context.globalAlpha = 0.75;
  context.fillStyle = theme.background;
  context.fillRect(x, y, size, size);
  context.globalAlpha = 1;
  context.strokeStyle = theme.text;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y + size);
  context.lineTo(x + size, y);
  context.stroke();
}
