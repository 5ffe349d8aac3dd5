// The step view: one query of one head, from dot products to the weighted sum, with sliders to try what would be.
import { announce, clamp, eachFrame, isolated, make, numberText, onWidth, sizedContext } from "./dom.js";
import { drawnWhere, stepsOf, walk } from "./steps_math.js";
import { cutLabel } from "./heat_paint.js";
import { headTitle } from "./patterns.js";
import { drawStrip, largestSize, stripExtent } from "./vector_strip.js";

const STEP_ROW = 20;
const STEPS_TOP = 20;
const MOST_KEYS = 24;
const MOST_HEADS = 16;
const PLAY_MS = 2600;

export class StepsView {
  /**
   * @param {import("./state.js").Store} store
   * @param {import("./blobs.js").Blobs} blobs
   * @param {import("./patterns.js").Patterns} patterns
   */
  constructor(store, blobs, patterns) {
    this.store = store;
    this.blobs = blobs;
    this.patterns = patterns;
    this.step = 0;
    this.moved = false;
    this.shownTitle = "";
    this.run = 0;
    this.playing = 0;
    this.changedKey = 0;
    this.keyNames = "";
    /** @type {import("./steps_math.js").StepInputs | null} */
    this.inputs = null;
    this.query = store.data.shape[0] - 1;
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) =>
      make("button", { type: "button", text, click: act });
    this.playButton = button("play", () => this.play(!this.playing));
    this.tabs = make("ol", { class: "step-tabs" });
    this.says = make("p", { class: "step-says" });
    this.canvas = make("canvas", { role: "img" });
    this.missing = make("p", { class: "chips quiet" });
    this.followed = make("p", { class: "quiet" });
    this.rest = make("p", { class: "quiet" });
    this.signs = make("p", {
      class: "quiet",
      text: "In the vectors, orange is above 0 and blue is below 0; the stronger the colour, the farther from 0.",
    });
    const usual = this.usualTemperature();
    this.temperature = this.slider("temperature", Math.min(0.1, usual), Math.max(5, usual), usual);
    this.change = this.slider("add to one score", -10, 10, 0);
    this.keyChoice = make("select", {
      "aria-label": "key whose score changes",
      change: () => {
        this.changedKey = Number(this.keyChoice.value);
        this.draw();
      },
    });
    this.redraw = eachFrame(() => this.draw());
    this.body = make(
      "div",
      {},
      this.followed,
      make(
        "div",
        { class: "step-tools" },
        button("← back", () => this.go(-1)),
        this.playButton,
        button("next →", () => this.go(1)),
        this.tabs,
      ),
      this.says,
      this.canvas,
      this.signs,
      this.rest,
      make(
        "div",
        { class: "sliders" },
        this.temperature.label,
        this.change.label,
        this.keyChoice,
        button("reset", () => this.reset()),
      ),
    );
    this.element = make("div", {}, this.missing, this.body);
    onWidth(this.element, this.redraw);
  }

  /** The page's own, with which the heatmap was computed. */
  usualTemperature() {
    return this.store.data.steps?.temperature ?? 1;
  }

  /**
   * @param {string} name
   * @param {number} low
   * @param {number} high
   * @param {number} usual
   */
  slider(name, low, high, usual) {
    const number = make("output");
    let value = usual;
    const say = () => {
      number.textContent = String(Number(value.toPrecision(4)));
      input.setAttribute("aria-valuetext", number.textContent);
    };
    const input = make("input", {
      type: "range",
      min: low,
      max: high,
      // The usual number may lie between the tenths to which the reader moves.
      step: "any",
      "aria-label": name,
      input: () => {
        value = clamp(Math.round(Number(input.value) * 10) / 10, low, high);
        say();
        this.redraw();
      },
    });
    const label = make("label", {}, make("span", { text: `${name} ` }), number, input);
    const set = (/** @type {number} */ to) => {
      value = to;
      input.value = String(to);
      say();
    };
    set(usual);
    return { label, set, get: () => value };
  }

  reset() {
    this.temperature.set(this.usualTemperature());
    this.change.set(0);
    this.draw();
  }

  /** @param {Scene} scene */
  async update(scene) {
    this.scene = scene;
    const run = ++this.run;
    const { data, state } = scene;
    const chosen = data.documents[0].heads[state.head];
    const head = data.steps?.heads.find((one) => one.layer === chosen.layer && one.head === chosen.head);
    this.missing.hidden = head !== undefined;
    this.body.hidden = !head;
    if (!head) {
      this.missing.replaceChildren(`The page does not contain the vectors of ${headTitle(chosen)}. It contains those of `, ...this.headButtons());
      this.play(false);
      return;
    }
    const query = state.asKey ? this.query : (state.picks[0] ?? this.query);
    this.query = clamp(query, 0, data.shape[0] - 1);
    const inputs = await this.read(head, chosen);
    if (run === this.run) {
      this.inputs = inputs;
      const names = (data.keys ?? data.queries).label;
      if (names.join("\n") !== this.keyNames) {
        this.keyNames = names.join("\n");
        this.keyChoice.replaceChildren(...names.map((text, value) => make("option", { value, text })));
        this.changedKey = 0;
        this.change.set(0); // it was that of a token of another text
      }
      this.draw();
    }
  }

  /** The heads whose vectors the page has, as buttons that go there; of many the first. */
  headButtons() {
    const { steps, documents } = this.store.data;
    const has = (/** @type {Head} */ one) =>
      steps?.heads.some(({ layer, head }) => layer === one.layer && head === one.head) ?? false;
    return [...documents[0].heads.entries()]
      .filter(([, head]) => has(head))
      .slice(0, MOST_HEADS)
      .map(([place, head]) =>
        make("button", { type: "button", text: headTitle(head), click: () => this.store.set({ head: place }) }),
      );
  }

  /**
   * @param {StepHead} head
   * @param {Head} chosen
   * @returns {Promise<import("./steps_math.js").StepInputs>}
   */
  async read(head, chosen) {
    const count = this.store.data.shape[1];
    const row = async (/** @type {number | null} */ blob, /** @type {number} */ size) =>
      blob === null ? null : (await this.blobs.floats(blob)).subarray(this.query * size, (this.query + 1) * size);
    const scores = await row(head.scores, count);
    const mask = await this.patterns.mask(chosen.mask);
    return {
      q: scores ? null : await row(head.q, head.d_head),
      k: scores ? null : await this.blobs.floats(head.k),
      v: await this.blobs.floats(head.v),
      scores,
      bias: await row(head.bias, count),
      head,
      sees: (key) => mask.sees(this.query, key),
      count,
    };
  }

  /** @param {number} by */
  go(by) {
    this.show(clamp(this.step + by, 0, this.count() - 1));
    announce(`${this.says.textContent}`);
  }

  /** @param {number} step */
  show(step) {
    this.step = step;
    this.moved = true;
    this.draw();
  }

  count() {
    return this.tabs.children.length;
  }

  /** @param {boolean} on */
  play(on) {
    clearInterval(this.playing);
    this.playing = 0;
    if (on) {
      this.show(this.step >= this.count() - 1 ? 0 : this.step);
      this.playing = setInterval(() => {
        if (this.step >= this.count() - 1) {
          this.play(false);
        } else {
          this.go(1);
        }
      }, PLAY_MS);
    }
    this.playButton.textContent = this.playing ? "pause" : "play";
  }

  draw() {
    const { inputs, scene } = this;
    const width = this.element.clientWidth;
    if (!inputs || !scene || width === 0 || this.body.hidden) {
      return;
    }
    const temperature = this.temperature.get();
    const labels = (scene.data.keys ?? scene.data.queries).label;
    const made = walk(inputs, temperature, { key: this.changedKey, by: this.change.get() });
    const query = isolated(scene.data.queries.label[this.query]);
    const title = headTitle(scene.data.documents[0].heads[scene.state.head]);
    const changed = temperature !== this.usualTemperature() || this.change.get() !== 0;
    const steps = stepsOf(made, inputs.head, temperature, query, drawnWhere(scene, title, query, changed));
    const other = scene.state.asKey ? " You have picked keys, but this view follows a query." : "";
    this.followed.textContent = `This is the query “${query}” (${this.query}) of ${title}.${other}`;
    // A slider may add a step: the one in view stays.
    const same = steps.findIndex(({ title }) => title === this.shownTitle);
    this.step = this.moved || same < 0 ? Math.min(this.step, steps.length - 1) : same;
    this.moved = false;
    this.shownTitle = steps[this.step].title;
    const step = steps[this.step];
    this.showTabs(steps.map(({ title }) => title));
    this.says.textContent = step.says;
    const keys = shownKeys(made.weights);
    const extra = step.vectors === "sum" ? 2 * STEP_ROW : step.vectors === "dot" ? 1.5 * STEP_ROW : 0;
    this.signs.hidden = extra === 0;
    const height = STEPS_TOP + keys.length * STEP_ROW + extra + 6;
    const context = sizedContext(this.canvas, width, height);
    this.drawBars(context, step, made, keys, labels, width);
    const others = numberText(made.weights.reduce((sum, part, key) => (keys.includes(key) ? sum : sum + part), 0));
    const cut = `These are the ${keys.length} of ${labels.length} keys with the largest weights; the others add up to ${others}.`;
    this.rest.textContent = keys.length < labels.length ? cut : "";
    this.canvas.setAttribute(
      "aria-label",
      `${step.title}: ${keys
        .slice(0, 8)
        .map((key) => `${labels[key]} ${shownNumber(step.after[key])}`)
        .join(", ")}. ${this.rest.textContent}`.trimEnd(),
    );
  }

  /**
   * Buttons of the steps. They are made anew only when there are others: one of them may have the keyboard.
   * @param {string[]} titles
   */
  showTabs(titles) {
    const buttons = [...this.tabs.querySelectorAll("button")];
    if (titles.join() !== buttons.map((button) => button.textContent).join()) {
      this.tabs.replaceChildren(
        ...titles.map((text, place) =>
          make("li", {}, make("button", { type: "button", text, click: () => this.show(place) })),
        ),
      );
    }
    this.tabs
      .querySelectorAll("button")
      .forEach((button, place) => button.setAttribute("aria-pressed", String(place === this.step)));
  }

  /**
   * A row for each key: label, number before, number after, a bar, and its vector as a strip.
   * @param {CanvasRenderingContext2D} context
   * @param {import("./steps_math.js").Step} step
   * @param {import("./steps_math.js").Walk} made
   * @param {number[]} keys
   * @param {string[]} labels
   * @param {number} width
   */
  drawBars(context, step, made, keys, labels, width) {
    const { theme } = /** @type {Scene} */ (this.scene);
    const inputs = /** @type {import("./steps_math.js").StepInputs} */ (this.inputs);
    const narrow = width < 560;
    const label = Math.min(140, width * 0.24);
    const numbers = narrow ? 60 : 70;
    const before = step.before ? numbers : 0;
    const strips = step.vectors === "dot" || step.vectors === "sum" ? Math.min(width * 0.34, 420) : 0;
    const barLeft = label + before + numbers + 14;
    const barWidth = Math.max(40, width - barLeft - strips - (strips ? 16 : 4));
    const finite = keys.map((key) => step.after[key]).filter(Number.isFinite);
    const low = Math.min(0, ...finite);
    const high = Math.max(step.vectors === "weight" || step.vectors === "sum" ? 1 : 1e-9, ...finite);
    const zero = barLeft + (-low / (high - low)) * barWidth;
    const size = step.vectors === "dot" ? inputs.head.d_head : inputs.head.d_value;
    const vectors = step.vectors === "dot" ? inputs.k : inputs.v;
    const stripLeft = width - strips;
    const extent = stripExtent(step, made, vectors, keys, size);
    const text = (
      /** @type {string} */ what,
      /** @type {number} */ x,
      /** @type {number} */ y,
      /** @type {CanvasTextAlign} */ align,
      /** @type {string} */ color,
      mono = true,
    ) => {
      context.font = `12px ${mono ? theme.mono : theme.sans}`;
      context.textAlign = align;
      context.textBaseline = "middle";
      context.fillStyle = color;
      context.fillText(what, x, y);
    };
    let y = STEPS_TOP;
    text("key", 0, 9, "left", theme.quiet, false);
    text(step.column, label + before + numbers, 9, "right", theme.quiet, false);
    if (strips) {
      text(step.vectors === "dot" ? "key vectors" : "value vectors × weight", stripLeft, 9, "left", theme.quiet, false);
    }
    if (step.vectors === "dot" && inputs.q) {
      text("query", stripLeft - 6, y + STEP_ROW / 2, "right", theme.quiet, false);
      drawStrip(context, inputs.q, 0, size, stripLeft, y + 3, strips, STEP_ROW - 6, largestSize(inputs.q), 1, theme);
      y += 1.5 * STEP_ROW;
    }
    for (const key of keys) {
      const value = step.after[key];
      const middle = y + STEP_ROW / 2;
      context.font = `12px ${theme.mono}`;
      text(
        cutLabel(context, labels[key], label - 6),
        0,
        middle,
        "left",
        key === this.changedKey && this.change.get() !== 0 ? theme.accent : theme.text,
      );
      if (step.before) {
        text(shownNumber(step.before[key]), label + numbers, middle, "right", theme.quiet);
      }
      text(shownNumber(value), label + before + numbers, middle, "right", theme.text);
      if (Number.isFinite(value)) {
        const end = barLeft + ((value - low) / (high - low)) * barWidth;
        context.fillStyle = value < 0 ? theme.negativeLine : theme.fromLine;
        context.fillRect(Math.min(zero, end), y + 4, Math.max(1, Math.abs(end - zero)), STEP_ROW - 8);
      }
      if (strips && vectors) {
        const part = step.vectors === "sum" ? made.weights[key] : 1;
        drawStrip(context, vectors, key * size, size, stripLeft, y + 3, strips, STEP_ROW - 6, extent, part, theme);
      }
      y += STEP_ROW;
    }
    if (step.vectors === "sum") {
      y += STEP_ROW / 2;
      text("sum", stripLeft - 6, y + STEP_ROW / 2, "right", theme.text, false);
      drawStrip(context, made.context, 0, size, stripLeft, y + 3, strips, STEP_ROW - 6, extent, 1, theme);
    }
  }
}

/** @param {number} value */
function shownNumber(value) {
  return Math.abs(value) === Infinity ? (value < 0 ? "−∞" : "∞") : value.toFixed(3).replace("-", "−");
}

/**
 * All keys, or where they are too many those of the largest weights, in their order.
 * @param {Float64Array} weights
 */
function shownKeys(weights) {
  const keys = [...weights.keys()];
  return keys.length <= MOST_KEYS
    ? keys
    : keys
        .sort((a, b) => weights[b] - weights[a])
        .slice(0, MOST_KEYS)
        .sort((a, b) => a - b);
}
