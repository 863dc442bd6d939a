/** Review: contradictions to settle, skipped questions to come back to, and every answer, which may be changed. */

import { ApiError, call } from "./api.js";
import { byId, count, h, toast } from "./dom.js";
import { remember, remembered } from "./settings.js";
import { brief, mini, oneLine, pictures, spoken } from "./items.js";
import { ClusterActions } from "./cluster_actions.js";

/** @typedef {import("./types.js").ItemView} ItemView */

const PAGE = 20;
const ANSWERS = [["same", "Same"], ["different", "Different"], ["unsure", "Not sure"]];

/** @param {string} project @param {string} id note that a question was flagged; the note stays in this browser */
export function flag(project, id) {
  remember(`flags.${project}`, [...new Set([...flags(project), pairOf(id)])].slice(-500));
}

/** @param {string} project @returns {string[]} */
function flags(project) {
  return remembered(`flags.${project}`, []);
}

/** @param {string} id @returns {string} the rows of a question, whatever its form */
function pairOf(id) {
  return id.slice(2);
}

export class Review {
  /** @param {import("./project.js").Project} project @param {(view: string) => void} goto */
  constructor(project, goto) {
    this.project = project;
    this.goto = goto;
    this.actions = new ClusterActions(project, () => this.show());
    this.offset = 0;
    /** @type {Map<number, Promise<ItemView>>} */
    this.items = new Map();
    project.addEventListener("state", () => this.#badge());
  }

  #badge() {
    const state = this.project.state;
    const open = (state?.contradictions ?? 0) + (state?.skipped ?? 0);
    const badge = byId("review-badge");
    badge.hidden = open === 0;
    badge.textContent = open ? ` ${open}` : "";
  }

  async show() {
    const body = byId("review-body");
    if (!body.children.length) body.append(h("p", { class: "hint" }, "Loading…"));
    try {
      await this.project.outbox.idle();
      const [conflicts, skipped, answers] = await Promise.all([
        call("GET", "/api/contradictions"),
        call("GET", "/api/skipped?most=20"),
        call("GET", `/api/answers?offset=${this.offset}&limit=${PAGE}`),
      ]);
      const items = await this.#fetch(answers.answers.flatMap((/** @type {any} */ said) => [said.a, said.b]));
      body.replaceChildren(this.#conflicts(conflicts.contradictions), this.#skipped(skipped.questions), this.#answers(answers, items));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      body.replaceChildren(h("p", { class: "hint" }, error.message), h("button", { type: "button", onclick: () => this.show() }, "Try again"));
    }
  }

  /** @param {number[]} rows @returns {Promise<Map<number, ItemView>>} */
  async #fetch(rows) {
    const wanted = [...new Set(rows)];
    for (const row of wanted) if (!this.items.has(row)) this.items.set(row, call("GET", `/api/items/${row}`));
    try {
      const items = await Promise.all(wanted.map((row) => this.items.get(row)));
      return new Map(items.map((item) => [/** @type {ItemView} */ (item).row, /** @type {ItemView} */ (item)]));
    } catch (error) {
      this.items.clear();
      throw error;
    }
  }

