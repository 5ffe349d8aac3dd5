// Type a text, leave heads out: the model runs in the page, and all views show what it does.
import { announce, idle, isolated, make } from "./dom.js";
import { Store, fragmentOf, headKeys } from "./state.js";
import { headTitle } from "./patterns.js";
import { livePage } from "./live_data.js";
import { createLive } from "./live/live.js";

const TYPING_MS = 120;

/** How much of the text that is still shown is quoted when another is refused. */
const MOST_SHOWN_SIGNS = 40;

/** The store of a page with a model: the address also has a text that is not the page's own, and heads left out. */
export class LiveStore extends Store {
  /** @param {PageData} data */
  constructor(data) {
    super(data);
    this.own = data.text;
  }

  writeAddress() {
    const { text } = this.data;
    const keys = headKeys(this.data);
    const without = keys.filter((_, place) => this.data.documents[0].heads[place].leftOut);
    try {
      const fragment = fragmentOf(this.state, this.data) + (without.length > 0 ? `&without=${without}` : "");
      const said = text === null || text === this.own ? "" : `&text=${encodeURIComponent(text)}`;
      history.replaceState(null, "", fragment + said);
    } catch {
      // As in Store; and an address cannot hold surrogates without a partner.
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
    /** What the views show: a text that is refused changes nothing. */
    this.shown = { text: data.text ?? "", without: "" };
    this.timer = 0;
    /** Kept: before the model is there, views may have changed it. */
    this.asked = location.hash;
    this.text = make("textarea", { id: "live-text", rows: 3, spellcheck: "false", input: () => this.later() });
    this.text.value = data.text ?? "";
    /** Shows which heads are left out. @type {(() => void)[]} */
    this.refreshers = [];
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
    // What was typed or left out meanwhile is kept.
    if (this.text.value === (this.data.text ?? "") && this.without.size === 0) {
      await this.readAddress(this.asked);
    }
    window.addEventListener("hashchange", () => this.readAddress(location.hash));
    if (this.data.text && this.predictions.childElementCount === 0) {
      this.predictions.replaceChildren(predictionTable("Next token", live.run(this.data.text)));
    }
  }

  /** @param {string} fragment */
  async readAddress(fragment) {
    const said = new URLSearchParams(fragment.slice(1));
    const text = said.get("text") ?? this.data.text ?? "";
    const keys = headKeys(this.data);
    const left = (said.get("without") ?? "").split(",");
    const without = this.data.documents[0].heads.filter((_, place) => left.includes(keys[place]));
    const sameHeads = without.length === this.without.size && without.every((head) => this.without.has(head));
    if (text !== this.text.value || !sameHeads) {
      this.text.value = text;
      this.without = new Set(without);
      this.refreshers.forEach((refresh) => refresh());
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
          if (!this.without.delete(head)) {
            this.without.add(head);
          }
          refresh();
          this.show();
        },
      });
      const refresh = () => one.setAttribute("aria-pressed", String(this.without.has(head)));
      this.refreshers.push(refresh);
      return one;
    };
    return make(
      "details",
      { class: "without" },
      make("summary", { text: "Ablate heads" }),
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
    const names = heads.map(headTitle).join(", ");
    const without = heads.map((head) => /** @type {[number, number]} */ ([head.layer, head.head]));
    try {
      const whole = live.run(text);
      const result = without.length > 0 ? live.run(text, { without }) : whole;
      this.status.textContent = `${result.tokens.text.length} of ${live.nContext} tokens`;
      this.blobs.dropMade();
      this.replace(livePage(this.data, text, result, heads, live.scale, this.blobs), fragment);
      this.shown = { text, without: names };
      this.predictions.replaceChildren(
        predictionTable("Next token", whole),
        ...(without.length > 0 ? [predictionTable(`Without ${names}`, result)] : []),
      );
      announce(`next: ${result.prediction[0].label}, ${percent(result.prediction[0].probability)}`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.status.textContent = `${message}. ${this.stillShown()}`;
    }
  }

  stillShown() {
    const { text, without } = this.shown;
    const signs = [...text];
    const begin = signs.length > MOST_SHOWN_SIGNS ? `${signs.slice(0, MOST_SHOWN_SIGNS).join("")}…` : text;
    return `Still shown: “${isolated(begin)}”, ${without ? `without ${without}` : "with all heads"}.`;
  }
}

/**
 * As the program writes shares: 0 and 100 only where they are exact.
 * @param {number} probability
 */
function percent(probability) {
  const number = (100 * probability).toFixed(1);
  if (probability > 0 && probability < 0.001) {
    return "<0.1 %";
  }
  return number === "100.0" ? (probability < 1 ? ">99.9 %" : "100 %") : `${number} %`;
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
