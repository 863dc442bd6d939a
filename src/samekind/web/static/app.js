/** The page: joins the project, the screens and the keys. */

import { Actions } from "./actions.js";
import { byId, h, toast } from "./dom.js";
import { Project } from "./project.js";
import { Finish } from "./finish.js";
import { OverviewPanel } from "./overview.js";
import { openHelp } from "./help.js";
import { QuestionArea } from "./question.js";
import { call } from "./api.js";
import { showCriterion } from "./criterion.js";
import { LinkScreen } from "./links.js";
import { may, me, opened } from "./me.js";
import { Review } from "./review.js";
import { hideBanner, showBanner, watchSaving } from "./saving.js";
import { standing } from "./standing.js";
import { ThresholdPanel } from "./records.js";
import { initTheme, remember, remembered } from "./settings.js";
import { pictures } from "./items.js";

/** @type {Record<string, string>} the screens, and the role that each is for */
const VIEWS = { question: "answer", found: "review", review: "review", people: "own", finish: "own" };

const project = new Project();
const found = new OverviewPanel(project);
new ThresholdPanel(project);
const review = new Review(project, goto);
const people = new LinkScreen();
const finish = new Finish(project, goto);
const actions = new Actions(project, {
  help: () => openHelp(() => area.refresh()),
  focusTitle: () => byId("question-title").focus({ preventScroll: true }),
});
const area = new QuestionArea(project, { act: (action, event) => actions.act(action, event), answer: (said, event) => actions.answer(said, event), goto });
actions.area = area;

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
  const there = asked in VIEWS && (asked !== "people" || me.who !== null); // else there are no links
  const view = there && may(VIEWS[asked]) && !project.locked ? asked : "question";
  document.body.dataset.view = view;
  for (const tab of document.querySelectorAll("[data-goto]")) {
    if (tab.dataset.goto === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (view === "review") review.show();
  if (view === "people") people.show();
  else people.putAway();
  if (view === "finish") finish.show();
  found.refresh();
}

document.addEventListener("keydown", (event) => {
  const { view } = document.body.dataset;
  const reviewed = view === "review" && review.disputes;
  actions.press(event, (action) => view === "question" || ["undo", "help"].includes(action) || (reviewed && reviewed.takes(action)), reviewed || undefined);
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
  byId("standing").replaceChildren(...standing(state, stopping));
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

watchSaving(project);

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

for (const tab of document.querySelectorAll("[data-goto]")) {
  tab.addEventListener("click", () => goto(/** @type {HTMLElement} */ (tab).dataset.goto ?? "question"));
}
byId("help").addEventListener("click", () => actions.act("help"));
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

showCriterion(project);
initTheme(byId("theme"));
show();
opened(showOpening).then(() => {
  if (me.who) byId("me").textContent = me.who;
  document.body.toggleAttribute("data-links", me.who !== null);
  show();
  project.load();
});

/** @param {string} text what the server does before there is a question */
function showOpening(text) {
  byId("question-title").textContent = "samekind is getting ready";
  const bar = h("progress", { max: 1, "aria-label": "How much is prepared" });
  if (me.share > 0) bar.value = me.share;
  byId("question-body").replaceChildren(h("div", { class: "opening" }, h("p", { role: "status" }, text), bar));
}
