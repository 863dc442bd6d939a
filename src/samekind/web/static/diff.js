/** Which words differ between two texts: a longest common subsequence of words, bounded in size. */

const MOST_WORDS = 1500; // a table of 1,500 × 1,500 small numbers; what is longer is compared up to there

/** @typedef {{text: string, same: boolean}} Part a stretch of words, shared or not */

/** @param {string} text @returns {string[]} words and single signs, each with the blanks after it */
export function words(text) {
  return text.match(/(?:[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}])\s*|\s+/gu) ?? [];
}

/** @param {string} word @returns {string} what is compared: neither case nor blanks count */
function plain(word) {
  return word.trim().toLowerCase();
}

/**
 * Compare two texts word by word.
 *
 * @param {string} a
 * @param {string} b
 * @returns {{a: Part[], b: Part[], share: number}} the parts of both, and the share of words in common
 */
export function compare(a, b) {
  const wordsA = words(a.slice(0, MOST_WORDS * 40));
  const wordsB = words(b.slice(0, MOST_WORDS * 40));
  const [keptA, keptB] = [wordsA.slice(0, MOST_WORDS), wordsB.slice(0, MOST_WORDS)];
  const [sameA, sameB] = common(keptA.map(plain), keptB.map(plain));
  const shared = sameA.reduce((sum, same) => sum + Number(same), 0);
  const longest = Math.max(keptA.length, keptB.length);
  return {
    a: parts(keptA, sameA, a),
    b: parts(keptB, sameB, b),
    share: longest ? shared / longest : 1,
  };
}

/** @param {string[]} a @param {string[]} b @returns {[boolean[], boolean[]]} which words of each are common */
function common(a, b) {
  const sameA = new Array(a.length).fill(false);
  const sameB = new Array(b.length).fill(false);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    sameA[start] = sameB[start] = true;
    start += 1;
  }
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    sameA[--endA] = sameB[--endB] = true;
  }
  const [n, m] = [endA - start, endB - start];
  const width = m + 1;
  const length = new Uint16Array((n + 1) * width); // [i, j]: of what follows word i of a and word j of b
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = m - 1; j >= 0; j -= 1) {
      length[i * width + j] =
        a[start + i] === b[start + j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (a[start + i] === b[start + j]) {
      sameA[start + i++] = sameB[start + j++] = true;
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [sameA, sameB];
}

/** @param {string[]} all @param {boolean[]} same @param {string} text @returns {Part[]} */
function parts(all, same, text) {
  /** @type {Part[]} */
  const found = [];
  let used = 0;
  all.forEach((word, index) => {
    const last = found.at(-1);
    if (last?.same === same[index]) last.text += word;
    else found.push({ text: word, same: same[index] });
    used += word.length;
  });
  if (used < text.length) found.push({ text: text.slice(used), same: true });
  return found;
}
