/** Which letters differ between two short values: slips of the pen in names, dates and codes. */

import { h } from "./dom.js";

const LONGEST = 200; // letters of a value that is compared letter by letter
const QUANTITY = /^-?\d*\.\d+(e[+-]?\d+)?$/; // digits of a measure that differ say little
const ALIKE = 0.6; // share of letters in common from which the others are slips, not another value

/**
 * @param {string} a
 * @param {string} b
 * @returns {[(Node | string)[], (Node | string)[]] | null} both with the letters that differ marked; null if they are too unlike
 */
export function markedLetters(a, b) {
  if (a === b || !a || !b || a.length > LONGEST || b.length > LONGEST || QUANTITY.test(a) || QUANTITY.test(b)) return null;
  const [ofA, ofB] = [Array.from(a), Array.from(b)];
  const [sameA, sameB] = common(ofA.map((letter) => letter.toLowerCase()), ofB.map((letter) => letter.toLowerCase()));
  const shared = sameA.reduce((sum, same) => sum + Number(same), 0);
  if (shared < ALIKE * Math.max(ofA.length, ofB.length)) return null;
  return [marked(ofA, sameA), marked(ofB, sameB)];
}

/** @param {string[]} a @param {string[]} b @returns {[boolean[], boolean[]]} which letters of each are in a longest common subsequence */
function common(a, b) {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width); // [i, j]: of what follows letter i of a and letter j of b
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i * width + j] =
        a[i] === b[j] ? length[(i + 1) * width + j + 1] + 1 : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  /** @type {[boolean[], boolean[]]} */
  const same = [new Array(a.length).fill(false), new Array(b.length).fill(false)];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) same[0][i++] = same[1][j++] = true;
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return same;
}

/** @param {string[]} letters @param {boolean[]} same @returns {(Node | string)[]} */
function marked(letters, same) {
  /** @type {{text: string, same: boolean}[]} */
  const parts = [];
  letters.forEach((letter, index) => {
    const last = parts.at(-1);
    if (last?.same === same[index]) last.text += letter;
    else parts.push({ text: letter, same: same[index] });
  });
  return parts.map((part) => (part.same ? part.text : h("mark", { class: "differs" }, part.text)));
}
