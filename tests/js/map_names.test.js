import assert from "node:assert/strict";
import { test } from "node:test";
import { placeNames } from "../../src/samekind/web/static/map_names.js";

const VIEW = { width: 400, height: 300 };
const LINE = 16;
/** @param {string} text */
const measure = (text) => 7 * text.length;
/** @param {number} seed @returns {() => number} */
const chance = (seed) => () => {
  seed = (seed * 16_807) % 2_147_483_647;
  return seed / 2_147_483_647;
};

/** @param {number} many @param {number} seed @returns {{text: string, points: [number, number][]}[]} */
function kinds(many, seed) {
  const next = chance(seed);
  return Array.from({ length: many }, (_, number) => {
    const [x, y] = [400 * next(), 300 * next()];
    /** @type {[number, number][]} */
    const points = Array.from({ length: 9 }, () => [x + 20 * next(), y + 20 * next()]);
    return { text: `a kind called ${number}`, points };
  });
}

for (const many of [1, 5, 40]) {
  test(`no name of ${many} stands on another one, or beyond the view`, () => {
    for (let seed = 1; seed < 30; seed++) {
      const placed = placeNames(kinds(many, seed), VIEW, measure);
      assert.ok(placed.length >= 1);
      for (const [place, one] of placed.entries()) {
        assert.ok(one.x - one.width / 2 >= 0 && one.x + one.width / 2 <= VIEW.width);
        assert.ok(one.y >= LINE / 2 && one.y <= VIEW.height - LINE / 2);
        for (const other of placed.slice(0, place)) {
          const isApart =
            Math.abs(one.x - other.x) >= (one.width + other.width) / 2 ||
            Math.abs(one.y - other.y) >= LINE;
          assert.ok(isApart, `${one.text} stands on ${other.text}`);
        }
      }
    }
  });
}

test("the first kind has its name in its midst, whatever lies far off", () => {
  /** @type {[number, number][]} */
  const points = [
    [200, 150],
    [202, 151],
    [198, 149],
    [5, 290],
  ];
  const [one] = placeNames([{ text: "kind", points }], VIEW, measure);
  assert.ok(Math.hypot(one.x - 200, one.y - 150) < 2 * LINE);
});

test("where there is no room, what comes first is named", () => {
  const same = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ({
    text: `kind ${number}`,
    points: /** @type {[number, number][]} */ ([[200, 150]]),
  }));
  const placed = placeNames(same, VIEW, measure);
  assert.deepEqual(
    placed.map(({ text }) => text),
    ["kind 1", "kind 2", "kind 3", "kind 4", "kind 5"],
  );
});

test("nothing stands on the buttons", () => {
  const buttons = { left: 300, right: 400, top: 0, bottom: 40 };
  const points = /** @type {[number, number][]} */ ([[350, 20]]);
  for (const { x, y, width } of placeNames([{ text: "kind", points }], VIEW, measure, [buttons])) {
    assert.ok(x + width / 2 <= 300 || y - LINE / 2 >= 40);
  }
});
