/** People and their links, for owners: made here, shown once, revoked. Only on a server for a team. */

import { ApiError, call } from "./api.js";
import { byId, h, openDialog, toast } from "./dom.js";
import { me } from "./me.js";

/** @typedef {import("./types.js").Link} Link */

const ROLES = [["answer", "answers questions"], ["review", "also names, merges and settles"], ["own", "also settings, exports and links"]];
const ENDS = [["", "never"], ["1", "tomorrow"], ["7", "in a week"], ["30", "in 30 days"], ["365", "in a year"]];
const DAY = 86_400;

/** @param {number | null} at @returns {string} */
const when = (at) => (at === null ? "never" : new Date(1000 * at).toLocaleDateString());

/** @param {Link} link @returns {string} */
function state(link) {
  if (link.revoked !== null) return `revoked ${when(link.revoked)}`;
  if (link.expires === null) return "holds";
  return 1000 * link.expires < Date.now() ? `ended ${when(link.expires)}` : `holds until ${when(link.expires)}`;
}

export class LinkScreen {
  constructor() {
    this.list = h("div", { class: "links" });
    this.made = h("div", { class: "made-link", role: "status" });
    this.name = /** @type {HTMLInputElement} */ (h("input", { id: "link-who", maxlength: 100, required: true, autocomplete: "off" }));
    this.role = choice("link-role", ROLES.map(([role, what]) => [role, `${role}: ${what}`]));
    this.ends = choice("link-ends", ENDS);
  }

  async show() {
    const body = byId("people-body");
    if (!body.children.length) body.append(this.#form(), this.list);
    try {
      const { links } = await call("GET", "/api/links");
      this.list.replaceChildren(this.#table(links));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.list.replaceChildren(h("p", { class: "hint" }, error.message), h("button", { type: "button", onclick: () => this.show() }, "Try again"));
    }
  }

  /** Let go of the link that was made last: who comes to the screen later is not to see it. */
  putAway() {
    this.made.replaceChildren();
  }

  #form() {
    const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) => h("label", { class: "field" }, h("span", {}, label), input);
    const form = h("form", { class: "new-link" }, field("Name", this.name), field("Role", this.role), field("Ends", this.ends),
      h("button", { type: "submit", class: "primary" }, "Make a link"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make();
    });
    return h("section", { class: "block", "aria-labelledby": "new-link-title" }, h("h3", { id: "new-link-title" }, "A link for somebody"),
      h("p", { class: "hint" }, "Everybody has a link of their own: what comes by it is theirs. Send it by a way that nobody else reads."), form, this.made);
  }

  async #make() {
    const who = this.name.value.trim();
    const days = Number(this.ends.value);
    const expires = days ? Date.now() / 1000 + days * DAY : null;
    try {
      const reply = await call("POST", "/api/links", { body: { who, role: this.role.value, expires } });
      // The page is at …/p/NAME/; the link differs from its address in the token alone.
      this.#tell(reply.link, `${location.origin}${location.pathname}#token=${encodeURIComponent(reply.token)}`);
      this.name.value = "";
      await this.show();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.putAway();
      toast(error.message, { bad: true });
    }
  }

  /** @param {Link} link @param {string} address shown until it is copied and put away: nobody can see it again */
  #tell(link, address) {
    const shown = /** @type {HTMLInputElement} */ (h("input", { class: "address", readonly: true, value: address, "aria-label": `The link of ${link.who}` }));
    const copy = h("button", { type: "button", class: "primary" }, "Copy");
    copy.addEventListener("click", async () => {
      shown.select();
      const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
      copy.textContent = copied || document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
    });
    const away = h("button", { type: "button", onclick: () => this.putAway() }, "Put away");
    this.made.replaceChildren(
      h("p", { dir: "auto" }, h("strong", {}, `${link.who}'s link`), " is shown this once, and cannot be seen again."),
      h("p", { class: "buttons" }, shown, copy, away),
    );
    copy.focus();
  }

  /** @param {Link[]} links @returns {HTMLElement} */
  #table(links) {
    const holds = (/** @type {Link} */ link) => link.revoked === null && (link.expires === null || 1000 * link.expires > Date.now());
    const sorted = [...links].sort((a, b) => Number(holds(b)) - Number(holds(a)) || b.id - a.id);
    const row = (/** @type {Link} */ link) => h("tr", { class: holds(link) ? "" : "muted" },
      h("th", { scope: "row", dir: "auto" }, link.who), h("td", {}, link.role), h("td", { class: "on-wide" }, when(link.at)), h("td", {}, state(link)),
      h("td", {}, holds(link) && h("button", { type: "button", "aria-label": `Revoke the link of ${link.who}, made ${when(link.at)}`, onclick: () => this.#confirm(link) }, "Revoke")));
    return h("section", { class: "block", "aria-labelledby": "links-title" }, h("h3", { id: "links-title", tabindex: "-1" }, "Links"),
      h("table", {}, h("thead", {}, h("tr", {}, ...["who", "role", "made", "state"].map((text) => h("th", { scope: "col", class: text === "made" && "on-wide" }, text)), h("td", {}))),
        h("tbody", {}, ...sorted.map(row))));
  }

  /** @param {Link} link */
  #confirm(link) {
    const own = link.who === me.who ? " It may be the one that you came by: then this page opens no more." : "";
    const revoke = h("button", { type: "button", class: "primary" }, "Revoke");
    const dialog = openDialog(`Revoke ${link.who}'s link?`, [
      h("p", {}, `It opens nothing from then on, on any server. What ${link.who} answered stays.${own}`),
      h("p", { class: "buttons" }, revoke, h("button", { type: "button", onclick: () => dialog.close() }, "Leave it")),
    ]);
    revoke.addEventListener("click", async () => {
      dialog.close();
      try {
        await call("POST", `/api/links/${link.id}/revoke`, { body: {} });
        toast(`${link.who}'s link is revoked.`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        toast(error.message, { bad: true });
      }
      await this.show();
      byId("links-title")?.focus({ preventScroll: true });
    });
  }
}

/** @param {string} id @param {string[][]} options @returns {HTMLSelectElement} */
function choice(id, options) {
  return /** @type {HTMLSelectElement} */ (h("select", { id }, ...options.map(([value, text]) => h("option", { value }, text))));
}
