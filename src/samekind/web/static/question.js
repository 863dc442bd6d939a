/** The question area: what is asked, the buttons, and what stands there when nothing is asked. */

import { announce, byId, count, h } from "./dom.js";
import { unbroken, whyDone } from "./finish.js";
import { keys } from "./keys.js";
import { lineupView } from "./lineup.js";
import { knownAs } from "./cluster_names.js";
import { pairView } from "./pair.js";
import { prefetch } from "./items.js";
import { SayBar } from "./say.js";
import { sheetView } from "./tray.js";

/** @typedef {import("./types.js").Said} Said */

const PAIR = [
  ["same", "Same", "=", "answer main"],
  ["different", "Different", "≠", "answer main"],
  ["unsure", "Not sure", "", "answer"],
  ["skip", "Skip", "", "answer"],
  ["undo", "Undo", "", "answer"],
];
const SLOW_MS = 1500;
const LINEUP = [["none", "None of these", "∅", "answer main"], ...PAIR.slice(2)];
const SHEET = [["all", "All the same", "=", "answer main"], ...PAIR.slice(2)];
const ACTIONS = { pair: PAIR, lineup: LINEUP, sheet: SHEET };

export class QuestionArea {
  /**
   * @param {import("./project.js").Project} project
   * @param {{act: (action: string, event?: Event) => void, answer: (said: Said, event?: Event) => void, goto: (view: string) => void}} does
   */
  constructor(project, does) {
    this.project = project;
    this.does = does;
    this.section = byId("question");
    /** @type {import("./pair.js").View | null} */
    this.view = null;
    this.say = new SayBar(byId("say"), project, does.answer);
    project.addEventListener("question", () => this.show());
    project.addEventListener("state", () => this.project.current === null && this.show());
    project.addEventListener("overview", () => this.#nameClusters());
  }

  /** Show the question at the head of the queue. */
  show() {
    const question = this.project.current;
    if (question || !this.project.outbox.items.length) this.say.show(question);
    if (!question) {
      this.#showNone();
      return;
    }
    this.section.classList.remove("waiting");
    clearTimeout(this.slow);
    if (this.section.dataset.id === question.id) {
      this.#settle();
      return;
    }
    if (question.type === "sheet") this.view = sheetView(question, this.does.answer);
    else this.view = question.type === "pair" ? pairView(question) : lineupView(question, this.does.answer);
    this.section.dataset.id = question.id;
    this.section.dataset.type = question.type;
    byId("question-title").textContent = question.skipped ? `Again: ${this.view.title}` : this.view.title;
    byId("question-tools").replaceChildren(...this.view.tools);
    const body = byId("question-body");
    const focused = body.contains(document.activeElement);
    body.replaceChildren(this.view.body);
    if (focused) byId("question-title").focus({ preventScroll: true }); // a pressed option is gone: not so the focus
    this.section.scrollTop = 0;
    this.#showActions(question);
    announce(this.view.said);
    this.#settle();
    for (const next of this.project.queue.slice(1)) prefetchQuestion(next);
  }

  /** Show the keys again after they have changed. */
  refresh() {
    this.section.dataset.id = "";
    this.show();
  }

  /** @param {string} said make visible which button a key has pressed */
  flash(said) {
    const button = this.section.querySelector(`[data-answer="${CSS.escape(said)}"]`);
    if (!button) return;
    // The options of a line-up leave with their question; what stays is the row of buttons.
    button.classList.remove("pressed");
    requestAnimationFrame(() => button.classList.add("pressed"));
    setTimeout(() => button.classList.remove("pressed"), 220);
  }

  #settle() {
    const left = this.project.settled - performance.now();
    this.section.setAttribute("aria-busy", String(left > 0));
    if (left > 0) setTimeout(() => this.#settle(), left + 1);
  }

  /** @param {import("./types.js").Question} question */
  #showActions(question) {
    const buttons = ACTIONS[question.type].map(([action, label, ...rest]) => [action, question.type === "sheet" && action === "all" ? `All ${question.items.length} the same` : label, ...rest]);
    const shown = question.type === "sheet" ? question.id : buttons.map((button) => button[0]).join(); // its label changes
    const actions = byId("actions");
    actions.hidden = false;
    const labels = buttons.map((button) => keys.label(keyed(button[0]))).join();
    if (actions.dataset.shown === shown + labels) return;
    actions.dataset.shown = shown + labels;
    actions.replaceChildren(
      ...buttons.map(([action, label, sign, style]) =>
        h(
          "button",
          {
            type: "button",
            class: `${style} ${action}`,
            "data-answer": action,
            "aria-keyshortcuts": ariaKey(keys.of(keyed(action))[0]),
            onclick: (/** @type {Event} */ event) => this.does.act(action, event),
          },
          sign && h("span", { class: "sign", "aria-hidden": "true" }, sign),
          h("span", {}, label),
          h("kbd", { "aria-hidden": "true" }, keys.label(keyed(action))),
        ),
      ),
    );
  }

