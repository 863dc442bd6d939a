/** Review: disagreements, kinds of one name, contradictions, skipped questions, and every answer, press by press. */

import { html, useRef, useState } from "./vendor/preact.js";
import { Disputes } from "./disputes.js";
import { count, moment, number } from "./format.js";
import { brief, oneLine } from "./item_text.js";
import { ItemButton } from "./items.js";
import { openItem, openMerge } from "./kinds.js";
import { numberedName } from "./names.js";
import { change, comeBack, say, state, undo } from "./store.js";
import { useStore } from "./use.js";
import { Block, Button, useFetched } from "./parts.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").ClusterSummary} ClusterSummary */
/** @typedef {import("./types.js").Press} Press @typedef {import("./types.js").PairQuestion} PairQuestion */
/** @typedef {{text: string, pairs: import("./types.js").AnsweredPair[]}} Conflict */

const PAGE = 20;
const SEARCH_MS = 250;
const ANSWERS = [
  ["same", "Same"],
  ["different", "Different"],
  ["unsure", "Not sure"],
];

/** @param {{goto: (view: string) => void}} props */
export function Review({ goto }) {
  const revision = useStore((now) => now.status?.revision);
  const [turn, setTurn] = useState(0);
  const conflicts = useFetched("/api/contradictions", revision, turn);
  const skipped = useFetched("/api/skipped?most=20", revision, turn);
  const kinds = useFetched("/api/clusters?members=3", revision, turn);
  const again = () => setTurn(turn + 1);
  const error = conflicts.error || skipped.error || kinds.error;
  if (error) {
    return html`<div id="review-body">
      <p class="hint">${error}</p>
      <${Button} act=${again}>Try again<//>
    </div>`;
  }
  if (!conflicts.found || !skipped.found || !kinds.found) {
    return html`<div id="review-body"><p class="hint">Loading…</p></div>`;
  }
  return html`<div id="review-body">
    <${Disputes} />
    <${Namesakes} kinds=${kinds.found.clusters} changed=${again} />
    <${Conflicts} conflicts=${conflicts.found.contradictions} />
    <${Skipped} questions=${skipped.found.questions} goto=${goto} />
    <${Answers} revision=${revision} />
  </div>`;
}

/** How much there is to review. */
export function ReviewBadge() {
  const status = useStore((now) => now.status);
  const disputes = useStore((now) => now.disputes);
  const open = disputes + (status?.contradictions ?? 0) + (status?.skipped ?? 0);
  return html`<span id="review-badge" class="badge" hidden=${open === 0}
    >${open ? ` ${open}` : ""}</span
  >`;
}

/** Kinds that share a name, to be merged. @param {{kinds: ClusterSummary[], changed: () => void}} props */
function Namesakes({ kinds, changed }) {
  /** @type {Map<string, ClusterSummary[]>} */
  const named = new Map();
  for (const kind of kinds) {
    const name = kind.name?.toLowerCase();
    if (name) named.set(name, [...(named.get(name) ?? []), kind]);
  }
  const groups = [...named].filter(([, group]) => group.length > 1);
  if (!groups.length) return null;
  const hint = "These kinds have the same name. Merge them, or rename one under Found so far.";
  const show = (/** @type {ClusterSummary} */ kind) => [
    html`<span dir="auto">${numberedName(kind)}</span>`,
    kind.members.map((item) => html`<${One} key=${item.row} item=${item} />`),
  ];
  return html`<${Block} id="namesakes" title="Same name" hint=${hint}>
    <ul class="answers">
      ${groups.map(
        ([name, group]) =>
          html`<li key=${name} class="namesakes">
            <span class="two">${group.map(show)}</span>
            <${Button} act=${() => openMerge(group, changed)}>Merge…<//>
          </li>`,
      )}
    </ul>
  <//>`;
}

/** @param {{conflicts: Conflict[]}} props */
function Conflicts({ conflicts }) {
  const hint = conflicts.length
    ? "These answers cannot all be true. Change the one that is wrong: one answer settles it."
    : "None. All answers agree with each other.";
  const show = (/** @type {Conflict} */ { text, pairs }) =>
    html`<article class="conflict">
      <p dir="auto">${text}</p>
      <${PairList} pairs=${pairs} />
    </article>`;
  return html`<${Block} id="conflicts" title="Contradictions" hint=${hint}>
    ${conflicts.map(show)}
  <//>`;
}

/** @param {{pairs: import("./types.js").AnsweredPair[]}} props */
function PairList({ pairs }) {
  return html`<ul class="answers">
    ${pairs.map((pair) => html`<${Pair} key=${`${pair.a.row}-${pair.b.row}`} pair=${pair} said=${pair} />`)}
  </ul>`;
}

