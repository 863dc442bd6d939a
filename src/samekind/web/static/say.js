/** Typing what kind an item is: below every question, and in a dialog for any items. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { ApiError, call } from "./api.js";
import { Dialog } from "./dialogs.js";
import { count } from "./format.js";
import { brief, spoken } from "./item_text.js";
import { Mini } from "./items.js";
import { keys } from "./keys.js";
import { nameOf } from "./names.js";
import { change, current, openDialog, pin, say, state, undo, unpin } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

/** @typedef {import("./types.js").Question} Question @typedef {import("./types.js").ItemView} ItemView */
/** @typedef {import("./types.js").ClusterMatch} ClusterMatch */
/** @typedef {{kind: ClusterMatch | null, name: string}} Choice kind: null for a new one of this name */

const WAIT_MS = 120; // after a letter, before kinds are looked for
const SEEN_MS = 1000; // after which a question has been seen by somebody who types
const MOST = 60;
let made = 0;

/** @param {Question | null} question @returns {ItemView | null} the item that "it is …" is about */
export function subject(question) {
  if (!question || question.type === "sheet" || question.skipped) return null;
  if (question.type === "lineup") return question.item;
  return question.subject === question.b.row ? question.b : question.a;
}

/**
 * A field to find a kind in, by its name or a word of its examples, or to name a new one.
 *
 * Enter takes what the person highlighted with the arrow keys, else the kind of exactly this name, else
 * a new kind. It never takes a kind that only resembles what was typed.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.placeholder
 * @param {ItemView | null} props.item what it is for: its likeliest kinds come first
 * @param {string} [props.beside] what a new kind says beside its name
 * @param {(choice: Choice) => void} props.pick
 * @param {string} [props.resetFor] when this changes, the field is emptied, unless somebody types in it
 * @param {boolean} [props.isFocused] whether it takes the focus when it appears
 * @param {boolean} [props.forgets] whether it is emptied when it is left
 * @param {() => void} [props.onenter] @param {() => void} [props.onleave] @param {() => void} [props.onletter]
 */
