/** The questions of a project in a notebook: the cards, the keys and the queue are the page's own. */

import { Actions } from "./actions.js";
import { connect } from "./api.js";
import { showCriterion } from "./criterion.js";
import { byId, h, toast } from "./dom.js";
import { openHelp } from "./help.js";
import { pictures } from "./items.js";
import { Project } from "./project.js";
import { QuestionArea } from "./question.js";
import { hideBanner, showBanner, watchSaving } from "./saving.js";
import { standing } from "./standing.js";

const SLOW_MS = 4000;
const RESULT = "The result is in Python: widget.clusters(), or widget.project.export(…).";

/** @param {HTMLElement} page where the questions stand @param {any} model of the widget @returns {() => void} what ends it */
export function start(page, model) {
  const disconnect = connect(model);
  page.append(...frame());
  const project = new Project();
  const actions = new Actions(project, {
    help: () => openHelp(() => area.refresh()),
    focusTitle: () => byId("question-title").focus({ preventScroll: true }),
  });
  const area = new QuestionArea(project, {
    act: (action, event) => actions.act(action, event),
    answer: (said, event) => actions.answer(said, event),
    goto: () => toast(RESULT),
  });
  actions.area = area;
  byId("help").addEventListener("click", () => actions.act("help"));
  page.addEventListener("keydown", (event) => {
    actions.press(event);
    // What is typed here is not meant for the notebook, but for what moves the focus, saves, or runs a cell.
    if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
  });
  showCriterion(project);
  watchSaving(project);
  project.addEventListener("state", () => {
    if (project.state) byId("standing").replaceChildren(...standing(project.state, null));
  });
  project.addEventListener("trouble", (event) => {
    const error = /** @type {CustomEvent} */ (event).detail;
    if (error) showBanner(error.message, () => project.load());
    else if (!project.outbox.items.length) hideBanner();
  });
  project.addEventListener("say", (event) => {
    const { text, bad, items } = /** @type {CustomEvent} */ (event).detail;
    toast(text, { bad, pictures: pictures(items ?? []) });
  });
  const slow = setInterval(() => tellIfSlow(project), SLOW_MS / 4);
  const hear = (/** @type {any} */ message) => message?.changed && project.load();
  model.on("msg:custom", hear);
  project.load();
  return () => {
    clearInterval(slow);
    model.off("msg:custom", hear);
    disconnect();
  };
}

/** @returns {HTMLElement[]} what the page has in its HTML */
function frame() {
  return [
    h("header", { class: "top" },
      h("p", { id: "standing", class: "standing" }, "Loading…"),
      h("p", { class: "keys-hint" }, "Click here to use the keys"),
      h("p", { id: "saved", class: "saved", role: "status", "data-state": "idle" }),
      h("button", { id: "help", type: "button", class: "icon-button", "aria-label": "Help and keys", "aria-keyshortcuts": "?" }, h("span", { "aria-hidden": "true" }, "?"))),
    h("div", { id: "banner", class: "banner", role: "alert", hidden: true }),
    h("section", { id: "question", class: "question", "aria-labelledby": "question-title", "data-id": "", "aria-busy": "true" },
      h("div", { id: "criterion", class: "criterion", hidden: true }),
      h("div", { class: "question-head" }, h("h2", { id: "question-title", tabindex: "-1" }, "Loading…"), h("div", { id: "question-tools", class: "question-tools" })),
      h("div", { id: "question-body", class: "question-body" }),
      h("div", { class: "answering" },
        h("div", { id: "say", class: "say", role: "group", "aria-label": "Say what it is", hidden: true }),
        h("div", { id: "actions", class: "actions", role: "group", "aria-label": "Your answer", hidden: true }))),
    h("p", { id: "announcer", class: "hidden", "aria-live": "polite" }),
    h("div", { id: "toasts", class: "toasts", role: "region", "aria-label": "Messages", "aria-live": "polite" }),
  ];
}

/** @type {number | null} since when something waits to be saved */
let since = null;

/** @param {Project} project say so where the kernel takes long */
function tellIfSlow(project) {
  const waits = !project.loaded || project.outbox.items.length > 0;
  since = waits ? (since ?? performance.now()) : null;
  if (since === null || performance.now() - since < SLOW_MS) return;
  byId("saved").textContent = "Waiting for the kernel: it is busy, or it was restarted";
}
