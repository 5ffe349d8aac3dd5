// What the page can export: pictures, and the command that draws them.
import { announce, make } from "./dom.js";
import { commandLimits, commandLine } from "./command.js";
import { savePng, saveSvg } from "./save_picture.js";

/**
 * @param {import("./state.js").Store} store
 * @param {() => {scene: Scene, layouts: import("./heat_layout.js").HeatLayout[]} | null} drawn
 * @param {HTMLDialogElement} help
 */
export function actionButtons(store, drawn, help) {
  const command = make("code", { tabindex: 0 });
  const note = make("span", { class: "quiet" });
  const shown = make("p", { class: "command", hidden: true }, command, note);
  const button = (/** @type {string} */ text, /** @type {() => void} */ act) =>
    make("button", { type: "button", text, click: act });
  const save = (/** @type {typeof savePng} */ write) => () => {
    const now = drawn();
    if (now) {
      write(now.scene, now.layouts);
    }
  };
  const copy = async () => {
    command.textContent = commandLine(store.data, store.state);
    shown.hidden = false;
    // Without access to the clipboard the line can be copied by hand.
    const copied = await navigator.clipboard?.writeText(command.textContent).then(
      () => true,
      () => false,
    );
    note.textContent = ` ${copied ? "The command has been copied." : "Copy this command."} ${commandLimits(store.data, store.state)}`;
    announce(note.textContent);
    if (!copied) {
      getSelection()?.selectAllChildren(command);
    }
  };
  const buttons = make(
    "div",
    { class: "actions" },
    button("Save PNG", save(savePng)),
    button("Save SVG", save(saveSvg)),
    button("Copy the command", copy),
    button("Help (?)", () => help.showModal()),
  );
  store.subscribe(() => (shown.hidden = true));
  return { buttons, shown };
}
