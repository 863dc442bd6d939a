/** What keys and buttons do to the question on the screen: on the page, and in a notebook. */

import { keyOf, keys, leftField, pressesControl, takesTyping } from "./keys.js";
import { subject } from "./say.js";

/** @typedef {import("./types.js").Said} Said */

export class Actions {
  /**
   * @param {import("./project.js").Project} project
   * @param {{help: () => void, focusTitle: () => void}} does what else keys may do, and where the focus goes
   */
  constructor(project, does) {
    this.project = project;
    this.does = does;
    /** @type {import("./question.js").QuestionArea | null} where the question stands */
    this.area = null;
  }

  /** @param {Said} said @param {Event} [event] */
  answer(said, event) {
    const pointed = event instanceof MouseEvent && event.detail > 0;
    if (!this.project.answer(said)) return;
    this.area?.flash(String(said));
    // After a click the focus leaves the button, or the space bar would press it again.
    if (pointed) this.does.focusTitle();
  }

  /** @param {string} action @param {Event} [event] */
  act(action, event) {
    const question = this.project.current;
    const view = this.area?.view;
    if (action === "undo") {
      this.area?.flash("undo");
      this.project.undo();
    } else if (action === "help") this.does.help();
    else if (action === "zoom") view?.zoom?.toggle();
    else if (!question) return;
    else if (action === "say") this.area?.say.focus();
    else if (["unsure", "skip"].includes(action)) this.answer(/** @type {Said} */ (action), event);
    else if (view?.press) view.press(action, event);
    else if (action === "fresh") {
      if (subject(question)) this.answer({ new: "" }, event);
    } else if (/^[1-9]$/.test(action)) {
      if (question.type === "lineup" && question.options[Number(action) - 1]) this.answer(question.options[Number(action) - 1].cluster, event);
    } else if ((question.type === "pair") === (action !== "none")) this.answer(/** @type {Said} */ (action), event);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {(action: string) => boolean} [counts] whether an action can be meant now
   * @param {{takes: (action: string) => boolean, act: (action: string) => void}} [other] what takes some of them instead
   */
  press(event, counts = () => true, other = undefined) {
    if (event.defaultPrevented || takesTyping(event.target) || document.querySelector("dialog[open]")) return;
    const key = keyOf(event);
    if (key === null || pressesControl(event.target, key)) return;
    const typing = leftField();
    const action = keys.action(key);
    if (!action || !counts(action)) return;
    event.preventDefault();
    if (typing) return;
    if (event.repeat && action !== "zoom") return; // a key held down answers once
    if (other?.takes(action)) other.act(action);
    else this.act(action, event);
  }
}
