/**
 * What a key press means at this moment.
 *
 * Rules:
 * - The key for "say" (`/`) opens the field at any time, also while a request is on its way. What is
 *   typed after it goes into the field. Where there is no field, what follows is dropped until Enter,
 *   Escape or a second without a key. It is never a command.
 * - A field that vanishes under the fingers drops what is typed until a second passes without a key.
 * - For a second after a field was left on purpose (Enter, Escape, Tab, a click) commands are dropped.
 *   The field for the answer is an exception: after its Enter the next question takes keys at once.
 * - A question takes no answer at the moment it appears: see `GLANCE_MS` and `REPLACED_MS` of the store.
 *   Such a key is dropped.
 * - A key that is held down acts once.
 */

import { keyOf, pressesControl, takesTyping } from "./keys.js";

export const QUIET_MS = 1000;
const LEAVING = ["Enter", "Escape", "Tab"];

export class Keyboard {
  /**
   * @param {object} does
   * @param {() => number} does.now milliseconds
   * @param {(key: string) => string | null} does.actionOf
   * @param {(action: string) => boolean} does.counts whether an action can be meant on this screen
   * @param {(action: string) => void} does.act
   * @param {() => boolean} does.openField whether there is one
   * @param {(isQuiet: boolean) => void} does.quiet is told when keys are dropped, and when no more
   */
  constructor(does) {
    this.does = does;
    this.until = 0; // when keys count again
    this.isDropping = false; // what is typed prolongs that
    this.isLeaving = false; // whether the field that has the focus is being left on purpose
    this.hasField = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** A field got the focus. */
  entered() {
    this.hasField = true;
    this.isLeaving = false;
    this.#end();
  }

  /** A key was pressed in a field. @param {string} key */
  typed(key) {
    this.isLeaving = LEAVING.includes(key);
  }

  /** A pointer went down anywhere. */
  pointed() {
    this.isLeaving = true;
  }

  /** A field lost the focus. @param {boolean} isAnswer whether by the answer that was typed in it */
  left(isAnswer) {
    if (!this.hasField) return;
    this.hasField = false;
    if (isAnswer) return;
    this.#drop(!this.isLeaving);
  }

  /**
   * A key was pressed outside fields.
   *
   * @param {string} key
   * @param {boolean} isHeld whether it repeats itself
   * @returns {boolean} whether it is the page's
   */
  pressed(key, isHeld = false) {
    const action = this.does.actionOf(key);
    if (action === "say" && this.does.counts("say")) {
      if (!isHeld && !this.does.openField()) this.#drop(true);
      return true;
    }
    if (this.does.now() < this.until) {
      if (this.isDropping && LEAVING.includes(key)) this.#end();
      else if (this.isDropping) this.#drop(true);
      return action !== null;
    }
    if (!action || !this.does.counts(action)) return false;
    if (!isHeld || action === "zoom") this.does.act(action);
    return true;
  }

  /** @param {boolean} isProlonged */
  #drop(isProlonged) {
    this.isDropping = isProlonged;
    this.until = this.does.now() + QUIET_MS;
    this.does.quiet(true);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#end(), QUIET_MS);
  }

  #end() {
    clearTimeout(this.timer);
    this.until = 0;
    this.isDropping = false;
    this.does.quiet(false);
  }
}

/**
 * Let a keyboard hear what happens in a page.
 *
 * @param {Keyboard} keyboard
 * @param {EventTarget} page
 */
export function listenToKeys(keyboard, page) {
  page.addEventListener("focusin", ({ target }) => takesTyping(target) && keyboard.entered());
  page.addEventListener("focusout", ({ target }) => {
    if (takesTyping(target))
      keyboard.left(/** @type {Element} */ (target).closest("#say") !== null);
  });
  page.addEventListener("pointerdown", () => keyboard.pointed(), true);
  page.addEventListener(
    "keydown",
    (event) => {
      const { target, key } = /** @type {KeyboardEvent} */ (event);
      if (takesTyping(target)) keyboard.typed(key);
    },
    true,
  );
  page.addEventListener("keydown", (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    if (event.defaultPrevented || takesTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const key = keyOf(event);
    if (key === null || pressesControl(event.target, key)) return;
    // A field that was removed from the page: not every browser tells that it lost the focus.
    if (keyboard.hasField && !takesTyping(document.activeElement)) keyboard.left(false);
    if (keyboard.pressed(key, event.repeat)) event.preventDefault();
  });
}
