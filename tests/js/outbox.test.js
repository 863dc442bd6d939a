/** Answers are sent in order, kept until they are saved, and never sent to another project. */

import { happen, until } from "./page.js";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const { Outbox } = await import("../../src/samekind/web/static/outbox.js");
const { ApiError } = await import("../../src/samekind/web/static/api_error.js");

let sent, taken, refused, last, respond, outbox;

beforeEach(() => {
  [sent, taken, refused, last] = [[], [], [], null];
  respond = async () => ({});
  outbox = new Outbox({
    send: (item) => {
      sent.push({ ...item });
      return respond(item);
    },
    taken: (item) => taken.push(item.said),
    refused: (item, error) => refused.push([item.said, error.message]),
    status: (status) => (last = status),
  });
});

const answer = (id, said) => ({ type: "answer", question: { id }, said });

test("in order, one at a time, and saved when all is", async () => {
  let open;
  respond = () => new Promise((resolve) => (open = resolve));
  outbox.push(answer("p-1-2", "same"));
  outbox.push(answer("p-3-4", "different"));
  assert.equal(sent.length, 1);
  assert.equal(last.state, "saving");
  open({});
  await until(() => sent.length === 2);
  assert.equal(last.state, "saving");
  open({});
  await outbox.idle();
  assert.deepEqual(taken, ["same", "different"]);
  assert.equal(last.state, "saved");
});

test("a try that failed is repeated with the same key", async () => {
  let failures = 1;
  respond = async () => {
    if (failures-- > 0) throw new ApiError("The server does not answer.", 0);
  };
  outbox.push(answer("p-1-2", "same"));
  await until(() => last.state === "unsaved");
  assert.equal(last.waiting, 1);
  outbox.retryNow();
  await outbox.idle();
  assert.equal(sent[0].key, sent[1].key);
});

test("an error that nobody foresaw ends nothing", async () => {
  let failures = 1;
  respond = async () => {
    if (failures-- > 0) throw new TypeError("x is undefined");
  };
  outbox.does.taken = () => {
    throw new RangeError("the page broke");
  };
  const complain = console.error;
  console.error = () => {};
  outbox.push(answer("p-1-2", "same"));
  outbox.push(answer("p-3-4", "same"));
  await until(() => last.state === "unsaved");
  outbox.retryNow();
  await outbox.idle();
  console.error = complain;
  assert.equal(last.state, "saved");
  assert.equal(sent.length, 3);
});

for (const status of [401, 403]) {
  test(`without access (${status}) nothing is sent, and all is kept`, async () => {
    let isIn = false;
    respond = async () => {
      if (!isIn) throw new ApiError("Your link was revoked.", status);
    };
    outbox.push(answer("p-1-2", "same"));
    await until(() => last.withdrawn);
    assert.equal(last.why, "Your link was revoked.");
    await new Promise((resolve) => setTimeout(resolve, 1200));
    assert.equal(sent.length, 1);
    isIn = true;
    happen("storage"); // another tab has a new token
    await outbox.idle();
    assert.equal(last.state, "saved");
  });
}

test("what the server refuses for good leaves the box", async () => {
  respond = async ({ said }) => {
    if (said === "same") throw new ApiError("not open any more", 409);
  };
  outbox.push(answer("p-1-2", "same"));
  outbox.push(answer("p-3-4", "different"));
  await outbox.idle();
  assert.deepEqual(refused, [["same", "not open any more"]]);
  assert.deepEqual(taken, ["different"]);
});

test("a question that the server fails at can be skipped", async () => {
  respond = async ({ said }) => {
    if (said !== "skip") throw new ApiError("broken", 500);
  };
  outbox.push(answer("p-1-2", "same"));
  await until(() => last.stuck === "answer");
  const [first] = sent;
  outbox.giveUp();
  await outbox.idle();
  assert.deepEqual(taken, ["skip"]);
  assert.notEqual(sent.at(-1).key, first.key);
});

test("a box survives a reload, for its own project", async () => {
  respond = () => new Promise(() => {});
  outbox.restore("one");
  outbox.push(answer("p-1-2", "same"));
  const other = new Outbox(outbox.does);
  other.restore("another");
  assert.equal(other.items.length, 0);
  respond = async () => ({});
  const again = new Outbox(outbox.does);
  again.restore("one");
  await again.idle();
  assert.deepEqual(taken, ["same"]);
});

test("an answer that was not sent yet is taken back", () => {
  respond = () => new Promise(() => {});
  outbox.push(answer("p-1-2", "same"));
  assert.equal(outbox.takeBack(), null); // it is on its way
  outbox.push(answer("p-3-4", "different"));
  assert.equal(outbox.takeBack().said, "different");
});
