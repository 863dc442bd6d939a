/**
 * Building the page. Data become text nodes and attributes here, never markup: no other module
 * makes elements in another way, and none uses innerHTML.
 */

/**
 * Make an element: h("button", {class: "big", onclick: go}, "Go").
 *
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; "on…" are listeners, false and null are left out
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

/**
 * Make an element of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {SVGElement}
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, props, children);
  return element;
}

/** @param {Element} element @param {Record<string, any>} props @param {any[]} children */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

/** @param {string} id @returns {any} the element of index.html with this id */
export function byId(id) {
  return document.getElementById(id);
}

/** @param {string} text say it to a screen reader */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** @param {number} count @param {string} one @param {string} [many] @returns {string} "1 cluster", "2,000 clusters" */
export function count(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** @param {number} value @returns {string} with thousands set apart */
export function number(value) {
  return value.toLocaleString("en");
}

/** @param {number} share @returns {string} a bound in per cent with two digits, rounded up, as the server writes it */
export function percent(share) {
  const value = 100 * Math.min(share, 1);
  if (value < 1e-6) return "0 %";
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return `${Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(3))} %`;
}

const TOAST_MS = 9000;

/**
 * Show a message for a while, in place of the one before.
 *
 * @param {string} text
 * @param {{action?: string, onaction?: () => void, bad?: boolean, pictures?: Node[]}} [options] small pictures of what it is about
 */
export function toast(text, { action, onaction, bad, pictures = [] } = {}) {
  const shown = h("div", { class: bad ? "toast bad" : "toast", role: bad ? "alert" : null }, ...pictures, h("span", { class: "said", dir: "auto" }, text));
  const leave = () => shown.remove();
  let timer = setTimeout(leave, TOAST_MS);
  if (action) {
    shown.append(h("button", { type: "button", onclick: () => (leave(), onaction?.()) }, action));
  }
  shown.append(h("button", { type: "button", class: "close", "aria-label": "Dismiss", onclick: leave }, "×"));
  shown.addEventListener("pointerenter", () => clearTimeout(timer));
  shown.addEventListener("pointerleave", () => (timer = setTimeout(leave, TOAST_MS)));
  byId("toasts").replaceChildren(shown);
}

/**
 * Open a dialog. It is gone when it is closed, and the focus returns to where it was.
 *
 * @param {string} title
 * @param {(Node | string)[]} body
 * @param {{class?: string, onclose?: () => void}} [options]
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, body, { class: extra = "", onclose } = {}) {
  const id = `dialog-${Date.now()}-${document.querySelectorAll("dialog").length}`;
  const dialog = /** @type {HTMLDialogElement} */ (
    h(
      "dialog",
      { class: `dialog ${extra}`, "aria-labelledby": id },
      h(
        "div",
        { class: "dialog-head" },
        h("h2", { id, dir: "auto" }, title),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => dialog.close() }, "×"),
      ),
      h("div", { class: "dialog-body" }, ...body),
    )
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
