/** What people disagree about: both items, what each person said, and one press that settles it. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { ApiError, call } from "./api.js";
import { count } from "./format.js";
import { brief, spoken } from "./item_text.js";
import { keys } from "./keys.js";
import { known, may } from "./me.js";
import { Pair } from "./pair.js";
import { announce, change, say, set } from "./store.js";
import { useStore } from "./use.js";
import { Zoom } from "./zoom.js";
import { Button } from "./parts.js";

/** @typedef {import("./types.js").Dispute} Dispute */

const PAGE = 20;
const EVERY_MS = 30_000;
const CHOICES = [
  ["same", "Same kind"],
  ["different", "Different kinds"],
  ["unsure", "Not sure"],
];
const SAID = /** @type {Record<string, string>} */ ({
  same: "the same kind",
  different: "different kinds",
  unsure: "not sure",
});

/** What the keys do on this screen. @type {{takes: (action: string) => boolean, act: (action: string) => void}} */
export const reviewKeys = { takes: () => false, act: () => {} };

/** Look from time to time how many there are: others answer meanwhile. */
export async function watchDisputes() {
  await known;
  if (!may("review")) return;
  try {
    set({ disputes: (await call("GET", "/api/reviews?limit=1")).total });
  } catch (error) {
    if (!(error instanceof ApiError) || error.locked) return; // the page says elsewhere what is wrong
  }
  setTimeout(watchDisputes, EVERY_MS);
}

export function Disputes() {
  const revision = useStore((now) => now.status?.revision);
  const total = useStore((now) => now.disputes);
  const [open, setOpen] = useState(/** @type {Dispute[]} */ ([]));
  const [offset, setOffset] = useState(0); // how many were left for later
  const settling = useRef(/** @type {Dispute | null} */ (null));
  const first = open[0];

  /** @param {number} from @returns {Promise<number>} how many there are */
  async function fetchFrom(from) {
    const page = await call("GET", `/api/reviews?offset=${from}&limit=${PAGE}`);
    if (!page.reviews.length && from) return fetchFrom(0); // all were left for later: the first again
    setOffset(from);
    setOpen(page.reviews);
    set({ disputes: page.total });
    return page.total;
  }
  useEffect(() => {
    fetchFrom(offset).catch(() => {}); // what is wrong is said elsewhere
  }, [revision]);

  function later() {
    if (open.length > 1) {
      setOffset(offset + 1);
      setOpen(open.slice(1));
    } else fetchFrom(offset + 1);
  }

  /** @param {string} answer */
  async function settle(answer) {
    const { a: one, b: other } = settling.current ?? {};
    if (one?.row === first.a.row && other?.row === first.b.row) return; // pressed twice
    settling.current = first;
    const { a, b } = first;
    const reply = await change("/api/reviews", { a: a.row, b: b.row, answer }, "POST");
    const what = answer === "unsure" ? "left open" : `of ${SAID[answer]}`;
    if (reply) say({ text: `Settled: ${brief(a)} and ${brief(b)} are ${what}.`, items: [a, b] });
    const left = await fetchFrom(offset);
    settling.current = null;
    document.getElementById("disputes-title")?.focus({ preventScroll: true });
    announce(left ? `${count(left, "pair")} left.` : "All are settled.");
  }

  reviewKeys.takes = (action) => first !== undefined && (action in SAID || action === "skip");
  reviewKeys.act = (action) => (action === "skip" ? later() : settle(action));
  useEffect(
    () => () => {
      reviewKeys.takes = () => false;
    },
    [],
  );
  const hint = first
    ? `People do not say the same of ${count(total, "pair")}. What you say counts at once.`
    : "None. Where several people were asked, they agree.";
  return html`<section id="disputes" class="block" aria-labelledby="disputes-title">
    <h3 id="disputes-title" tabindex="-1">Different opinions</h3>
    <p class="hint">${hint}</p>
    ${first && html`<${Opinions} key=${`${first.a.row}-${first.b.row}`} dispute=${first} />`}
    ${
      first &&
      html`<div class="settling" role="group" aria-label="Settle it">
        ${CHOICES.map(([action, label]) => html`<${Choice} action=${action} label=${label} />`)}
        ${total > 1 && html`<${Choice} action="skip" label="Later" />`}
      </div>`
    }
  </section>`;
}

/** @param {{action: string, label: string}} props */
function Choice({ action, label }) {
  return html`<${Button}
    class="answer"
    data-action=${action}
    aria-keyshortcuts=${keys.of(action).join(" ")}
    act=${() => reviewKeys.act(action)}
  >
    <span>${label}</span><kbd aria-hidden="true">${keys.label(action)}</kbd>
  <//>`;
}

/** @param {{dispute: Dispute}} props */
function Opinions({ dispute }) {
  const { a, b, b_cluster, opinions } = dispute;
  const [zoom] = useState(() => (a.has_picture || b.has_picture ? new Zoom() : null));
  const time = {
    dateStyle: /** @type {const} */ ("short"),
    timeStyle: /** @type {const} */ ("short"),
  };
  return html`<div class="dispute" role="group" aria-label=${`${spoken(a)}. And: ${spoken(b)}.`}>
      <${Pair} question=${{ a, b, b_cluster, more: [] }} zoom=${zoom} />
    </div>
    <ul class="opinions">
      ${opinions.map(
        ({ who, answer, at }) =>
          html`<li data-answer=${answer} dir="auto">
            <strong>${who || "Other answers"}</strong>${who ? " says " : " say "}<span
              class="opinion"
              >${SAID[answer]}</span
            >${at !== null && html`<span class="muted">${` ${new Date(1000 * at).toLocaleString([], time)}`}</span>`}
          </li>`,
      )}
    </ul>`;
}
