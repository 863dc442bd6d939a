/** What Enter takes, and what "it is …" is about. */

import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.HTMLElement = class {};
const { choicesOf, subject } = await import("../../src/samekind/web/static/say.js");

const kind = (number, name, proposed_name = `kind ${number}`) => ({
  cluster: 10 * number,
  number,
  name,
  proposed_name,
  members: [],
});
const names = (choices) => choices.map(({ kind, name }) => (kind ? name : `new ${name}`));

test("a name that only resembles comes after the new kind", () => {
  const found = [kind(1, "tshirt"), kind(2, "nat-gas")];
  assert.deepEqual(names(choicesOf("shirt", found)), ["new shirt", "tshirt", "nat-gas"]);
});

test("a whole name is taken, in capitals or not, and no new kind of it is offered", () => {
  const found = [kind(1, "card lost"), kind(2, "Card")];
  assert.deepEqual(names(choicesOf("card", found)), ["Card", "card lost"]);
  assert.deepEqual(names(choicesOf("kind 3", [kind(3, null)])), ["kind 3"]);
});

test("without text all kinds are offered, the likeliest first", () => {
  assert.deepEqual(names(choicesOf("", [kind(1, "a"), kind(2, "b")])), ["a", "b", "new "]);
});

test("it is what is not placed yet", () => {
  const [a, b] = [{ row: 1 }, { row: 2 }];
  assert.equal(subject({ type: "pair", a, b, subject: 2 }), b);
  assert.equal(subject({ type: "pair", a, b, subject: 1 }), a);
  assert.equal(subject({ type: "pair", a, b, subject: 1, skipped: true }), null);
  assert.equal(subject({ type: "lineup", item: a }), a);
  assert.equal(subject({ type: "sheet" }), null);
});
