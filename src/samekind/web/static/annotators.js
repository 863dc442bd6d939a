/** Who answers: what a model does and costs at the moment, and a table of all who answered. */

import { call } from "./api.js";
import { byId, h, number } from "./dom.js";
import { known, may } from "./me.js";

const EVERY_MS = 4000;
const NONE = "–";

/** @param {number} share @returns {string} */
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/** @param {number} money @returns {string} */
const money = (money) => (money ? money.toPrecision(3) : "0");

/** @param {any} one */
function row(one) {
  const error = one.error === null ? NONE : `${percent(one.error)} (${percent(one.low)} to ${percent(one.high)})`;
  const agreement = one.shared ? `${number(one.agreed)} of ${number(one.shared)}` : NONE;
  const cells = [
    number(one.answers), number(one.unsure), agreement, error, one.cost === null ? NONE : money(one.cost),
  ];
  return h("tr", {}, h("th", { scope: "row", dir: "auto" }, one.name, one.is_model && h("span", { class: "annotator-model" }, " model")),
    ...cells.map((cell) => h("td", {}, cell)));
}

/** @param {any} page */
function show(page) {
  const place = byId("annotators");
  const model = page.assistant;
  place.hidden = !model && page.annotators.length < 2;
  if (place.hidden) return;
  const was = place.querySelector("details")?.open ?? false;
  const lines = [];
  if (model) {
    const most = model.budget === null ? "" : ` of ${number(model.budget)}`;
    const cap = model.cap === null ? "" : ` of ${money(model.cap)}`;
    lines.push(h("p", { class: "annotator-now", dir: "auto" }, h("strong", {}, model.name), ` ${model.state}. `,
      `${number(model.answers)}${most} answers, ${number(model.calls)} calls, ${number(model.tokens)} tokens, cost ${money(model.cost)}${cap}; `,
      `${number(model.checked)} checked, ${number(model.waiting)} wait for you.`));
  }
  const head = ["who", "answers", "unsure", "agrees with others", "wrong (95 % interval)", "cost"];
  place.replaceChildren(...lines, h("details", { open: was }, h("summary", {}, "Who answered"),
    h("table", { class: "annotator-table" },
      h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...page.annotators.map(row)))));
}

async function look() {
  await known;
  if (!may("review")) return;
  let again = true;
  try {
    const page = await call("GET", "/api/annotators");
    show(page);
    again = page.assistant !== null; // without a model, who answered does not change while one looks
  } catch (error) {
    // The page says elsewhere that the server cannot be reached, or that a token is missing, and then waits for nothing.
    again = !error.locked;
  }
  if (again) setTimeout(look, EVERY_MS);
}

look();
