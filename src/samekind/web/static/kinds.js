/** What was found so far: kinds with their members, the map, the curve, and whether it is safe to stop. */

import { html, useRef, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { Curve } from "./curve.js";
import { DefineButton } from "./definition.js";
import { confirm, Dialog } from "./dialogs.js";
import { andCopies, count, number } from "./format.js";
import { brief, spoken, titled } from "./item_text.js";
import { ItemButton, Whole } from "./items.js";
import { RowMap } from "./map.js";
import { colorOf, nameOf } from "./names.js";
import { refreshOverview } from "./overview.js";
import { openPlacing, place } from "./say.js";
import { Search } from "./search.js";
import { Split } from "./split.js";
import { attempt, change, openDialog, say, set, state, undo } from "./store.js";
import { ThresholdPanel } from "./records.js";
import { useStore } from "./use.js";
import { Button, useFetched } from "./parts.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").ClusterRef} ClusterRef */
/** @typedef {import("./types.js").ClusterSummary} ClusterSummary */

const PAGE = 24;
const HELD_MS = 1200; // after a name was typed, before kinds may move

export function Found() {
  const overview = useStore((now) => now.overview);
  const error = useStore((now) => now.foundError);
  const isAlone = useStore((now) => now.view === "found"); // and not beside a question
  return html`<div id="found-body">
    <${ThresholdPanel} />
    <div class="found-words">
      <p class="hint">${error || summary(overview)}</p>
      ${overview && html`<${Stopping} overview=${overview} />`} ${isAlone && html`<${Search} />`}
    </div>
    <div class="found-plots">
      <section class="plot" aria-label="Map">
        <h3>Map</h3>
        <${RowMap} open=${openRow} />
      </section>
      <section class="plot" aria-label="Kinds over presses">
        <h3>Kinds over presses</h3>
        <${Curve} />
      </section>
    </div>
    <${Kinds} />
  </div>`;
}

/** @param {import("./types.js").Overview | null} overview @returns {string} */
function summary(overview) {
  const { status } = state;
  if (!overview || !status) return "Loading…";
  if (!overview.clusters.length) {
    return status.clusters
      ? "The kinds appear here when you pause."
      : "Nothing yet. The first kinds appear after a few answers.";
  }
  const { unplaced } = overview;
  const rows = count(status.n_rows, "item");
  const left = unplaced
    ? `, ${number(unplaced)} ${unplaced === 1 ? "fits" : "fit"} nowhere yet`
    : "";
  return `${number(status.known_rows)} of ${rows} known from answers${left}.`;
}

/** Whether it is safe to stop. @param {{overview: import("./types.js").Overview}} props */
function Stopping({ overview: { certificate, notes, stopping } }) {
  const sure = html`<details>
    <summary>How sure is that?</summary>
    <p id="certificate">${certificate?.text}</p>
  </details>`;
  return html`<div class=${stopping.safe ? "promise safe" : "promise"}>
    <p id="stopping" class=${stopping.safe ? "safe-title" : ""}>${stopping.text}</p>
    ${certificate && sure} ${notes.map((note) => html`<p class="hint" dir="auto">${note}</p>`)}
  </div>`;
}

