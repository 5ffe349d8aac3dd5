// The state of the view, how the page's address holds it, and who is notified when it changes.
import { clamp } from "./dom.js";
import { unitKinds } from "./units.js";

/** How long changes wait before they reach the address: browsers refuse frequent updates. */
const ADDRESS_DELAY_MS = 150;

/**
 * What every head is called in addresses and commands: "2.1", or its place where those repeat.
 * @param {PageData} data
 */
export function headKeys(data) {
  const keys = data.documents[0].heads.map((head) => `${head.layer}.${head.head}`);
  return new Set(keys).size === keys.length ? keys : keys.map((_, place) => String(place));
}

/**
 * The view that a page opens with.
 * @param {PageData} data
 * @returns {State}
 */
export function firstState(data) {
  const { drawing } = data;
  // Absent unless the page was asked to open so.
  const { focus_as_key: asKey = false } = data;
  return {
    head: clamp(data.chosen, 0, data.documents[0].heads.length - 1),
    compare: -1,
    document: -1,
    picks: [data.focus ?? data.shape[asKey ? 1 : 0] - 1],
    asKey,
    colormap: drawing.colormap,
    scale: drawing.scale,
    stretch: false,
    dropSink: drawing.drop_sink && data.shape[1] > 1,
    showMask: true,
    units: "tokens",
    average: "",
    heads: [],
    folds: [],
  };
}

/** @param {string} text */
function integers(text) {
  return text
    .split(",")
    .filter(Boolean)
    .map(Number)
    .filter((number) => Number.isInteger(number) && number >= 0);
}

/**
 * @param {string} text
 * @returns {[number, number][]}
 */
function ranges(text) {
  return [...text.matchAll(/(\d+)-(\d+)/g)].map(([, begin, last]) => [Number(begin), Number(last) + 1]);
}

/**
 * Reads "#head=2.1&token=5"; what it lacks, or has wrong, is as at first.
 * @param {string} fragment
 * @param {PageData} data
 * @returns {State}
 */
export function stateOf(fragment, data) {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = firstState(data);
  const keys = headKeys(data);
  const get = (/** @type {string} */ name) => said.get(name) ?? "";
  const among = (/** @type {string} */ name, /** @type {readonly string[]} */ allowed, /** @type {string} */ usual) =>
    allowed.includes(get(name)) ? get(name) : usual;
  const heads = (/** @type {string} */ name) =>
    get(name)
      .split(",")
      .map((key) => keys.indexOf(key))
      .filter((i) => i >= 0);
  const flag = (/** @type {string} */ name, /** @type {boolean} */ usual) =>
    said.has(name) ? get(name) !== "off" : usual;
  state.head = heads("head")[0] ?? state.head;
  state.compare = heads("compare")[0] ?? -1;
  state.document = integers(get("document")).find((place) => place < data.documents.length) ?? -1;
  state.asKey = flag("as-key", state.asKey);
  if (said.has("token")) {
    state.picks = integers(get("token"));
  }
  state.picks = state.picks.filter((token) => token < data.shape[state.asKey ? 1 : 0]);
  const maps = Object.keys(data.colormaps);
  state.colormap = among(
    "colormap",
    maps.flatMap((name) => [name, `${name}_r`]),
    state.colormap,
  );
  state.scale = /** @type {ScaleKind} */ (among("scale", ["linear", "sqrt", "log", "row-max"], state.scale));
  state.stretch = get("range") === "auto";
  state.dropSink = flag("drop-sink", state.dropSink) && data.shape[1] > 1 && !data.drawing.zero_centred;
  state.showMask = flag("mask", true);
  state.units = /** @type {UnitKind} */ (among("merge", unitKinds(data), "tokens"));
  state.average = /** @type {State["average"]} */ (among("average", ["heads", "layers", "all", "chosen"], ""));
  state.heads = heads("heads");
  state.folds = ranges(get("fold"));
  return state;
}

/**
 * The address of a view: only what differs from how the page opens.
 * @param {State} state
 * @param {PageData} data
 */
export function fragmentOf(state, data) {
  const usual = firstState(data);
  const keys = headKeys(data);
  const said = new Map([["head", keys[state.head]]]);
  const say = (/** @type {string} */ name, /** @type {boolean} */ differs, /** @type {string} */ value) => {
    if (differs) {
      said.set(name, value);
    }
  };
  const onOff = (/** @type {boolean} */ on) => (on ? "on" : "off");
  say("compare", state.compare >= 0, keys[state.compare]);
  say("document", state.document >= 0, String(state.document));
  say("token", state.picks.join() !== usual.picks.join(), state.picks.join());
  say("as-key", state.asKey !== usual.asKey, onOff(state.asKey));
  say("colormap", state.colormap !== usual.colormap, state.colormap);
  say("scale", state.scale !== usual.scale, state.scale);
  say("range", state.stretch, "auto");
  say("drop-sink", state.dropSink !== usual.dropSink, onOff(state.dropSink));
  say("mask", !state.showMask, "off");
  say("merge", state.units !== "tokens", state.units);
  say("average", state.average !== "", state.average);
  say("heads", state.average === "chosen", state.heads.map((head) => keys[head]).join());
  say("fold", state.folds.length > 0, state.folds.map(([begin, end]) => `${begin}-${end - 1}`).join());
  return `#${[...said].map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ",")}`).join("&")}`;
}

/** Keeps the state, notifies listeners of changes, and keeps the page's address up to date. */
export class Store {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.state = stateOf(location.hash, data);
    /** @type {(() => void)[]} */
    this.listeners = [];
    this.timer = 0;
    /** Each pick is added to those before, for those who have no shift key. */
    this.several = false;
    window.addEventListener("hashchange", () => this.set(stateOf(location.hash, this.data)));
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    this.state = { ...this.state, ...changes };
    this.listeners.forEach((listener) => listener());
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeAddress(), ADDRESS_DELAY_MS);
  }

  writeAddress() {
    try {
      history.replaceState(null, "", fragmentOf(this.state, this.data));
    } catch {
      // Pages inside of other pages may have no address of their own; everything else works there.
    }
  }

  /**
   * Picks a token, or with `more` adds it to those picked or takes it away again.
   * @param {number} token
   * @param {boolean} more
   */
  pick(token, more) {
    const { picks } = this.state;
    if (!more && !this.several) {
      this.set({ picks: [token] });
    } else {
      this.set({ picks: picks.includes(token) ? picks.filter((other) => other !== token) : [...picks, token] });
    }
  }

  /**
   * Another text: its tokens are others, so that nothing stays picked.
   * @param {PageData} data
   */
  replaceData(data) {
    this.data = data;
    this.set({ picks: [data.shape[0] - 1], folds: [] });
  }
}
