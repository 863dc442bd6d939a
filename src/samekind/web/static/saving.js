/** Whether what was answered is saved, and what can be done if it is not. */

import { byId, count, h } from "./dom.js";

/** @param {import("./project.js").Project} project say whether all is saved, wherever that stands */
export function watchSaving(project) {
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
}

/** @param {string} text @param {() => void} again @param {[string, () => void]} [otherwise] what else can be done */
export function showBanner(text, again, otherwise) {
  const banner = byId("banner");
  const shown = banner.querySelector("span");
  const offers = [["Try now", again], ...(otherwise ? [otherwise] : [])];
  const labels = offers.map(([label]) => label).join();
  if (shown && banner.dataset.offers === labels) shown.textContent = text; // the buttons stay, and with them the focus
  else banner.replaceChildren(h("span", {}, text), ...offers.map(([label, act]) => h("button", { type: "button", onclick: act }, label)));
  banner.dataset.offers = labels;
  banner.hidden = false;
}

/** All is well. */
export function hideBanner() {
  byId("banner").hidden = true;
  byId("banner").replaceChildren();
}
