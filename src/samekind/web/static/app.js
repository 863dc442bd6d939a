/** The page: joins the project, the screens and the keys. */

import { byId, count, h, number, toast } from "./dom.js";
import { Project } from "./project.js";
import { Finish } from "./finish.js";
import { OverviewPanel } from "./overview.js";
import { openHelp } from "./help.js";
import { keyOf, keys, leftField, pressesControl, takesTyping } from "./keys.js";
import { QuestionArea } from "./question.js";
import { call } from "./api.js";
import { showCriterion } from "./criterion.js";
import { known, may, me } from "./me.js";
import { flag, Review } from "./review.js";
import { subject } from "./say.js";
import { ThresholdPanel } from "./records.js";
import { initTheme, remember, remembered } from "./settings.js";
import { pictures } from "./items.js";

/** @typedef {import("./types.js").Said} Said */

/** @type {Record<string, string>} the screens, and the role that each is for */
const VIEWS = { question: "answer", found: "review", review: "review", finish: "own" };

const project = new Project();
const found = new OverviewPanel(project);
new ThresholdPanel(project);
const review = new Review(project, goto);
const finish = new Finish(project, goto);
const area = new QuestionArea(project, { act, answer, goto });

/** @type {import("./types.js").StopAdvice | null} */
let stopping = null;

/** @param {string} view show a screen */
function goto(view) {
  const address = `#/${view}`; // with a stroke: no element has this id, so that nothing scrolls
  if (location.hash !== address) history.pushState(null, "", address);
  show();
  byId(`${document.body.dataset.view}-title`).focus({ preventScroll: true });
}

function show() {
  const asked = location.hash.slice(2);
  const view = asked in VIEWS && may(VIEWS[asked]) && !project.locked ? asked : "question";
  document.body.dataset.view = view;
  for (const tab of document.querySelectorAll("[data-goto]")) {
    if (tab.dataset.goto === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (view === "review") review.show();
  if (view === "finish") finish.show();
  found.refresh();
}

/** @param {Said} said @param {Event} [event] */
function answer(said, event) {
  const pointed = event instanceof MouseEvent && event.detail > 0;
  if (!project.answer(said)) return;
  area.flash(String(said));
  // After a click the focus leaves the button, or the space bar would press it again.
  if (pointed) byId("question-title").focus({ preventScroll: true });
}

/** @param {string} action @param {Event} [event] */
function act(action, event) {
  const question = project.current;
  if (action === "undo") {
    area.flash("undo");
    project.undo();
  } else if (action === "help") openHelp(() => area.refresh());
  else if (action === "zoom") area.view?.zoom?.toggle();
  else if (action === "blink") area.view?.blink?.toggle();
  else if (!question) return;
  else if (action === "flag") {
    flag(project.storageKey, question.id);
    answer("skip", event);
    toast("Flagged. It waits for you under Review.");
  } else if (action === "say") area.say.focus();
  else if (["unsure", "skip"].includes(action)) answer(/** @type {Said} */ (action), event);
  else if (area.view?.press) area.view.press(action, event);
  else if (action === "fresh") {
    if (subject(question)) answer({ new: "" }, event);
  } else if (/^[1-9]$/.test(action)) {
    if (question.type === "lineup" && question.options[Number(action) - 1]) answer(question.options[Number(action) - 1].cluster, event);
  } else if ((question.type === "pair") === (action !== "none")) answer(/** @type {Said} */ (action), event);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || takesTyping(event.target) || document.querySelector("dialog[open]")) return;
  const key = keyOf(event);
  if (key === null || pressesControl(event.target, key)) return;
  const typing = leftField();
  const action = keys.action(key);
  if (!action || (document.body.dataset.view !== "question" && !["undo", "help"].includes(action))) return;
  event.preventDefault();
  if (typing) return;
  if (!event.repeat || action === "zoom") act(action, event); // a key held down answers once
});

project.addEventListener("state", showStanding);
project.addEventListener("overview", (event) => {
  stopping = /** @type {CustomEvent} */ (event).detail.stopping;
  showStanding();
});

function showStanding() {
  const state = project.state;
  if (!state) return;
  document.title = `${state.title} – samekind`;
  byId("title").textContent = state.title;
  byId("version").textContent = state.version;
  const done = state.budget ? `${number(state.presses)} of ${count(state.budget, "press", "presses")}` : count(state.presses, "press", "presses");
  const left = state.done ? state.stop_text : state.left_text;
  const safe = !state.done && (state.stopping ?? stopping)?.safe;
  byId("standing").replaceChildren(
    h("strong", { title: count(state.questions, "question") }, done),
    h("strong", {}, count(state.clusters, "kind")),
    ...(left ? [h("span", { class: "left" }, left)] : []),
    ...(safe ? [h("span", { class: "safe" }, "safe to stop")] : []),
  );
  const budget = byId("budget");
  budget.hidden = !state.budget;
  budget.max = state.budget ?? 1;
  budget.value = Math.min(state.presses, budget.max);
}