/** @param {{questions: PairQuestion[], goto: (view: string) => void}} props */
function Skipped({ questions, goto }) {
  const total = state.status?.skipped ?? questions.length;
  const resume = async () => (await comeBack()) && goto("question");
  if (!total) return html`<${Block} id="skipped" title="Skipped" hint="None." />`;
  const label = `Come back to ${count(total, "skipped question")}`;
  const show = (/** @type {PairQuestion} */ { id, a, b }) =>
    html`<li key=${id}><${Two} a=${a} b=${b} /><span class="muted">skipped</span></li>`;
  return html`<${Block} id="skipped" title="Skipped">
    <p><${Button} class="primary" act=${resume}>${label}<//></p>
    <ul class="answers">
      ${questions.map(show)}
    </ul>
  <//>`;
}

/** Every press, with a search. @param {{revision: number | undefined}} props */
function Answers({ revision }) {
  const [search, setSearch] = useState("");
  const [offset, setOffset] = useState(0);
  const timer = useRef(/** @type {any} */ (undefined));
  const query = new URLSearchParams({ offset: String(offset), limit: String(PAGE), search });
  const { found, error } = useFetched(`/api/presses?${query}`, revision);
  const oninput = (/** @type {any} */ event) => {
    const text = event.target.value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setOffset(0);
      setSearch(text);
    }, SEARCH_MS);
  };
  /** @type {{presses: Press[], total: number}} */
  const { presses, total } = found ?? { presses: [], total: 0 };
  const range = `${number(offset + 1)}–${number(offset + presses.length)}`;
  const where = total
    ? `${range} of ${count(total, "press", "presses")}, newest first. A changed answer changes what was learnt from it.`
    : search
      ? "No matching answers."
      : "No answers yet.";
  const turnTo = (
    /** @type {string} */ label,
    /** @type {number} */ by,
    /** @type {boolean} */ can,
  ) => html`<${Button} disabled=${!can} act=${() => setOffset(offset + by)}> ${label} <//>`;
  return html`<${Block} id="answers" title="Answers">
    <input
      type="search"
      id="answer-search"
      maxlength="200"
      placeholder="Search"
      aria-label="Search the answers by what the items say"
      oninput=${oninput}
    />
    <p class="hint" role="status">${error || (found ? where : "Loading…")}</p>
    <ul class="answers">
      ${presses.map((press) => html`<${OnePress} key=${`${press.at}-${press.who}`} press=${press} />`)}
    </ul>
    <p class="buttons" hidden=${total <= PAGE}>
      ${turnTo("‹ Newer", -PAGE, offset > 0)}${turnTo("Older ›", PAGE, offset + PAGE < total)}
    </p>
  <//>`;
}

/** One line; what it holds is folded away if it is more than one answer. @param {{press: Press}} props */
function OnePress({ press }) {
  const [first] = press.pairs;
  if (press.total === 1)
    return html`<${Pair} pair=${first} said=${{ ...press, answer: first.answer }} />`;
  const isSame = press.pairs.some((pair) => pair.answer === "same");
  const all = count(press.total, "answer");
  const what = isSame ? `${all}, the same as one` : `different from ${press.total}`;
  return html`<li class="press">
    <span class="two">
      <${One} item=${first.a} /><span class="muted">${press.asked ? what : all}</span>
    </span>
    <span class="muted" dir="auto">${told(press)}</span>
    <details>
      <summary>Show them</summary>
      <${PairList} pairs=${press.pairs} />
    </details>
  </li>`;
}

/**
 * @param {object} props
 * @param {{a: ItemView, b: ItemView}} props.pair
 * @param {{answer: string, who?: string, at?: number, asked?: boolean}} props.said
 */
function Pair({ pair: { a, b }, said }) {
  return html`<li>
    <${Two} a=${a} b=${b} />
    <span class="muted" dir="auto">${told(said)}</span>
    <span class="choice" role="group" aria-label=${`Answer on ${oneLine(a)} and ${oneLine(b)}`}>
      ${ANSWERS.map(
        ([answer, label]) =>
          html`<${Button}
            aria-pressed=${String(said.answer === answer)}
            act=${() => said.answer !== answer && correct(a, b, answer)}
          >
            ${label}
          <//>`,
      )}
    </span>
  </li>`;
}

/** @param {ItemView} a @param {ItemView} b @param {string} answer */
async function correct(a, b, answer) {
  if (!(await change("/api/answers", { a: a.row, b: b.row, answer }))) return;
  const word = answer === "unsure" ? "not sure" : answer;
  const text = `Changed: ${brief(a)} and ${brief(b)} are now “${word}”.`;
  say({ text, items: [a, b], action: "Undo", onaction: undo });
}

/** Both, each to be opened. @param {{a: ItemView, b: ItemView}} props */
function Two({ a, b }) {
  return html`<span class="two"><${One} item=${a} /><${One} item=${b} /></span>`;
}

/** @param {{item: ItemView}} props */
function One({ item }) {
  return html`<${ItemButton} item=${item} kind="one member" act=${() => openItem(item, null)} />`;
}

/** @param {{who?: string, at?: number, asked?: boolean}} said @returns {string} who said it, how and when */
function told({ who, at, asked }) {
  return [who, asked === false ? "by hand" : "", at ? moment(at) : ""].filter(Boolean).join(" · ");
}
