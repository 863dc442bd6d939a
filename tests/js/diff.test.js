/** Which words of two texts differ. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { compare } from "../../src/samekind/web/static/diff.js";

const marked = (parts) => parts.filter((part) => !part.same).map((part) => part.text);
const whole = (parts) => parts.map((part) => part.text).join("");

test("words that differ are marked, and no text is lost", () => {
  for (const [a, b, ofA, ofB] of [
    ["the cat sat", "the dog sat", ["cat "], ["dog "]],
    ["one two", "one two", [], []],
    ["", "new words", [], ["new words"]],
    ["Ünïcode, здравствуй!", "Ünïcode; здравствуй!", [", "], ["; "]],
    ["a b c d", "b c d e", ["a "], ["e"]],
  ]) {
    const found = compare(a, b);
    assert.deepEqual([whole(found.a), whole(found.b)], [a, b]);
    assert.deepEqual([marked(found.a), marked(found.b)], [ofA, ofB]);
  }
});

test("huge texts take no time", () => {
  const text = (seed) => Array.from({ length: 200000 }, (_, i) => `w${(i * seed) % 977}`).join(" ");
  const began = performance.now();
  assert.equal(whole(compare(text(7), text(13)).a), text(7));
  assert.ok(performance.now() - began < 1500);
});
