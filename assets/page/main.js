// Starts the page: reads its data, puts the panels of an explorer together, and draws them whenever the state changes.
import { counted, make } from "./dom.js";
import { actionButtons } from "./actions.js";
import { Arcs } from "./arcs.js";
import { Blobs } from "./blobs.js";
import { Controls } from "./controls.js";
import { Heatmap } from "./heatmap.js";
import { LiveStore, LiveView } from "./live_view.js";
import { Overview } from "./overview.js";
import { Patterns, firstDocument } from "./patterns.js";
import { Pointing } from "./pointing.js";
import { Shade, currentTheme, scaleEnds } from "./colors.js";
import { StepsView } from "./steps_view.js";
import { Store, stateOf } from "./state.js";
import { TokenPanel } from "./token_panel.js";
import { TokenText } from "./paragraph.js";
import { drawLegend, valueName } from "./legend.js";
import { headTable, openableTable, rowTable } from "./tables.js";
import { helpDialog, listenToKeys } from "./keyboard.js";
import { showReport } from "./report.js";
import { wordsFor } from "./words.js";

/**
 * A panel: its heading, one sentence that explains it, and what it shows.
 * @param {string} name
 * @param {string} title
 * @param {string} sentence
 * @param {...Node} children
 */
function section(name, title, sentence, ...children) {
  const heading = make("h2", { id: `${name}-title`, text: title });
  return make(
    "section",
    { class: name, "aria-labelledby": heading.id },
    heading,
    make("p", { class: "explains", text: sentence }),
    ...children,
  );
}

/** @param {PageData} data */
function sizeText({ documents, drawing, shape, keys }) {
  const { pattern, isAttention } = wordsFor(drawing);
  const heads = counted(documents[0].heads.length, pattern);
  const axes = isAttention ? "queries × keys" : "tokens × experts";
  return keys ? `${heads}, ${axes}: ${shape[0]} × ${shape[1]}` : `${heads}, ${counted(shape[0], "token")}`;
}

/**
 * Which head is shown first, and why; with several documents, that of the first.
 * @param {PageData} data
 */
function reasonText({ documents, reason }) {
  return documents[0].name && reason ? `${documents[0].name}: ${reason}` : reason;
}

/**
 * @param {PageData} data
 * @param {Node} size
 * @param {Node} reason
 */
function header(data, size, reason) {
  return make(
    "header",
    {},
    make("h1", { text: data.title }),
    make("p", { class: "notes" }, size, ...data.notes.map((note) => make("span", { text: note }))),
    reason,
  );
}

/**
 * @param {any} data
 * @param {HTMLElement} place
 */
function showPage(data, place) {
  if (data.schema === "attnviz.report/1") {
    showReport(data, place);
  } else {
    new Page(data, place);
  }
}

/** @param {unknown} error */
function failure(error) {
  return make("p", { role: "alert", text: `The page cannot be displayed: ${error}` });
}

class Page {
  /**
   * @param {PageData} data
   * @param {HTMLElement} root
   */
  constructor(data, root) {
    this.data = data;
    this.root = root;
    this.blobs = new Blobs(data.blobs);
    this.store = data.live ? new LiveStore(data) : new Store(data);
    this.pointing = new Pointing();
    this.patterns = new Patterns(data, this.blobs);
    this.overview = new Overview(this.store, this.patterns);
    /** @type {Heatmap[]} */
    this.heatmaps = [];
    this.text = new TokenText(this.store, this.pointing);
    this.arcs = new Arcs(this.store, this.pointing);
    this.controls = new Controls(this.store);
    this.tools = new TokenPanel(this.store, this.pointing);
    this.steps = data.steps ? new StepsView(this.store, this.blobs, this.patterns) : null;
    this.help = helpDialog(data.drawing);
    this.legend = make("canvas", { role: "img" });
    this.legendName = make("span", { class: "quiet" });
    this.heatmapBox = make("div", { class: "heatmaps" });
    const { pattern, isAttention } = wordsFor(data.drawing);
    this.rows = openableTable(`These ${isAttention ? "weights" : "numbers"} as a table`, () =>
      rowTable(/** @type {Scene} */ (this.scene)),
    );
    this.headRows = openableTable(`The ${pattern}s as a table`, () => headTable(this.data, this.store.state));
    this.size = document.createTextNode(sizeText(data));
    this.reason = make("p", { class: "reason", text: reasonText(data), hidden: data.reason === "" });
    this.heads = firstDocument(data, this.store.state).heads;
    this.failure = make("div");
    this.run = 0;
    this.build();
    this.store.subscribe(() => this.draw());
    window.addEventListener("hashchange", () => this.pointing.clear());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    listenToKeys(this.store, this.pointing, this.tools.search, this.help);
    this.draw();
  }