export function Picker({
  label,
  placeholder,
  item,
  beside = "",
  pick,
  resetFor,
  isFocused,
  forgets,
  onenter,
  onleave,
  onletter,
}) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const timer = useRef(/** @type {any} */ (undefined));
  const [listId] = useState(() => `picker-${++made}`);
  const [found, setFound] = useState({ text: "", kinds: /** @type {ClusterMatch[]} */ ([]) });
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [isChosen, setChosen] = useState(false);
  const [said, setSaid] = useState("");
  const typed = () => field.current?.value.trim() ?? "";

  useEffect(() => {
    if (!field.current || field.current === document.activeElement) return;
    field.current.value = "";
    close();
  }, [resetFor]);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, []);

  const choices = choicesOf(found.text, found.kinds);

  function close() {
    clearTimeout(timer.current);
    setOpen(false);
    setActive(-1);
    setChosen(false);
  }

  async function look() {
    clearTimeout(timer.current);
    const text = typed();
    const query = new URLSearchParams({ text, most: String(MOST) });
    if (item) query.set("row", String(item.row));
    try {
      const { clusters } = await call("GET", `/api/find?${query}`);
      if (text !== typed() || document.activeElement !== field.current) return;
      setFound({ text, kinds: clusters });
      setActive(text ? 0 : -1);
      setChosen(false);
      setOpen(true);
      setSaid(`${count(clusters.length, "kind")}${text ? ` like “${text}”` : ""}.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setSaid(error.message);
    }
  }

  /** @param {Choice} choice */
  function take(choice) {
    close();
    if (field.current) field.current.value = "";
    pick(choice);
  }

  function enter() {
    const text = typed();
    const highlighted = isOpen && (isChosen || found.text === text) ? choices[active] : undefined;
    if (highlighted) take(highlighted);
    else if (text) take({ kind: null, name: text });
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) return void look();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const many = choices.length;
      setActive(active < 0 && step < 0 ? many - 1 : (active + step + many) % many);
      setChosen(true);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Escape" && onleave) {
      field.current?.blur();
    }
  }

  function oninput() {
    onletter?.();
    setChosen(false);
    clearTimeout(timer.current);
    timer.current = setTimeout(look, WAIT_MS);
  }

  return html`<div class="picker">
    <input
      ref=${field}
      class="picker-field"
      type="text"
      role="combobox"
      maxlength="200"
      dir="auto"
      autocomplete="off"
      spellcheck=${false}
      aria-label=${label}
      aria-autocomplete="list"
      aria-expanded=${String(isOpen)}
      aria-controls=${listId}
      aria-activedescendant=${isOpen && active >= 0 ? `${listId}-${active}` : undefined}
      placeholder=${placeholder}
      onfocus=${() => {
        onenter?.();
        look();
      }}
      oninput=${oninput}
      onblur=${() => {
        if (forgets && field.current) field.current.value = "";
        close();
        onleave?.();
      }}
      onkeydown=${onkeydown}
    />
    <div class="picker-popup" hidden=${!isOpen}>
      <div class="picker-about">${item && html`<${Mini} item=${item} />`}</div>
      <ul class="picker-list" id=${listId} role="listbox" aria-label="Kinds">
        ${choices.map((choice, place) => html`<${Offer} key=${choice.kind?.cluster ?? "new"} id=${`${listId}-${place}`} choice=${choice} beside=${beside} isActive=${place === active} take=${() => take(choice)} />`)}
      </ul>
    </div>
    <p class="hidden" role="status">${said}</p>
  </div>`;
}

/** @param {string} text @param {ClusterMatch[]} kinds @returns {Choice[]} what Enter takes comes first */
export function choicesOf(text, kinds) {
  const wanted = text.toLocaleLowerCase();
  const there = kinds.map((kind) => ({ kind, name: nameOf(kind) }));
  const fresh = { kind: null, name: text };
  if (!wanted) return [...there, fresh];
  const exact = there.filter(({ name }) => name.toLocaleLowerCase() === wanted);
  if (exact.length) return [...exact, ...there.filter((choice) => !exact.includes(choice))];
  return [fresh, ...there];
}

/** @param {{id: string, choice: Choice, beside: string, isActive: boolean, take: () => void}} props */
function Offer({ id, choice: { kind, name }, beside, isActive, take }) {
  const option = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (isActive) option.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  const label = kind ? `${name}: ${kind.members.map(spoken).join("; ")}` : undefined;
  const fresh = name ? `New kind “${name}”` : "A new kind";
  return html`<li
    ref=${option}
    id=${id}
    role="option"
    class=${kind ? "picker-option" : "picker-option picker-new"}
    aria-selected=${String(isActive)}
    aria-label=${label}
    onpointerdown=${(/** @type {Event} */ event) => event.preventDefault()}
    onclick=${take}
  >
    <strong class=${kind && !kind.name ? "unnamed" : ""} dir="auto">${kind ? name : fresh}</strong>
    ${!kind && beside && html`<span class="muted">${beside}</span>`}
    ${
      kind &&
      html`<span class="picker-examples">
        ${kind.members.map((member) => html`<${Mini} key=${member.row} item=${member} />`)}
      </span>`
    }
  </li>`;
}

/**
 * The field below a question. It belongs to the question that was on the screen when it got the focus;
 * that question stays as long as something is typed. Where there was none, or it had just appeared,
 * Enter answers nothing.
 *
 * @param {object} props
 * @param {Question | null} props.question
 * @param {boolean} props.isWaiting whether the next question is on its way
 * @param {(said: import("./types.js").Said, event?: Event) => void} props.answer
 */
export function SayBar({ question, isWaiting, answer }) {
  useStore((now) => now.keysChanged);
  const [hasFocus, setFocus] = useState(false);
  const belongs = useRef("");
  const since = useRef(0); // when the question appeared
  const item = subject(question);
  useEffect(() => {
    since.current = performance.now();
  }, [question?.id]);
  if (!item && !hasFocus && !isWaiting) return null;

  /** @param {Choice} choice */
  function pick({ kind, name }) {
    const now = current();
    const isMeant = belongs.current !== "" && now?.id === belongs.current;
    focusTitle(); // the field is left, whatever comes of it
    if (isMeant) return answer(kind ? kind.cluster : { new: name });
    const text = kind ? nameOf(kind) : name;
    say({
      text: `Not saved: “${text}” was typed before this question was there. Type it again.`,
      bad: true,
    });
  }

  function onletter() {
    const isSeen = performance.now() - since.current > SEEN_MS;
    if (!belongs.current && isSeen) belongs.current = pin();
  }

  const { it, hint, beside } = aboutOf(question);
  const whose = it === "This" ? "its kind" : `the kind of ${it}`;
  return html`<div id="say" class="say" role="group" aria-label="Say what it is">
    <span class="say-hint">${hint}</span>
    <${Picker}
      label="Its kind: type a name or a word of it"
      placeholder=${`type ${whose}, or pick one (${keys.label("say")})`}
      item=${item}
      beside=${beside}
      pick=${pick}
      resetFor=${question?.id}
      forgets
      onenter=${() => {
        belongs.current = pin();
        setFocus(true);
      }}
      onleave=${() => {
        unpin();
        belongs.current = "";
        setFocus(false);
      }}
      onletter=${onletter}
    />
    <${Button}
      class="answer fresh"
      data-answer="fresh"
      title=${`${it} is of a new kind${beside && `, ${beside}`}`}
      act=${(/** @type {Event} */ event) => item && answer({ new: "" }, event)}
    >
      <span class="sign" aria-hidden="true">+</span><span>New kind</span
      ><kbd aria-hidden="true">${keys.label("fresh")}</kbd>
    <//>
  </div>`;
}

function focusTitle() {
  document.getElementById("question-title")?.focus({ preventScroll: true });
}

/** @param {Question | null} question @returns {{it: string, hint: string, beside: string}} what the field is about, and what a new kind says of the other item */
function aboutOf(question) {
  if (!question || question.type === "sheet") return { it: "This", hint: "", beside: "" };
  const isPair = question.type === "pair";
  const isB = isPair && question.subject === question.b.row;
  const it = isPair ? (isB ? "B" : "A") : "This";
  const kind = isPair ? (isB ? question.b_cluster : question.a_cluster) : question.item_cluster;
  const beside = isPair ? `and ${isB ? "A" : "B"} is not of it` : "";
  if (kind) return { it, hint: `${it} is “${nameOf(kind)}”, or`, beside };
  const refused = question.refused && !isB ? `Ruled out: ${count(question.refused, "kind")}. ` : "";
  return { it, hint: `${refused}${it} is`, beside };
}

/**
 * Let somebody say what items are.
 *
 * @param {ItemView[]} items
 * @param {() => void} changed
 */
export function openPlacing(items, changed) {
  const what = items.length === 1 ? brief(items[0]) : count(items.length, "item");
  const title = items.length === 1 ? "It belongs to…" : "They belong to…";
  openDialog((close) => {
    const pick = async (/** @type {Choice} */ { kind, name }) => {
      close();
      if (await place(items, kind, name)) changed();
    };
    return html`<${Dialog} title=${title} kind="placing" close=${close}>
      <p class="hint" dir="auto">${what}</p>
      <${Picker}
        label="The kind: type a name or a word of it"
        placeholder="Type a kind, or pick one"
        item=${items[0]}
        pick=${pick}
        isFocused
      />
      <p class="hint">
        Pick a kind, or type the name of a new one and press Enter. You can undo it.
      </p>
    <//>`;
  });
}

/**
 * @param {ItemView[]} items
 * @param {import("./types.js").ClusterRef | null} kind null: a new one
 * @param {string} [name] of the new one
 * @returns {Promise<boolean>}
 */
export async function place(items, kind, name = "") {
  const rows = items.map((item) => item.row);
  const reply = kind
    ? await change("/api/rows/place", { rows, cluster: kind.cluster }, "POST")
    : await change("/api/rows/new", { rows, name }, "POST");
  if (reply === null) return false;
  const what = items.length === 1 ? brief(items[0]) : count(items.length, "item");
  const where = kind ? `“${nameOf(kind)}”` : name ? `the new kind “${name}”` : "a new kind";
  say({ text: `${what}: of ${where}.`, action: "Undo", onaction: undo, items });
  return true;
}

/** Open the field, or say why there is none now. @returns {boolean} whether there is one */
export function openField() {
  const field = /** @type {HTMLElement | null} */ (document.querySelector("#say .picker-field"));
  field?.focus();
  if (field) return true;
  const isSheet = state.queue[0]?.type === "sheet";
  const text = isSheet
    ? "A sheet takes no name. Mark what does not belong, then answer for the others."
    : "There is no item to name now.";
  say({ text });
  return false;
}
