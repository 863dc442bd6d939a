/** What a key press means at each moment. */

import "./page.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

globalThis.HTMLElement = class {};
const { Keyboard, QUIET_MS } = await import("../../src/samekind/web/static/keyboard.js");

const KEYS = { "/": "say", s: "same", u: "unsure", b: "undo", z: "zoom" };
let now, acts, hasField, keyboard;

beforeEach(() => {
  [now, acts, hasField] = [0, [], true];
  keyboard = new Keyboard({
    now: () => now,
    actionOf: (key) => KEYS[key] ?? null,
    counts: () => true,
    act: (action) => acts.push(action),
    openField: () => {
      if (hasField) acts.push("field");
      return hasField;
    },
    quiet: () => {},
  });
});

test("keys act, and those that mean nothing are the browser's", () => {
  assert.equal(keyboard.pressed("s"), true);
  assert.equal(keyboard.pressed("q"), false);
  assert.deepEqual(acts, ["same"]);
});

test("a key that is held down acts once, but for zoom", () => {
  keyboard.pressed("s", true);
  keyboard.pressed("z", true);
  assert.deepEqual(acts, ["zoom"]);
});

test("right after the answer was typed, keys count", () => {
  keyboard.entered();
  keyboard.typed("Enter");
  keyboard.left(true);
  keyboard.pressed("/");
  keyboard.entered();
  keyboard.left(true);
  keyboard.pressed("s");
  assert.deepEqual(acts, ["field", "same"]);
});

test("after another field was left on purpose only the field for the answer opens for a second", () => {
  keyboard.entered();
  keyboard.typed("Enter");
  keyboard.left(false);
  now += QUIET_MS / 2;
  keyboard.pressed("s");
  assert.deepEqual(acts, []);
  now += QUIET_MS / 2;
  keyboard.pressed("s");
  assert.deepEqual(acts, ["same"]);
  keyboard.entered();
  keyboard.pointed();
  keyboard.left(false);
  keyboard.pressed("/");
  assert.deepEqual(acts, ["same", "field"]);
});

test("what is typed after a field vanished is dropped until a pause", () => {
  keyboard.entered();
  keyboard.typed("a");
  keyboard.left(false);
  for (const key of "sub bus") {
    now += QUIET_MS / 2;
    keyboard.pressed(key);
  }
  assert.deepEqual(acts, []);
  now += QUIET_MS;
  keyboard.pressed("s");
  assert.deepEqual(acts, ["same"]);
});

test("letters after the key for the field are no commands where there is none", () => {
  hasField = false;
  for (const key of "/bus") {
    keyboard.pressed(key);
    now += QUIET_MS / 5;
  }
  assert.deepEqual(acts, []);
  keyboard.pressed("Enter");
  keyboard.pressed("s");
  assert.deepEqual(acts, ["same"]);
});
