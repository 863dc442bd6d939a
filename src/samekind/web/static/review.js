/** Review: what people disagree about, kinds of the same name, contradictions to settle, skipped questions to come back to, and every answer, press by press. */

import { ApiError, call } from "./api.js";
import { Disputes } from "./disputes.js";
import { byId, count, h, toast } from "./dom.js";
import { brief, mini, oneLine, pictures, spoken } from "./items.js";
import { ClusterActions } from "./cluster_actions.js";
import { numberedName } from "./cluster_names.js";

/** @typedef {import("./types.js").ItemView} ItemView @typedef {import("./types.js").ClusterSummary} ClusterSummary */

const PAGE = 20;
const SEARCH_MS = 250;
const ANSWERS = [["same", "Same"], ["different", "Different"], ["unsure", "Not sure"]];

export class Review {
  /** @param {import("./project.js").Project} project @param {(view: string) => void} goto */
  constructor(project, goto) {
    this.project = project;
    this.goto = goto;
    this.actions = new ClusterActions(project, () => this.show());
    this.offset = 0;
    this.search = "";
    this.disputes = new Disputes(project, () => this.show());
    this.disputes.addEventListener("count", () => this.#badge());
    project.addEventListener("state", () => this.#badge());
  }

  #badge() {
    const state = this.project.state;
    const open = this.disputes.total + (state?.contradictions ?? 0) + (state?.skipped ?? 0);
    const badge = byId("review-badge");
    badge.hidden = open === 0;
    badge.textContent = open ? ` ${open}` : "";
  }

  async show() {
    const body = byId("review-body");
    if (!body.children.length) body.append(h("p", { class: "hint" }, "Loading…"));
    try {
      await this.project.outbox.idle();
      const [conflicts, skipped, found] = await Promise.all([
        call("GET", "/api/contradictions"), call("GET", "/api/skipped?most=20"), call("GET", "/api/clusters?members=3"), this.disputes.load(),
      ]);
      body.replaceChildren(
        this.disputes.element, ...this.#namesakes(found.clusters), this.#conflicts(conflicts.contradictions), this.#skipped(skipped.questions), this.#answers(),
      );
      await this.#list();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      body.replaceChildren(h("p", { class: "hint" }, error.message), h("button", { type: "button", onclick: () => this.show() }, "Try again"));
    }
  }

  /** @param {ClusterSummary[]} clusters @returns {HTMLElement[]} those that share a name, to be merged; nothing if none do */
  #namesakes(clusters) {
    /** @type {Map<string, ClusterSummary[]>} */
    const named = new Map();
    for (const cluster of clusters) {
      const name = cluster.name?.toLowerCase();
      if (name) named.set(name, [...(named.get(name) ?? []), cluster]);
    }
    const groups = [...named.values()].filter((group) => group.length > 1);
    if (!groups.length) return [];
    return [h(
      "section",
      { "aria-labelledby": "namesakes-title", class: "block" },
      h("h3", { id: "namesakes-title" }, "Same name"),
      h("p", { class: "hint" }, "These kinds have the same name. Merge them, or rename one under Found so far."),
      h("ul", { class: "answers" }, ...groups.map((group) =>
        h("li", { class: "namesakes" },
          h("span", { class: "two" }, ...group.flatMap((cluster) => [h("span", { dir: "auto" }, numberedName(cluster)), ...cluster.members.map((item) => this.#one(item))])),
          h("button", { type: "button", onclick: () => this.actions.merge(group) }, "Merge…")))),
    )];
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
          h("li", {}, this.#two(question.a, question.b), h("span", { class: "muted" }, "skipped")))),
    );
  }

  /** Every press, with a search; the field stays as it is while the list changes. */
  #answers() {
    const field = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: "answer-search", maxlength: 200, value: this.search, placeholder: "Search", "aria-label": "Search the answers by what the things say" }));
    field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => ((this.search = field.value), (this.offset = 0), this.#list()), SEARCH_MS);
    });
    this.where = h("p", { class: "hint", role: "status" });
    this.presses = h("ul", { class: "answers" });
    this.pages = h("p", { class: "buttons" });
    return h(
      "section",
      { "aria-labelledby": "answers-title", class: "block" },
      h("h3", { id: "answers-title" }, "Answers"),
      field,
      this.where,
      this.presses,
      this.pages,
    );
  }

  async #list() {
    const wanted = this.search;
    const query = new URLSearchParams({ offset: String(this.offset), limit: String(PAGE), search: wanted });
    const { presses, total } = await call("GET", `/api/presses?${query}`);
    if (wanted !== this.search || !this.where) return;
    const turn = (/** @type {string} */ label, /** @type {number} */ by, /** @type {boolean} */ can) =>
      h("button", { type: "button", disabled: !can, onclick: () => ((this.offset += by), this.#list()) }, label);
    this.where.textContent = total
      ? `${this.offset + 1}–${this.offset + presses.length} of ${count(total, "press", "presses")}, the newest first. Change an answer, and what was learnt from it changes, too.`
      : wanted ? "Nothing that was answered says this." : "No answers yet.";
    this.presses.replaceChildren(...presses.map((/** @type {any} */ press) => this.#press(press)));
    this.pages.hidden = total <= PAGE;
    this.pages.replaceChildren(turn("‹ Newer", -PAGE, this.offset > 0), turn("Older ›", PAGE, this.offset + PAGE < total));
  }

  /** @param {any} press one line; what it holds is folded away if it is more than one answer */
  #press(press) {
    const [first] = press.pairs;
    if (press.total === 1) return this.#row(first.a, first.b, { ...press, answer: first.answer });
    const same = press.pairs.find((/** @type {any} */ pair) => pair.answer === "same");
    const what = same ? `${count(press.total, "answer")}, the same as one` : `different from ${press.total}`;
    return h(
      "li",
      { class: "press" },
      h("span", { class: "two" }, this.#one(first.a), h("span", { class: "muted" }, press.asked ? what : count(press.total, "answer"))),
      h("span", { class: "muted", dir: "auto" }, told(press)),
      h("details", {}, h("summary", {}, "Show them"), h("ul", { class: "answers" }, ...press.pairs.map((/** @type {any} */ pair) => this.#row(pair.a, pair.b, pair)))),
    );
  }

  /** @param {ItemView} a @param {ItemView} b @param {{answer: string, who?: string, at?: number, asked?: boolean}} said */
  #row(a, b, said) {
    return h(
      "li",
      {},
      this.#two(a, b),
      h("span", { class: "muted", dir: "auto" }, told(said)),
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
    return h("span", { class: "two" }, this.#one(a), this.#one(b));
  }

  /** @param {ItemView} item @returns {HTMLElement} to be opened */
  #one(item) {
    return h("button", { type: "button", class: "one member", title: oneLine(item), "aria-label": spoken(item), onclick: () => this.actions.showItem(item, null) }, mini(item));
  }
}

/** @param {{who?: string, at?: number, asked?: boolean}} said @returns {string} who said it, how and when */
function told(said) {
  const when = said.at ? new Date(1000 * said.at).toLocaleString() : "";
  return [said.who, said.asked === false ? "by hand" : "", when].filter(Boolean).join(" · ");
}