/** All kinds. None moves or goes while a name is typed, nor right after: what is clicked next stays in its place. */
function Kinds() {
  const overview = useStore((now) => now.overview);
  const isDone = useStore((now) => now.status?.done ?? true);
  const [picked, setPicked] = useState(/** @type {number[]} */ ([]));
  const [held, setHeld] = useState(/** @type {ClusterSummary[] | null} */ (null));
  const timer = useRef(/** @type {any} */ (undefined));
  const current = overview?.clusters ?? [];
  const kinds = held ?? current;
  const chosen = kinds.filter((kind) => picked.includes(kind.cluster));
  const hold = (/** @type {FocusEvent} */ event) => {
    if (!(event.target instanceof Element) || !event.target.matches(".kind-name")) return;
    clearTimeout(timer.current);
    setHeld(kinds);
  };
  const release = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setHeld(null), HELD_MS);
  };
  const toggle = (/** @type {number} */ cluster) =>
    setPicked(
      picked.includes(cluster) ? picked.filter((one) => one !== cluster) : [...picked, cluster],
    );
  const mergeThem = () => {
    setPicked([]);
    openMerge(chosen);
  };
  const isOne = chosen.length < 2;
  const many = isOne ? "Pick another kind to merge with." : `${chosen.length} kinds picked.`;
  const bar = html`<div class="merge-bar">
    <span>${many}</span>
    ${!isOne && html`<${Button} class="primary" act=${mergeThem}>Merge them<//>`}
    <${Button} act=${() => setPicked([])}>Cancel<//>
  </div>`;
  const show = (/** @type {ClusterSummary} */ kind) => {
    const now = current.find((one) => one.cluster === kind.cluster) ?? kind;
    const isPicked = picked.includes(kind.cluster);
    return html`<${KindCard}
      key=${kind.cluster}
      kind=${now}
      others=${current}
      isPicked=${isPicked}
      toggle=${toggle}
    />`;
  };
  const hint = "Some kinds may turn out to be the same as more is asked.";
  return html`<section class="found-kinds" aria-label="Kinds">
    <h3>Kinds</h3>
    ${chosen.length > 0 && bar}
    <div onfocusin=${hold} onfocusout=${release}>
      ${[...groupsOf(kinds)].map(
        ([group, members]) =>
          html`<div key=${group}>
            ${group && html`<h4 class="kind-group" dir="auto">${group}</h4>`}
            <ul class="kinds">
              ${members.map(show)}
            </ul>
          </div>`,
      )}
    </div>
    ${!isDone && current.length > 1 && html`<p class="hint">${hint}</p>`}
  </section>`;
}

/** @param {ClusterSummary[]} kinds @returns {Map<string, ClusterSummary[]>} by the first part of their path; "": none */
function groupsOf(kinds) {
  /** @type {Map<string, ClusterSummary[]>} */
  const groups = new Map();
  for (const kind of kinds) {
    const path = (kind.name ?? "").split(" / ");
    const group = path.length > 1 ? path[0] : "";
    groups.set(group, [...(groups.get(group) ?? []), kind]);
  }
  return groups;
}

/**
 * @param {object} props
 * @param {ClusterSummary} props.kind
 * @param {ClusterSummary[]} props.others
 * @param {boolean} props.isPicked
 * @param {(cluster: number) => void} props.toggle
 */
function KindCard({ kind, others, isPicked, toggle }) {
  const name = nameOf(kind);
  const isDoubtful = kind.doubtful.length > 0;
  const counts = `${number(kind.known)} known, about ${number(kind.estimated)} in all${kind.copies ? "," : ""}${andCopies(kind.copies)}`;
  const pick = {
    "aria-label": `Pick ${name} to merge`,
    checked: isPicked,
    onchange: () => toggle(kind.cluster),
  };
  const all = { "aria-label": `Show all of ${name}`, act: () => openKind(kind) };
  const define = (/** @type {string} */ text, /** @type {string} */ definition) =>
    rename(kind, text, definition);
  return html`<li class="kind" data-cluster=${kind.cluster}>
    <div class="kind-head">
      <span class="chip" style=${{ backgroundColor: colorOf(kind.number) }}></span>
      <span class="kind-number" title="The number of this kind">${kind.number}</span>
      <${NameField} kind=${kind} others=${others} />
      <label class="pick">merge <input type="checkbox" ...${pick} /></label>
    </div>
    ${kind.definition && html`<p class="kind-definition" dir="auto">${kind.definition}</p>`}
    <p class="kind-counts">
      <span>${counts}</span>
      <${DefineButton} kind=${kind} save=${define} />
      <${Button} class="link" ...${all}>Show all<//><${Split} kind=${kind} />
    </p>
    <${Gallery} kind=${kind} items=${kind.members} />
    ${isDoubtful && html`<p class="doubtful-title">Doubtful</p>`}
    ${isDoubtful && html`<${Gallery} kind=${kind} items=${kind.doubtful} isDoubtful />`}
  </li>`;
}

/** @param {{kind: ClusterSummary, others: ClusterSummary[]}} props */
function NameField({ kind, others }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const own = kind.name ?? "";
  const save = async () => {
    const name = draft?.trim() ?? own;
    if (name !== own && (await rename(kind, name)) && name) {
      const wanted = name.toLowerCase();
      const twin = others.find(
        (other) => other.cluster !== kind.cluster && other.name?.toLowerCase() === wanted,
      );
      if (twin) offerMerge([twin, { ...kind, name }]);
    }
    setDraft(null);
  };
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (event.key === "Escape") {
      field.value = own;
      setDraft(null);
    }
    if (event.key === "Escape" || event.key === "Enter") field.blur();
  };
  const proposal = kind.name ? "" : `, proposed: ${kind.proposed_name}`;
  return html`<input
    class="kind-name"
    maxlength="200"
    dir="auto"
    placeholder=${kind.proposed_name}
    value=${draft ?? own}
    aria-label=${`Name of kind ${kind.number}${proposal}`}
    title=${kind.name ? "Type to change the name" : "A proposed name; type to give it one"}
    oninput=${(/** @type {any} */ event) => setDraft(event.target.value)}
    onkeydown=${onkeydown}
    onblur=${save}
  />`;
}

/** @param {{kind: ClusterSummary, items: ItemView[], isDoubtful?: boolean}} props */
function Gallery({ kind, items, isDoubtful = false }) {
  const how = isDoubtful ? "Predicted, with doubt," : "Known";
  const note = `${how} to be one of “${nameOf(kind)}”.`;
  const kinds = isDoubtful ? "member predicted" : "member";
  const show = (/** @type {ItemView} */ item) => {
    const label = (isDoubtful ? "doubtful: " : "") + spoken(item);
    const act = () => openItem(item, kind, note, isDoubtful);
    return html`<li key=${item.row}>
      <${ItemButton} item=${item} kind=${kinds} label=${label} act=${act} />
    </li>`;
  };
  return html`<ul class="gallery">
    ${items.map(show)}
  </ul>`;
}

// Changes by hand

/** @param {ClusterRef} kind @param {string} name @param {string} [definition] without it, it stays @returns {Promise<boolean>} */
async function rename(kind, name, definition) {
  const before = kind.name ?? "";
  const reply = await change(`/api/clusters/${kind.cluster}/name`, { name, definition });
  if (reply === null) return false;
  const { overview } = state;
  if (overview) {
    const clusters = overview.clusters.map((one) =>
      one.cluster === kind.cluster
        ? { ...one, name: name || null, definition: definition ?? one.definition }
        : one,
    );
    set({ overview: { ...overview, clusters } });
  }
  refreshOverview();
  // A name is no answer: undoing it means giving the old one again.
  const text = name === before ? "Saved." : name ? `Named “${name}”.` : "The name is removed.";
  const now = { ...kind, name, definition: definition ?? kind.definition };
  const onaction = () =>
    void rename(now, before, definition === undefined ? undefined : kind.definition);
  say({ text, action: "Undo", onaction });
  return true;
}

/** @param {ClusterRef} kind @param {ItemView[]} items */
async function remove(kind, items) {
  const rows = items.map((item) => item.row);
  const reply = await change(`/api/clusters/${kind.cluster}/remove`, { rows }, "POST");
  const what = items.length === 1 ? brief(items[0]) : count(items.length, "item");
  if (reply)
    say({ text: `Taken out of “${nameOf(kind)}”: ${what}`, action: "Undo", onaction: undo, items });
  refreshOverview();
}

/** @param {ClusterRef[]} kinds @param {() => void} [changed] */
export function openMerge(kinds, changed = refreshOverview) {
  const names = kinds.map((kind) => `“${nameOf(kind)}”`).join(" and ");
  const merge = async () => {
    const clusters = kinds.map((kind) => kind.cluster);
    const reply = await change("/api/clusters/merge", { clusters }, "POST");
    if (reply) say({ text: `Merged: ${names}.`, action: "Undo", onaction: undo });
    changed();
  };
  const text = `All members of ${names} will be of one kind. You can undo it.`;
  confirm({ title: "Merge kinds?", text, yes: "Merge", no: "Cancel", act: merge });
}

/** @param {ClusterRef[]} kinds that have one name now */
function offerMerge(kinds) {
  say({
    text: `Another kind is called “${kinds[0].name}”, too.`,
    action: "Merge them",
    onaction: () => openMerge(kinds),
  });
}

// Dialogs

/**
 * @param {ItemView} item
 * @param {ClusterRef | null} kind
 * @param {string} [note]
 * @param {boolean} [isPredicted]
 * @param {() => void} [changed]
 */
export function openItem(item, kind, note, isPredicted = false, changed = refreshOverview) {
  openDialog((close) => {
    const then = (/** @type {() => unknown} */ act) => () => {
      close();
      act();
    };
    const agree = then(async () => kind && (await place([item], kind)) && changed());
    const move = then(() => openPlacing([item], changed));
    const refuse = then(() => kind && remove(kind, [item]));
    return html`<${Dialog} title=${titled(item)} kind="item-dialog" close=${close}>
      ${note && html`<p class="hint" dir="auto">${note}</p>`}
      <${Whole} item=${item} />
      <p class="buttons">
        ${kind && isPredicted && html`<${Button} class="primary" act=${agree}>Yes, right<//>`}
        <${Button} class="belongs" act=${move}>Belongs to…<//>
        ${kind && html`<${Button} class="does-not-belong" act=${refuse}>This does not belong here<//>`}
      </p>
    <//>`;
  });
}