  #showNone() {
    const { state, undoing, outbox, loaded } = this.project;
    if (!loaded && this.project.locked) {
      this.section.setAttribute("aria-busy", "false");
      this.#say("This page needs its token", this.#lockedOut());
      return;
    }
    const waiting = !loaded || undoing > 0 || outbox.items.length > 0;
    this.section.setAttribute("aria-busy", String(waiting));
    clearTimeout(this.slow);
    if (waiting) {
      // The reply is a blink away, as a rule: what stands here fades, and gives way only if it takes long.
      const giveWay = () => this.#say(undoing ? "Undoing…" : loaded ? "One moment…" : "Loading…", skeleton());
      this.section.classList.toggle("waiting", this.section.dataset.id !== "");
      if (this.section.dataset.id) this.slow = setTimeout(giveWay, SLOW_MS);
      else giveWay();
      return;
    }
    this.section.classList.remove("waiting");
    byId("actions").hidden = true;
    const now = JSON.stringify([state?.done, state?.stop_reason, state?.skipped, state?.can_undo, state?.budget, this.project.aside.size]);
    if (this.section.dataset.type === "none" && this.none === now) return; // what is pressed must not vanish under the finger
    if (state?.done) this.#say("That is all", this.#done(state));
    else this.#say(this.project.aside.size ? "This question cannot be answered now" : "Nothing to ask right now", this.#empty(state));
    this.none = now;
  }

  /** Clusters without a name get their numbers with the list of all clusters. */
  #nameClusters() {
    for (const place of this.section.querySelectorAll(".unnamed:empty")) {
      place.textContent = knownAs({ cluster: Number(place.dataset.cluster), name: null });
    }
  }

  #lockedOut() {
    announce(this.project.why);
    return h("div", { class: "notice" }, h("p", {}, this.project.why));
  }

  /** @param {string} title @param {HTMLElement} body */
  #say(title, body) {
    this.section.dataset.id = "";
    this.section.dataset.type = "none";
    this.view = null;
    this.none = "";
    byId("question-tools").replaceChildren();
    byId("question-title").textContent = title;
    byId("question-body").replaceChildren(body);
  }

  /** @param {import("./types.js").Status} state */
  #done(state) {
    const why = whyDone(state);
    announce(`That is all. ${why}`);
    return h(
      "div",
      { class: "notice" },
      h("p", {}, ...unbroken(why)),
      state.skipped > 0 && h("p", {}, `${count(state.skipped, "question")} that ${state.skipped === 1 ? "was" : "were"} skipped can still be answered.`),
      h(
        "p",
        { class: "buttons" },
        h("button", { type: "button", class: "primary", "data-needs": "own", onclick: () => this.does.goto("finish") }, "See and export the result"),
        state.skipped > 0 && h("button", { type: "button", onclick: () => this.project.comeBack() }, `Come back to ${state.skipped} skipped`),
        state.can_undo && h("button", { type: "button", onclick: () => this.does.act("undo") }, "Undo the last answer"),
      ),
    );
  }

  /** @param {import("./types.js").Status | null} state */
  #empty(state) {
    // The work is not done, so that there are questions, and none for us: skipped ones would not keep it from its end.
    const aside = this.project.aside.size > 0;
    const text = aside
      ? "The server could not take an answer to the open question, not even that it is skipped. The terminal in which samekind runs says why. Everything answered before is saved."
      : "Other people are answering all open questions at the moment. This page looks again every few seconds and goes on by itself.";
    const skipped = state?.skipped ?? 0;
    announce(text);
    return h(
      "div",
      { class: "notice" },
      h("p", {}, text),
      h(
        "p",
        { class: "buttons" },
        skipped > 0 && h("button", { type: "button", class: "primary", onclick: () => this.project.comeBack() }, `Meanwhile, come back to ${skipped} skipped`),
        aside && state?.can_undo && h("button", { type: "button", onclick: () => this.does.act("undo") }, "Undo the last answer"),
        h("button", { type: "button", onclick: () => this.project.retryAside() }, aside ? "Try it again" : "Look again"),
      ),
    );
  }
}

/** @param {import("./types.js").Question} question */
function prefetchQuestion(question) {
  if (question.type === "sheet") {
    [...question.cluster.members, ...question.items].forEach((item) => prefetch(item, "small"));
  } else if (question.type === "pair") {
    prefetch(question.a, "large");
    prefetch(question.b, "large");
    question.more.forEach((item) => prefetch(item, "small"));
  } else {
    prefetch(question.item, "large");
    question.options.forEach((option) => option.members.forEach((item) => prefetch(item, "small")));
  }
}

/** @param {string} action @returns {string} the action whose key it has */
function keyed(action) {
  return action === "all" ? "same" : action;
}

/** @param {string} key @returns {string} as ARIA spells it */
function ariaKey(key) {
  return key === " " ? "Space" : key;
}

function skeleton() {
  return h("div", { class: "pair skeleton", "aria-hidden": "true" }, h("div", { class: "card" }), h("div", { class: "card" }));
}
