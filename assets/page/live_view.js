// Type a text, leave heads out: the model runs in the page, and all views show what it does.
import { announce, idle, make } from "./dom.js";
import { headTitle } from "./patterns.js";
import { livePage } from "./live_data.js";
import { createLive } from "./live/live.js";

const TYPING_MS = 120;

export class LiveView {
  /**
   * @param {PageData} data
   * @param {import("./blobs.js").Blobs} blobs
   * @param {(data: PageData) => void} replace  shows another text
   */
  constructor(data, blobs, replace) {
    this.data = data;
    this.blobs = blobs;
    this.replace = replace;
    /** @type {Promise<import("./live/live.js").Live> | null} */
    this.model = null;
    /** @type {Set<Head>} */
    this.without = new Set();
    this.timer = 0;
    this.text = make("textarea", { id: "live-text", rows: 3, spellcheck: "false", input: () => this.later() });
    this.text.value = data.text ?? "";
    this.status = make("p", { class: "quiet", role: "status" });
    this.predictions = make("div", { class: "predictions" });
    this.element = make(
      "div",
      { class: "live" },
      make(
        "div",
        {},
        make("label", { for: "live-text", class: "quiet", text: "Your text" }),
        this.text,
        this.status,
        this.headButtons(),
      ),
      this.predictions,
    );
    this.first();
  }

  /** Says what the model makes of the page's own text. */
  async first() {
    await idle();
    const live = await this.load();
    if (this.data.text && this.predictions.childElementCount === 0) {
      this.predictions.replaceChildren(predictionTable("Next token", live.run(this.data.text)));
    }
  }

  load() {
    this.model ??= createLive(/** @type {any} */ (this.data.live), async (blob) => (await this.blobs.get(blob)).buffer);
    return this.model;
  }

  headButtons() {
    const { heads } = this.data.documents[0];
    const layers = [...new Set(heads.map((head) => head.layer))];
    const button = (/** @type {Head} */ head) => {
      const one = make("button", {
        type: "button",
        "aria-pressed": "false",
        text: headTitle(head),
        title: head.names.join(", "),
        click: () => {
          const out = !this.without.delete(head);
          if (out) {
            this.without.add(head);
          }
          one.setAttribute("aria-pressed", String(out));
          this.show();
        },
      });
      return one;
    };
    return make(
      "details",
      { class: "without" },
      make("summary", { text: "Leave heads out" }),
      ...layers.map((layer) =>
        make("div", { class: "head-row" }, ...heads.filter((head) => head.layer === layer).map(button)),
      ),
    );
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(), TYPING_MS);
  }

  async show() {
    const live = await this.load();
    const text = this.text.value;
    const heads = [...this.without];
    const without = heads.map((head) => /** @type {[number, number]} */ ([head.layer, head.head]));
    try {
      const whole = live.run(text);
      const result = without.length > 0 ? live.run(text, { without }) : whole;
      this.status.textContent = `${result.tokens.text.length} of ${live.nContext} tokens`;
      this.blobs.dropMade();
      this.replace(livePage(this.data, text, result, heads, live.scale, this.blobs));
      this.predictions.replaceChildren(
        predictionTable("Next token", whole),
        ...(without.length > 0 ? [predictionTable(`Without ${heads.map(headTitle).join(", ")}`, result)] : []),
      );
      announce(`next: ${result.prediction[0].label}, ${percent(result.prediction[0].probability)}`);
    } catch (error) {
      this.status.textContent = error instanceof Error ? error.message : String(error);
    }
  }
}

/** @param {number} probability */
function percent(probability) {
  return `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`;
}

/**
 * @param {string} title
 * @param {import("./live/live.js").LiveResult} result
 */
function predictionTable(title, { prediction }) {
  const rows = prediction.map(({ label, probability }) => {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${Math.max(1, 100 * probability)}%`;
    return make(
      "tr",
      {},
      make("th", { scope: "row", text: label }),
      make("td", { text: percent(probability) }),
      make("td", { class: "bars" }, bar),
    );
  });
  return make("table", {}, make("caption", { text: title }), make("tbody", {}, ...rows));
}