/** @param {number} row @param {number | null} cluster @param {boolean} isKnown */
async function openRow(row, cluster, isKnown) {
  const kind = state.overview?.clusters.find((one) => one.cluster === cluster) ?? null;
  const how = isKnown ? "Known" : "Predicted";
  const note = kind ? `${how} to be one of “${nameOf(kind)}”.` : "Of no kind yet.";
  const item = await attempt(() => call("GET", `/api/items/${row}`));
  if (item) openItem(item, kind, note, !isKnown);
}

/** @param {ClusterRef} kind */
function openKind(kind) {
  openDialog((close) => html`<${AllOfKind} kind=${kind} close=${close} />`);
}

/** All items of a kind, page by page; those that do not belong can be picked. @param {{kind: ClusterRef, close: () => void}} props */
function AllOfKind({ kind, close }) {
  const [offset, setOffset] = useState(0);
  const [turn, setTurn] = useState(0);
  const [picked, setPicked] = useState(/** @type {ItemView[]} */ ([]));
  const path = `/api/clusters/${kind.cluster}?offset=${offset}&limit=${PAGE}`;
  const { found, error } = useFetched(path, turn);
  /** @type {{members: ItemView[], total: number}} */
  const { members, total } = found ?? { members: [], total: 0 };
  const isPicked = (/** @type {ItemView} */ item) => picked.some((one) => one.row === item.row);
  const toggle = (/** @type {ItemView} */ item) =>
    setPicked(isPicked(item) ? picked.filter((one) => one.row !== item.row) : [...picked, item]);
  const others = members.filter((item) => item.known === false && !isPicked(item));
  const agree = async () => {
    if (await place(others, kind)) refreshOverview();
    setTurn(turn + 1);
  };
  const refuse = () => {
    close();
    remove(kind, picked);
  };
  const move = () => {
    close();
    openPlacing(picked, refreshOverview);
  };
  const range = `${number(offset + 1)}–${number(offset + members.length)} of ${count(total, "item")}`;
  const where = `${range}. Dashed: predicted, not known from an answer.`;
  const many = picked.length;
  const who = many === 1 ? "This does" : `These ${many} do`;
  const these = many ? `${who} not belong here` : "Pick what does not belong here";
  const isLast = offset + PAGE >= total;
  const show = (/** @type {ItemView} */ item) => {
    const how = item.known === false ? "member predicted" : "member";
    const label = `${spoken(item)}${item.known === false ? ", predicted" : ""}`;
    const act = () => toggle(item);
    return html`<li key=${item.row}>
      <${ItemButton}
        item=${item}
        kind=${how}
        label=${label}
        act=${act}
        isPressed=${isPicked(item)}
      />
    </li>`;
  };
  return html`<${Dialog} title=${nameOf(kind)} kind="wide" close=${close}>
    <p class="hint" role="status">${error || (found ? where : "Loading…")}</p>
    <ul class="grid">
      ${members.map(show)}
    </ul>
    <p class="buttons sticky">
      <${Button} disabled=${offset === 0} act=${() => setOffset(offset - PAGE)}>‹ Before<//>
      <${Button} disabled=${isLast} act=${() => setOffset(offset + PAGE)}>More ›<//>
      <${Button} class="primary" disabled=${!many} act=${refuse}>${these}<//>
      <${Button} disabled=${!many} act=${move}>They belong to…<//>
      <${Button} disabled=${!others.length} act=${agree}>The others are right<//>
    </p>
  <//>`;
}
