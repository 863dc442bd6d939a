/** Which words or letters differ between two texts. */

import { diffArrays } from "./vendor/diff/array.js";

const MOST_WORDS = 1500; // what is longer is compared up to there
const MOST_EDITS = 1500; // from which two texts have nothing to do with each other
const LONGEST = 200; // letters of a value that is compared letter by letter
const QUANTITY = /^-?\d*\.\d+(e[+-]?\d+)?$/; // digits of a measure that differ say little
const ALIKE = 0.6; // share of letters in common from which the others are slips, not another value

/** @typedef {{text: string, same: boolean}} Part a stretch of a text, shared or not */
/** @typedef {{a: Part[], b: Part[], share: number}} Difference share: of what both have in common */

/** @param {string} text @returns {string[]} words and single signs, each with the blanks after it */
function words(text) {
  const word = /(?:[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}])\s*|\s+/gu;
  return text.match(word) ?? [];
}

/**
 * Compare two texts word by word; neither case nor blanks count.
 *
 * @param {string} a
 * @param {string} b
 * @returns {Difference}
 */
export function compare(a, b) {
  const of = (/** @type {string} */ text) =>
    words(text.slice(0, MOST_WORDS * 40)).slice(0, MOST_WORDS);
  const found = common(of(a), of(b), (word) => word.trim().toLowerCase());
  for (const [parts, text] of /** @type {[Part[], string][]} */ ([
    [found.a, a],
    [found.b, b],
  ])) {
    const used = parts.reduce((sum, part) => sum + part.text.length, 0);
    if (used < text.length) parts.push({ text: text.slice(used), same: true });
  }
  return found;
}

/**
 * Compare two short values letter by letter: slips of the pen in names, dates and codes.
 *
 * @param {string} a
 * @param {string} b
 * @returns {Difference | null} null if they are equal, too unlike, or measures
 */
export function compareLetters(a, b) {
  if (a === b || !a || !b || Math.max(a.length, b.length) > LONGEST) return null;
  if (QUANTITY.test(a) || QUANTITY.test(b)) return null;
  const found = common(Array.from(a), Array.from(b), (letter) => letter.toLowerCase());
  return found.share < ALIKE ? null : found;
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @param {(one: string) => string} plain what is compared
 * @returns {Difference}
 */
function common(a, b, plain) {
  const changes = diffArrays(a.map(plain), b.map(plain), { maxEditLength: MOST_EDITS });
  /** @type {Difference} */
  const found = { a: [], b: [], share: 0 };
  let [placeA, placeB, shared] = [0, 0, 0];
  for (const { count, added, removed } of changes ?? []) {
    if (!added) add(found.a, a.slice(placeA, (placeA += count)), !removed);
    if (!removed) add(found.b, b.slice(placeB, (placeB += count)), !added);
    if (!added && !removed) shared += count;
  }
  if (!changes) {
    add(found.a, a, false);
    add(found.b, b, false);
  }
  const longest = Math.max(a.length, b.length);
  found.share = longest ? shared / longest : 1;
  return found;
}

/** @param {Part[]} parts @param {string[]} pieces @param {boolean} same */
function add(parts, pieces, same) {
  if (pieces.length) parts.push({ text: pieces.join(""), same });
}
