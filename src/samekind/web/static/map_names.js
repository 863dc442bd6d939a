/** Where names stand on the map: each on its kind, none on another name. */

const LINE = 16; // pixels
const STEPS = [-1, 1, -2, 2, 0]; // lines from the middle of a kind to its name, which hides few of its points
const ROOM = 4; // pixels around a name

/** @typedef {{text: string, points: [number, number][]}} Named a kind, with its points in view */
/** @typedef {{text: string, x: number, y: number, width: number}} Placed the middle of a name */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Box */

/**
 * Place as many names as there is room for, those that come first before others.
 *
 * @param {Named[]} kinds
 * @param {{width: number, height: number}} view
 * @param {(text: string) => number} measure the width of a name
 * @param {Box[]} taken where nothing may stand
 * @returns {Placed[]}
 */
export function placeNames(kinds, { width, height }, measure, taken = []) {
  const boxes = [...taken];
  /** @type {Placed[]} */
  const placed = [];
  for (const { text, points } of kinds) {
    const wide = measure(text);
    const [middle, level] = middleOf(points);
    const x = Math.max(wide / 2 + ROOM, Math.min(width - wide / 2 - ROOM, middle));
    for (const step of STEPS) {
      const y = Math.max(LINE / 2, Math.min(height - LINE / 2, level + step * LINE));
      const box = boxOf(x, y, wide);
      if (boxes.some((other) => overlap(box, other))) continue;
      boxes.push(box);
      placed.push({ text, x, y, width: wide });
      break;
    }
  }
  return placed;
}

/** @param {[number, number][]} points @returns {[number, number]} the one that is nearest to the median */
function middleOf(points) {
  const [x, y] = [0, 1].map((side) => {
    const sorted = points.map((point) => point[side]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  });
  const far = (/** @type {[number, number]} */ point) => Math.hypot(point[0] - x, point[1] - y);
  return points.reduce((best, point) => (far(point) < far(best) ? point : best));
}

/** @param {number} x @param {number} y @param {number} wide @returns {Box} */
function boxOf(x, y, wide) {
  const half = wide / 2 + ROOM;
  return { left: x - half, right: x + half, top: y - LINE / 2, bottom: y + LINE / 2 };
}

/** @param {Box} a @param {Box} b @returns {boolean} */
function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
