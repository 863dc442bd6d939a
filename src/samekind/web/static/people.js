/** People: links, for owners of a project on a server; and who answered how well. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { confirm } from "./dialogs.js";
import { day, number } from "./format.js";
import { me } from "./me.js";
import { attempt, say } from "./store.js";
import { useStore } from "./use.js";
import { Block, Button, useFetched } from "./parts.js";

/** @typedef {import("./types.js").Link} Link */

const ROLES = [
  ["answer", "answer: answers questions"],
  ["review", "review: also names, merges and settles"],
  ["own", "own: also settings, exports and links"],
];
const ENDS = [
  ["", "never"],
  ["1", "tomorrow"],
  ["7", "in a week"],
  ["30", "in 30 days"],
  ["365", "in a year"],
];
const DAY = 86_400;
const OWN_LINK =
  "Each person has a link of their own, and answers under the name on it. " +
  "Send it over a channel that nobody else reads.";

/** @param {Link} link @returns {boolean} */
function holds({ revoked, expires }) {
  return revoked === null && (expires === null || 1000 * expires > Date.now());
}

/** @param {Link} link @returns {string} */
function stateOf(link) {
  if (link.revoked !== null) return `revoked ${day(link.revoked)}`;
  if (link.expires === null) return "holds";
  return holds(link) ? `holds until ${day(link.expires)}` : `ended ${day(link.expires)}`;
}

export function People() {
  const [turn, setTurn] = useState(0);
  const [made, setMade] = useState(/** @type {{who: string, address: string} | null} */ (null));
  const { found, error } = useFetched("/api/links", turn);
  const look = () => setTurn((now) => now + 1);
  const take = (/** @type {typeof made} */ link) => {
    setMade(link);
    look();
  };
  const again = html`<p class="hint">${error}</p>
    <${Button} act=${look}>Try again<//>`;
  return html`<div id="people-body">
    <${Block} id="new-link" title="A link for somebody" hint=${OWN_LINK}>
      <${NewLink} made=${take} />
      <div class="made-link" role="status">
        ${made && html`<${MadeLink} made=${made} putAway=${() => setMade(null)} />`}
      </div>
    <//>
    <div class="links">
      ${error ? again : html`<${LinkTable} links=${found?.links ?? []} changed=${look} />`}
    </div>
  </div>`;
}

/** @param {{made: (link: {who: string, address: string} | null) => void}} props */
function NewLink({ made }) {
  const name = useRef(/** @type {HTMLInputElement | null} */ (null));
  const role = useRef(/** @type {HTMLSelectElement | null} */ (null));
  const ends = useRef(/** @type {HTMLSelectElement | null} */ (null));
  const make = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const [who, days] = [name.current?.value.trim(), Number(ends.current?.value)];
    const expires = days ? Date.now() / 1000 + days * DAY : null;
    const body = { who, role: role.current?.value, expires };
    const reply = await attempt(() => call("POST", "/api/links", { body }));
    if (!reply) return made(null);
    // The page is at …/p/NAME/; the link differs from its address in the token alone.
    const page = location.origin + location.pathname;
    made({ who: reply.link.who, address: `${page}#token=${encodeURIComponent(reply.token)}` });
    if (name.current) name.current.value = "";
    return undefined;
  };
  return html`<form class="new-link" onsubmit=${make}>
    <label class="field">
      <span>Name</span>
      <input ref=${name} id="link-who" maxlength="100" required autocomplete="off" />
    </label>
    <label class="field"><span>Role</span>${choice("link-role", role, ROLES)}</label>
    <label class="field"><span>Ends</span>${choice("link-ends", ends, ENDS)}</label>
    <button type="submit" class="primary">Make a link</button>
  </form>`;
}

/** @param {string} id @param {{current: HTMLSelectElement | null}} field @param {string[][]} options */
function choice(id, field, options) {
  const all = options.map(([value, text]) => html`<option value=${value}>${text}</option>`);
  return html`<select id=${id} ref=${field}>
    ${all}
  </select>`;
}

