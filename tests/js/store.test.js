/** The questions on the screen, what is answered, and what the server says of it. */

import { serve, until } from "./page.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const STATUS = { project: "one", title: "rows", can_undo: true, lineups: true, stopping: null };
const item = (row) => ({ row, title: `row ${row}`, text: `text ${row}`, fields: [] });
const pair = (a, b) => ({ id: `p-${a}-${b}`, type: "pair", a: item(a), b: item(b), more: [] });
const settled = () => until(() => !store.state.settling);
const shown = () => store.current()?.id;

let store, open, requests, respond;
let turn = 0;

beforeEach(async () => {
  open = [pair(1, 2), pair(3, 4), pair(5, 6)];
  requests = [];
  respond = () => ({ saved: true, status: STATUS, questions: open });
  serve((request) => {
    if (request.method === "GET") return { status: STATUS, questions: open };
    requests.push(request);
    return respond(request);
  });
  globalThis.sessionStorage.setItem("samekind.outbox.one", "[]");
  store = await import(`../../src/samekind/web/static/store.js?turn=${(turn += 1)}`);
  await store.load();
  await settled();
});

test("an answer shows the next question at once and is saved behind it", async () => {
  open = [pair(3, 4), pair(5, 6)];
  assert.equal(store.answer("same"), true);
  assert.equal(shown(), "p-3-4");
  await store.outbox.idle();
  assert.deepEqual(requests[0].body, { id: "p-1-2", answer: "same" });
  assert.equal(store.state.saving.state, "saved");
});

test("a question takes no answer at the moment it appears", async () => {
  store.answer("same");
  assert.equal(store.answer("same"), false);
  await settled();
  assert.equal(store.answer("different"), true);
  await store.outbox.idle();
  assert.deepEqual(
    requests.map(({ body }) => body.answer),
    ["same", "different"],
  );
});

test("a question that replaces another one takes no answer for longer", async () => {
  open = [pair(5, 6)]; // somebody else answered the second one meanwhile
  store.answer("same");
  assert.equal(shown(), "p-3-4");
  await until(() => shown() === "p-5-6");
  const began = performance.now();
  await settled();
  assert.ok(performance.now() - began > store.REPLACED_MS - 60);
});

test("a question whose kind is typed stays, and a field opened too early belongs to none", async () => {
  store.answer("same");
  assert.equal(store.pin(), "");
  await settled();
  await store.outbox.idle();
  assert.equal(store.pin(), shown());
  const before = shown();
  open = [pair(7, 8)];
  await store.load();
  assert.equal(shown(), before);
  store.unpin();
  await store.load();
  assert.equal(shown(), "p-7-8");
});

test("a reply that does not confirm, or is another project's, saves nothing", async () => {
  const answers = [
    { status: STATUS, questions: open },
    { saved: true, status: { ...STATUS, project: "two" }, questions: open },
    { saved: true, status: STATUS, questions: open },
  ];
  respond = () => answers.shift();
  store.answer("same");
  await until(() => store.state.saving.state === "unsaved");
  store.outbox.retryNow();
  await until(() => answers.length === 1);
  await until(() => store.state.saving.state === "unsaved");
  store.outbox.retryNow();
  await store.outbox.idle();
  assert.equal(store.state.saving.state, "saved");
  assert.equal(new Set(requests.map(({ key }) => key)).size, 1);
});

test("undo takes back what is not sent, and else asks the server, which says what it was", async () => {
  let release;
  respond = ({ path }) =>
    path.startsWith("api/undo")
      ? { undone: ["…"], acts: [act], status: STATUS, questions: open }
      : new Promise((resolve) => (release = resolve));
  const act = {
    text: "",
    said: "different",
    pairs: 1,
    rows: [1, 2],
    name: "",
    items: [item(1), item(2)],
  };
  store.answer("same");
  await settled();
  store.answer("same"); // waits behind the first
  assert.equal(shown(), "p-5-6");
  store.undo();
  assert.equal(shown(), "p-3-4");
  release({ saved: true, status: STATUS, questions: open });
  await store.outbox.idle();
  store.undo();
  assert.equal(store.current(), null);
  await store.outbox.idle();
  assert.equal(store.state.message.text, "Undone: “text 1” and “text 2”: different");
});

test("a question that is closed gives way to those that are open", async () => {
  respond = () => ({
    code: 409,
    error: "answered meanwhile",
    status: STATUS,
    questions: [pair(7, 8)],
  });
  store.answer("same");
  await store.outbox.idle();
  assert.equal(shown(), "p-7-8");
  assert.deepEqual(
    [store.state.message.bad, store.state.message.text],
    [true, "answered meanwhile"],
  );
});
