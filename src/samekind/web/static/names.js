/**
 * Numbers and colours of kinds. A kind goes by the row that stands for it; people see a small number instead, which
 * it keeps for as long as the tab is open, a reload included.
 */

/** @typedef {import("./types.js").KindBrief} KindBrief */

const COLORS = 20; // see colors.js

/** @type {Map<number, number>} */
const numbers = new Map();
/** @type {Map<number, number>} the place of a kind among the colours */
const places = new Map();
let key = "";

/** @param {string} project take up the numbers that this tab has given before */
export function recall(project) {
  if (key) return;
  key = `samekind.kinds.${project}`;
  try {
    for (const [kind, number, place] of JSON.parse(sessionStorage.getItem(key) ?? "[]")) {
      numbers.set(kind, number);
      places.set(kind, place);
    }
  } catch {
    // They are given anew.
  }
}

/** @param {KindBrief[]} kinds all there are: number those that are new, in this order */
export function meet(kinds) {
  const there = new Set(kinds.map(({ kind }) => kind));
  const fresh = [...there].filter((kind) => !numbers.has(kind));
  if (!fresh.length) return;
  let last = Math.max(0, ...numbers.values());
  for (const kind of fresh) numbers.set(kind, ++last);
  const taken = new Set([...places].filter(([kind]) => there.has(kind)).map(([, place]) => place));
  for (const kind of fresh.filter((kind) => !places.has(kind)).sort((a, b) => a - b)) {
    places.set(kind, freePlace(kind, taken));
    taken.add(placeOf(kind));
  }
  try {
    sessionStorage.setItem(key, JSON.stringify([...numbers].map(([kind, number]) => [kind, number, placeOf(kind)])));
  } catch {
    // They hold until the page is left.
  }
}

/** @param {number} kind @param {Set<number>} taken @returns {number} its own place, or the next that no other kind has */
function freePlace(kind, taken) {
  for (let round = 0; ; round += COLORS) {
    for (let step = 0; step < COLORS; step += 1) {
      const place = round + ((kind + step) % COLORS);
      if (!taken.has(place)) return place;
    }
  }
}

/** @param {number} kind @returns {number} */
export function placeOf(kind) {
  return places.get(kind) ?? kind % COLORS;
}

/** @param {KindBrief} kind @returns {string} its name or its number; empty if it has neither yet */
export function knownAs({ kind, name }) {
  return name || (numbers.has(kind) ? `kind ${numbers.get(kind)}` : "");
}

/** @param {KindBrief} kind @returns {string} what to call it in any case */
export function kindName(kind) {
  return knownAs(kind) || "kind without a name";
}