/** The address is shown until it is put away: nobody can see it again. @param {{made: {who: string, address: string}, putAway: () => void}} props */
function MadeLink({ made: { who, address }, putAway }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const [label, setLabel] = useState("Copy");
  useEffect(() => button.current?.focus(), [address]);
  const copy = async () => {
    field.current?.select();
    const isCopied = await navigator.clipboard?.writeText(address).then(
      () => true,
      () => false,
    );
    setLabel(isCopied || document.execCommand("copy") ? "Copied" : "Press Ctrl+C");
  };
  return html`<p dir="auto">
      <strong>${`${who}'s link`}</strong>${" is shown this once, and cannot be seen again."}
    </p>
    <p class="buttons">
      <input
        ref=${field}
        class="address"
        readonly
        value=${address}
        aria-label=${`The link of ${who}`}
      />
      <button ref=${button} type="button" class="primary" onclick=${copy}>${label}</button>
      <${Button} act=${putAway}>Put away<//>
    </p>`;
}

/** @param {{links: Link[], changed: () => void}} props */
function LinkTable({ links, changed }) {
  const sorted = [...links].sort((a, b) => Number(holds(b)) - Number(holds(a)) || b.id - a.id);
  const show = (/** @type {Link} */ link) => {
    const label = `Revoke the link of ${link.who}, made ${day(link.at)}`;
    const act = () => openRevoking(link, changed);
    return html`<tr key=${link.id} class=${holds(link) ? "" : "muted"}>
      <th scope="row" dir="auto">${link.who}</th>
      <td>${link.role}</td>
      <td class="on-wide">${day(link.at)}</td>
      <td>${stateOf(link)}</td>
      <td>${holds(link) && html`<${Button} aria-label=${label} act=${act}>Revoke<//>`}</td>
    </tr>`;
  };
  const head = (/** @type {string} */ text) =>
    html`<th scope="col" class=${text === "made" ? "on-wide" : ""}>${text}</th>`;
  return html`<${Block} id="links" title="Links">
    <table>
      <thead>
        <tr>
          ${["who", "role", "made", "state"].map(head)}
          <td></td>
        </tr>
      </thead>
      <tbody>
        ${sorted.map(show)}
      </tbody>
    </table>
  <//>`;
}

/** @param {Link} link @param {() => void} changed */
function openRevoking(link, changed) {
  const isOwn = link.who === me.who;
  const own = isOwn ? " You may have come by this link: then this page opens no more." : "";
  const text = `It stops working at once, on every server. What ${link.who} answered stays.${own}`;
  const revoke = async () => {
    const path = `/api/links/${link.id}/revoke`;
    const reply = await attempt(() => call("POST", path, { body: {} }));
    if (reply) say({ text: `${link.who}'s link is revoked.` });
    changed();
    document.getElementById("links-title")?.focus({ preventScroll: true });
  };
  confirm({ title: `Revoke ${link.who}'s link?`, text, yes: "Revoke", no: "Keep it", act: revoke });
}

const EVERY_MS = 4000;
const NONE = "–";
const HEAD = ["who", "answers", "unsure", "agrees with others", "wrong (95 % interval)", "cost"];

/** @param {number} share @returns {string} */
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/** @param {number} cost @returns {string} */
const money = (cost) => (cost ? cost.toPrecision(3) : "0");

/** What a model does and costs at the moment, and a table of all who answered. */
export function Annotators() {
  const revision = useStore((now) => now.status?.revision);
  const role = useStore((now) => now.me.role);
  const [page, setPage] = useState(/** @type {any} */ (null));
  const isModel = Boolean(page?.assistant);
  useEffect(() => {
    if (role === "answer" || revision === undefined) return undefined;
    // A model answers all the time; people change the table by their own answers, which wait for a pause.
    const look = () => call("GET", "/api/annotators").then(setPage, () => {});
    const timer = setTimeout(look, page ? EVERY_MS : 0);
    const every = isModel ? setInterval(look, EVERY_MS) : undefined;
    return () => {
      clearTimeout(timer);
      clearInterval(every);
    };
  }, [revision, role, isModel]);
  const isHidden = !page || (!isModel && page.annotators.length < 2);
  return html`<aside id="annotators" class="annotators" aria-label="Who answers" hidden=${isHidden}>
    ${page?.assistant && html`<${Model} model=${page.assistant} />`}
    <details>
      <summary>Who answered</summary>
      <table class="annotator-table">
        <thead>
          <tr>
            ${HEAD.map((text) => html`<th scope="col">${text}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${page?.annotators.map((/** @type {any} */ one) => html`<${Annotator} key=${one.name} one=${one} />`)}
        </tbody>
      </table>
    </details>
  </aside>`;
}

/** @param {{model: any}} props */
function Model({ model }) {
  const most = model.budget === null ? "" : ` of ${number(model.budget)}`;
  const cap = model.cap === null ? "" : ` of ${money(model.cap)}`;
  const spent = `${number(model.calls)} calls, ${number(model.tokens)} tokens, cost ${money(model.cost)}${cap}`;
  const checked = `${number(model.checked)} checked, ${number(model.waiting)} wait for you`;
  return html`<p class="annotator-now" dir="auto">
    <strong>${model.name}</strong
    >${` ${model.state}. ${number(model.answers)}${most} answers, ${spent}; ${checked}.`}
  </p>`;
}

/** @param {{one: any}} props */
function Annotator({ one }) {
  const interval = () => `${percent(one.error)} (${percent(one.low)} to ${percent(one.high)})`;
  const cells = [
    number(one.answers),
    number(one.unsure),
    one.shared ? `${number(one.agreed)} of ${number(one.shared)}` : NONE,
    one.error === null ? NONE : interval(),
    one.cost === null ? NONE : money(one.cost),
  ];
  return html`<tr>
    <th scope="row" dir="auto">
      ${one.name}${one.is_model && html`<span class="annotator-model">${" model"}</span>`}
    </th>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}
