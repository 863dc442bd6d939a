/** A pair, side by side: pictures, texts with their differences, and fields in one table. */

import { compare } from "./diff.js";
import { h } from "./dom.js";
import { breakable, difference, foldable, mini, oneLine, picture, shorten, spoken } from "./items.js";
import { markedLetters } from "./letters.js";
import { Zoom, zoomTools } from "./zoom.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").PairQuestion} PairQuestion */
/** @typedef {{title: string, said: string, body: HTMLElement, tools: HTMLElement[], zoom: Zoom | null,
 *   press?: (action: string, event?: Event) => void}} View press: takes the keys of the question, if it has its own */

const ALIKE = 0.34; // share of words in common from which the differences are what to look at
const MANY_FIELDS = 14; // from which fields that agree are folded
const LONG_CELL = 400;
const SPOKEN = { agrees: "", absent: " (only one has it)", differs: " (differs)", "differs close": " (differs a little)" };

/** @param {PairQuestion} question @returns {View} */
export function pairView({ a, b, b_cluster, more }) {
  const zoom = a.has_picture || b.has_picture ? new Zoom() : null;
  const texts = a.text !== null && b.text !== null ? textViews(a.text, b.text) : null;
  const cards = h("div", { class: "pair" });
  if (a.has_picture || b.has_picture || a.text !== null || b.text !== null) {
    cards.append(card(a, "A", zoom, texts?.a), card(b, "B", zoom, texts?.b));
  }
  const body = h("div", { class: "pair-view" });
  if (cards.children.length) body.append(cards);
  if (texts?.note) body.append(h("p", { class: "hint" }, texts.note));
  if (a.fields.length || b.fields.length) body.append(fieldTable(a, b, cards.children.length === 0));
  if (more.length) body.append(moreOf(b_cluster, more));
  return {
    title: "Are these two of the same kind?",
    said: `Are these two of the same kind? ${spoken(a)}. And: ${spoken(b)}.`,
    body,
    tools: zoom ? zoomTools(zoom) : [],
    zoom,
  };
}

/** @param {ItemView} item @param {string} letter @param {Zoom | null} zoom @param {HTMLElement} [text] @returns {HTMLElement} */
function card(item, letter, zoom, text) {
  const image = picture(item, "large");
  const shown = h(
    "figure",
    { class: "card" },
    h("figcaption", {}, h("span", { class: "letter", "aria-hidden": "true" }, letter), h("span", { class: "card-title", dir: "auto" }, oneLine(item))),
  );
  if (image && zoom) {
    const stage = h("div", { class: "stage" }, image);
    zoom.attach(stage, image);
    shown.append(stage);
  }
  if (item.text !== null) shown.append(text ?? foldable([item.text || "(empty)"], item.text.length));
  return shown;
}

/** @param {string} a @param {string} b @returns {{a: HTMLElement, b: HTMLElement, note: string}} */
function textViews(a, b) {
  const found = compare(a, b);
  const alike = found.share >= ALIKE;
  const show = (/** @type {string} */ text, /** @type {import("./diff.js").Part[]} */ parts) =>
    foldable(text ? parts.flatMap((part) => marked(part, alike)) : ["(empty)"], text.length);
  const shared = found.a.some((part) => part.same && /[\p{L}\p{N}]/u.test(part.text));
  const note = a === b ? "The texts are equal." : alike ? "Words that differ are marked." : shared ? "Few words in common; those are underlined." : "";
  return { a: show(a, found.a), b: show(b, found.b), note };
}

/** @param {import("./diff.js").Part} part @param {boolean} alike @returns {(Node | string)[]} */
function marked(part, alike) {
  if (part.same === alike || !/\S/.test(part.text) || (!alike && !/[\p{L}\p{N}]/u.test(part.text))) return [part.text];
  const words = part.text.trimEnd();
  return [h("mark", { class: alike ? "differs" : "shared" }, words), part.text.slice(words.length)];
}

/** @param {ItemView} a @param {ItemView} b @param {boolean} alone whether nothing above names the two @returns {HTMLElement} */
function fieldTable(a, b, alone) {
  const [of_a, of_b] = [new Map(a.fields), new Map(b.fields)];
  const names = [...new Set([...of_a.keys(), ...of_b.keys()])];
  const rows = names.map((name) => {
    const [left, right] = [of_a.get(name), of_b.get(name)];
    const how = difference(left, right);
    const letters = how === "agrees" || how === "absent" ? null : markedLetters(left ?? "", right ?? "");
    return h(
      "tr",
      { class: how },
      h("th", { scope: "row", dir: "auto" }, ...breakable(name), h("span", { class: "hidden" }, SPOKEN[how])),
      cell(left, letters?.[0]),
      cell(right, letters?.[1]),
    );
  });
  const head = (/** @type {ItemView} */ item, /** @type {string} */ letter) =>
    h("th", { scope: "col" }, alone ? h("span", { class: "letter", "aria-hidden": "true" }, letter) : null, h("span", { dir: "auto" }, oneLine(item)));
  const table = h(
    "table",
    { class: "compare" },
    h("caption", { class: "hidden" }, "The fields of both; those that differ are marked"),
    h("thead", {}, h("tr", {}, h("td", {}), head(a, "A"), head(b, "B"))),
    h("tbody", {}, ...rows),
  );
  const agree = rows.filter((row) => row.classList.contains("agrees")).length;
  if (rows.length <= MANY_FIELDS || !agree || agree === rows.length) return table;
  table.classList.add("only-differences");
  const button = h("button", { type: "button", class: "link", "aria-expanded": "false" }, `Show ${agree} fields that agree`);
  button.addEventListener("click", () => {
    const hidden = table.classList.toggle("only-differences");
    button.textContent = hidden ? `Show ${agree} fields that agree` : "Hide fields that agree";
    button.setAttribute("aria-expanded", String(!hidden));
  });
  return h("div", {}, table, button);
}

/** @param {string | undefined} value @param {(Node | string)[]} [letters] the same with slips marked @returns {HTMLElement} */
function cell(value, letters) {
  if (value === undefined || value === "") return h("td", { class: "empty" }, "–");
  return h("td", { dir: "auto", class: /^-?[\d.,\s]+%?$/.test(value) ? "figure" : null }, ...(letters ?? [shorten(value, LONG_CELL)]));
}

/** @param {import("./types.js").ClusterRef | null} cluster @param {ItemView[]} more @returns {HTMLElement} */
function moreOf(cluster, more) {
  const label = cluster?.name ? `B is one of “${cluster.name}”, like` : "More of the kind of B";
  return h(
    "section",
    { class: "more", "aria-label": label },
    h("h3", { dir: "auto" }, label),
    h("ul", { class: "strip" }, ...more.map((item) => h("li", { title: oneLine(item) }, mini(item), h("span", { class: "hidden" }, oneLine(item))))),
  );
}