project.addEventListener("busy", (event) => {
  const busy = /** @type {CustomEvent} */ (event).detail;
  document.body.toggleAttribute("data-busy", busy);
  byId("busy").textContent = busy ? "Working…" : "";
});

project.addEventListener("status", (event) => {
  const { state, waiting, seconds, why, stuck } = /** @type {CustomEvent} */ (event).detail;
  const saved = byId("saved");
  saved.dataset.state = state;
  saved.textContent = { saved: "Saved", saving: "Saving…", unsaved: "Not saved – retrying" }[/** @type {"saved"} */ (state)];
  if (state !== "unsaved") return state === "saved" && hideBanner();
  if (stuck) {
    const what = stuck === "answer" ? "Your answer could not be saved" : "Your last answer could not be taken back";
    const rest = waiting > 1 ? ` ${count(waiting - 1, "more answer")} ${waiting === 2 ? "waits" : "wait"} behind it.` : "";
    const leave = stuck === "answer" ? "Skip this question" : "Leave it as it is";
    return showBanner(`${why} ${what}; it is tried again in ${seconds} s.${rest}`, () => project.outbox.retryNow(), [leave, () => project.outbox.giveUp()]);
  }
  const kept = waiting === 1 ? "Your answer is kept" : `Your ${waiting} answers are kept`;
  return showBanner(`${why} ${kept} on this page and sent as soon as possible; next try in ${seconds} s.`, () => project.outbox.retryNow());
});

project.addEventListener("trouble", (event) => {
  const error = /** @type {CustomEvent} */ (event).detail;
  const lockedOut = project.locked && !project.loaded;
  document.body.classList.toggle("locked-out", lockedOut);
  if (lockedOut) {
    hideBanner();
    show();
    area.show(); // it says what to do
  } else if (error?.locked) showBanner(error.message, () => project.load());
  else if (error) showBanner(`${error.message}${error.retry ? " Trying again…" : ""}`, () => project.load());
  else if (!project.outbox.items.length) hideBanner();
});

project.addEventListener("say", (event) => {
  const { text, bad, items } = /** @type {CustomEvent} */ (event).detail;
  toast(text, { bad, pictures: pictures(items ?? []) });
});

/** @param {string} text @param {() => void} again @param {[string, () => void]} [otherwise] what else can be done */
function showBanner(text, again, otherwise) {
  const banner = byId("banner");
  const shown = banner.querySelector("span");
  const offers = [["Try now", again], ...(otherwise ? [otherwise] : [])];
  const labels = offers.map(([label]) => label).join();
  if (shown && banner.dataset.offers === labels) shown.textContent = text; // the buttons stay, and with them the focus
  else banner.replaceChildren(h("span", {}, text), ...offers.map(([label, act]) => h("button", { type: "button", onclick: act }, label)));
  banner.dataset.offers = labels;
  banner.hidden = false;
}

function hideBanner() {
  byId("banner").hidden = true;
  byId("banner").replaceChildren();
}

for (const tab of document.querySelectorAll("[data-goto]")) {
  tab.addEventListener("click", () => goto(/** @type {HTMLElement} */ (tab).dataset.goto ?? "question"));
}
byId("help").addEventListener("click", () => act("help"));
addEventListener("popstate", show);
document.addEventListener("visibilitychange", () => {
  // Another tab or person may have answered meanwhile.
  if (document.visibilityState === "visible" && project.loaded) project.load();
});

const who = byId("who");
who.value = remembered("who", "");
who.addEventListener("change", () => {
  remember("who", who.value.trim());
  project.load();
});
who.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && who.blur());

const lineup = byId("lineup");
project.addEventListener("state", () => (lineup.checked = project.lineup));
lineup.addEventListener("change", () => {
  remember("lineup", lineup.checked);
  project.load();
});

const sheets = byId("sheets");
project.addEventListener("state", () => (sheets.checked = project.state?.sheets ?? true));
sheets.addEventListener("change", async () => {
  await project.perform(() => call("PUT", "/api/sheets", { body: { sheets: sheets.checked } }));
});

known.then(() => {
  if (me.who) byId("me").textContent = me.who;
  show();
});
showCriterion(project);
initTheme(byId("theme"));
show();
project.load();