  build() {
    const { data } = this;
    const several = data.documents[0].heads.length > 1;
    const words = wordsFor(data.drawing);
    const overview = section(
      "overview-panel",
      `All ${words.pattern}s`,
      `Each small picture is one ${words.pattern}, and each row of pictures is one layer. Choose a picture to see it in detail.`,
      this.overview.element,
      this.headRows.element,
    );
    overview.hidden = !several;
    const heatmap = section(
      "heatmap-panel",
      `One ${words.pattern}`,
      `${words.cells}${data.drawing.zero_centred ? " this changes" : ""}.`,
      make("div", { class: "legend" }, this.legend, this.legendName),
      this.heatmapBox,
    );
    const tokens = section(
      "token-panel",
      "Tokens",
      data.drawing.zero_centred
        ? "Point at a token to see how its attention changes, or pick several."
        : words.pick,
      this.tools.element,
      this.text.element,
      this.arcs.element,
      this.rows.element,
    );
    const actions = actionButtons(this.store, () => this.drawn(), this.help);
    this.root.append(this.failure, header(data, this.size, this.reason));
    if (data.live) {
      this.root.append(
        section(
          "live-panel",
          "Try it",
          "The model runs inside this page: type a text and see what its heads do.",
          new LiveView(data, this.blobs, (other, fragment) => this.replace(other, fragment)).element,
        ),
      );
    }
    this.root.append(
      this.toolbar(actions.buttons),
      actions.shown,
      make("div", { class: several ? "panels" : "panels single" }, overview, heatmap, tokens),
    );
    if (this.steps) {
      this.root.append(
        section(
          "steps-panel",
          "Step by step",
          "This is how the weights of one token are computed, with the real numbers of the head.",
          this.steps.element,
        ),
      );
    }
    this.root.append(this.help);
  }

  /**
   * The switches: where there is little room, under a line that opens them.
   * @param {HTMLElement} buttons
   */
  toolbar(buttons) {
    return make(
      "details",
      { class: "toolbar", open: !matchMedia("(max-width: 600px)").matches },
      make("summary", { text: "Options, saving and copying" }),
      make("div", { class: "tools" }, this.controls.element, buttons),
    );
  }

  /** What pictures are made of, once there is something. */
  drawn() {
    const layouts = this.heatmaps.flatMap(({ layout, element }) => (layout && !element.hidden ? [layout] : []));
    return this.scene ? { scene: this.scene, layouts } : null;
  }

  /**
   * Shows another text in the same heads.
   * @param {PageData} data
   * @param {string} fragment  the address that asked for it, or ""
   */
  replace(data, fragment) {
    this.data = data;
    this.size.data = sizeText(data);
    this.reason.textContent = reasonText(data);
    this.reason.hidden = data.reason === "";
    this.patterns.replaceData(data);
    this.store.replaceData(data);
    if (fragment !== "") {
      this.store.set(stateOf(fragment, data));
    }
  }

  draw() {
    this.update().then(
      () => this.failure.replaceChildren(),
      (error) => this.failure.replaceChildren(failure(error)),
    );
  }

  /** Draws the state once its patterns are there; a later state overtakes. */
  async update() {
    const run = ++this.run;
    const { state } = this.store;
    const map = state.colormap.replace(/_r$/, "");
    const [colors, panels] = await Promise.all([this.blobs.get(this.data.colormaps[map]), this.patterns.panels(state)]);
    if (run !== this.run) {
      return;
    }
    const [low, high] = scaleEnds(
      this.data.drawing,
      state.scale,
      state.stretch ? panels.map((panel) => panel.shown) : null,
    );
    const shade = new Shade(colors, map !== state.colormap, state.scale, low, high, this.data.bad.nan);
    /** @type {Scene} */
    this.scene = {
      data: this.data,
      state,
      panels: panels.map((panel) => this.toldBy(panel)),
      shade,
      theme: currentTheme(this.data.bad),
    };
    this.pointing.keepWithin(panels[0].shown);
    this.showPanels(panels.length);
    this.controls.refresh();
    this.tools.refresh();
    drawLegend(this.legend, this.scene);
    this.legendName.textContent = valueName(this.data.drawing, state.scale);
    this.heatmaps.forEach((heatmap) => heatmap.update(/** @type {Scene} */ (this.scene)));
    this.text.update(this.scene);
    this.arcs.update(this.scene);
    this.overview.update(this.scene);
    this.rows.refresh();
    const { heads } = firstDocument(this.data, state);
    if (heads !== this.heads) {
      this.heads = heads;
      this.headRows.refresh();
    }
    this.steps?.update(this.scene);
  }

  /**
   * Numbers of the live model are whole floats, but the program's may differ in their last digits.
   * @param {Panel} panel
   * @returns {Panel}
   */
  toldBy(panel) {
    return this.data.computed_here && panel.exactness !== "" ? { ...panel, exactness: "computed here" } : panel;
  }

  /** @param {number} count */
  showPanels(count) {
    while (this.heatmaps.length < count) {
      const heatmap = new Heatmap(this.store, this.pointing, this.heatmaps.length);
      this.heatmaps.push(heatmap);
      this.heatmapBox.append(heatmap.element);
    }
    this.heatmaps.forEach((heatmap, place) => (heatmap.element.hidden = place >= count));
    this.heatmapBox.classList.toggle("several", count > 1);
  }
}

const dataElement = document.getElementById("attnviz-data");
const root = document.getElementById("attnviz");
if (dataElement && root) {
  try {
    showPage(JSON.parse(dataElement.textContent ?? ""), root);
  } catch (error) {
    root.append(failure(error));
  }
}