  /** @param {any[]} conflicts */
  #conflicts(conflicts) {
    return h(
      "section",
      { "aria-labelledby": "conflicts-title", class: "block" },
      h("h3", { id: "conflicts-title" }, "Contradictions"),
      conflicts.length
        ? h("p", { class: "hint" }, "These answers cannot all be true. Look again, and change the one that is wrong: one answer settles it.")
        : h("p", { class: "hint" }, "None. All answers agree with each other."),
      ...conflicts.map((conflict) =>
        h(
          "article",
          { class: "conflict" },
          h("p", { dir: "auto" }, conflict.text),
          h("ul", { class: "answers" }, ...conflict.pairs.map((/** @type {any} */ pair) => this.#row(pair.a, pair.b, pair))),
        ),
      ),
    );
  }

  /** @param {import("./types.js").PairQuestion[]} questions */
  #skipped(questions) {
    const flagged = new Set(flags(this.project.storageKey));
    const total = this.project.state?.skipped ?? questions.length;
    return h(
      "section",
      { "aria-labelledby": "skipped-title", class: "block" },
      h("h3", { id: "skipped-title" }, "Skipped"),
      questions.length
        ? h("p", {}, h("button", {
            type: "button",
            class: "primary",
            onclick: async () => ((await this.project.comeBack()) ? this.goto("question") : this.show()),
          }, `Come back to ${count(total, "skipped question")}`))
        : h("p", { class: "hint" }, "None."),
      questions.length > 0 &&
        h("ul", { class: "answers" }, ...questions.map((question) =>
          h("li", {}, this.#two(question.a, question.b), h("span", { class: "muted" }, flagged.has(pairOf(question.id)) ? "⚑ flagged" : "skipped")))),
    );
  }

  /** @param {{answers: any[], total: number}} answers @param {Map<number, ItemView>} items */
  #answers({ answers, total }, items) {
    const turn = (/** @type {string} */ label, /** @type {number} */ by, /** @type {boolean} */ can) =>
      h("button", { type: "button", disabled: !can, onclick: () => ((this.offset += by), this.show()) }, label);
    return h(
      "section",
      { "aria-labelledby": "answers-title", class: "block" },
      h("h3", { id: "answers-title" }, "Answers"),
      h("p", { class: "hint" }, total
        ? `${this.offset + 1}–${this.offset + answers.length} of ${count(total, "answer")}, the newest first. Change one, and what was learnt from it changes, too.`
        : "No answers yet."),
      h("ul", { class: "answers" }, ...answers.map((said) =>
        this.#row(/** @type {ItemView} */ (items.get(said.a)), /** @type {ItemView} */ (items.get(said.b)), said))),
      total > PAGE &&
        h("p", { class: "buttons" }, turn("‹ Newer", -PAGE, this.offset > 0), turn("Older ›", PAGE, this.offset + PAGE < total)),
    );
  }

  /** @param {ItemView} a @param {ItemView} b @param {{answer: string, who?: string, at?: number, asked?: boolean}} said */
  #row(a, b, said) {
    const when = said.at ? new Date(1000 * said.at).toLocaleString() : "";
    const how = said.asked === false ? "by hand" : "";
    return h(
      "li",
      {},
      this.#two(a, b),
      h("span", { class: "muted", dir: "auto" }, [said.who, how, when].filter(Boolean).join(" · ")),
      h(
        "span",
        { class: "choice", role: "group", "aria-label": `Answer on ${oneLine(a)} and ${oneLine(b)}` },
        ...ANSWERS.map(([answer, label]) =>
          h("button", { type: "button", "aria-pressed": String(said.answer === answer), onclick: () => this.#change(a, b, said.answer, answer) }, label)),
      ),
    );
  }

  /** @param {ItemView} a @param {ItemView} b @param {string} before @param {string} answer */
  async #change(a, b, before, answer) {
    if (before === answer) return;
    const reply = await this.project.perform(() => call("PUT", "/api/answers", { body: { a: a.row, b: b.row, answer } }));
    if (reply) {
      toast(`Changed: ${brief(a)} and ${brief(b)} are now “${answer === "unsure" ? "not sure" : answer}”.`, {
        pictures: pictures([a, b]),
        action: "Undo",
        onaction: () => this.project.undo(),
      });
    }
    this.show();
  }

  /** @param {ItemView} a @param {ItemView} b @returns {HTMLElement} both, each to be opened */
  #two(a, b) {
    const one = (/** @type {ItemView} */ item) =>
      h("button", { type: "button", class: "one member", title: oneLine(item), "aria-label": spoken(item), onclick: () => this.actions.showItem(item, null) }, mini(item));
    return h("span", { class: "two" }, one(a), one(b));
  }
}
