// Type a text, leave heads out: the model runs in the page, and all views show what it does.
import { announce, idle, make } from "./dom.js";
import { Store, fragmentOf } from "./state.js";
import { headTitle } from "./patterns.js";
import { livePage } from "./live_data.js";
import { createLive } from "./live/live.js";

const TYPING_MS = 120;

/** The store of a page with a model: where the text is not the page's own, the address says it, too. */
export class LiveStore extends Store {
  /** @param {PageData} data */
  constructor(data) {
    super(data);
    this.own = data.text;
  }

  writeAddress() {
    const { text } = this.data;
    if (text === null || text === this.own) {
      super.writeAddress();
      return;
    }
    try {
      const fragment = fragmentOf(this.state, this.data);
      history.replaceState(null, "", `${fragment}&text=${encodeURIComponent(text)}`);
    } catch {
      // As in Store; and surrogates without a partner are no text of an address.
    }
  }
}

export class LiveView {
  /**
   * @param {PageData} data
   * @param {import("./blobs.js").Blobs} blobs
   * @param {(data: PageData, fragment: string) => void} replace  shows another text, as an address has it if not ""
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
    /** Kept: before the model is there, views may have changed it. */
    this.asked = location.hash;
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

  /** Shows the text of the address, or says what the model makes of the page's own. */
  async first() {
    await idle();
    const live = await this.load();
    // What was typed meanwhile stands.
    if (this.text.value === (this.data.text ?? "")) {
      await this.readAddress(this.asked);
    }
    window.addEventListener("hashchange", () => this.readAddress(location.hash));
    if (this.data.text && this.predictions.childElementCount === 0) {
      this.predictions.replaceChildren(predictionTable("Next token", live.run(this.data.text)));
    }
  }

  /** @param {string} fragment */
  async readAddress(fragment) {
    const said = new URLSearchParams(fragment.slice(1)).get("text") ?? this.data.text ?? "";
    if (said !== this.text.value) {
      this.text.value = said;
      await this.show(fragment);
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

  /** @param {string} [fragment] */
  async show(fragment = "") {
    const live = await this.load();
    const text = this.text.value;
    const heads = [...this.without];
    const without = heads.map((head) => /** @type {[number, number]} */ ([head.layer, head.head]));
    try {
      const whole = live.run(text);
      const result = without.length > 0 ? live.run(text, { without }) : whole;
      this.status.textContent = `${result.tokens.text.length} of ${live.nContext} tokens`;
      this.blobs.dropMade();
      this.replace(livePage(this.data, text, result, heads, live.scale, this.blobs), fragment);
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
