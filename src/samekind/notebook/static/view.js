/** What anywidget shows: a page of its own in a shadow, so that neither styles nor keys reach the notebook, nor its the page. */

/** @param {ShadowRoot} root @param {HTMLElement} page @returns {object} the document as the page's modules know it */
function documentOf(root, page) {
  return {
    body: page,
    documentElement: root.host,
    get activeElement() {
      return root.activeElement;
    },
    createElement: (/** @type {string} */ tag) => document.createElement(tag),
    createTextNode: (/** @type {string} */ text) => document.createTextNode(text),
    createElementNS: (/** @type {string} */ space, /** @type {string} */ tag) =>
      document.createElementNS(space, tag),
    getElementById: (/** @type {string} */ id) => root.getElementById(id),
    querySelector: (/** @type {string} */ selector) => root.querySelector(selector),
    querySelectorAll: (/** @type {string} */ selector) => root.querySelectorAll(selector),
    addEventListener: (/** @type {any[]} */ ...given) => root.addEventListener(...given),
    dispatchEvent: (/** @type {Event} */ event) => root.dispatchEvent(event),
  };
}

/** @returns {boolean} whether the notebook is dark: JupyterLab, VS Code, Colab and marimo each say so in another way */
function isDark() {
  const { body, documentElement: top } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  const said = `${body.className} ${top.className} ${top.getAttribute("theme") ?? ""} ${body.dataset.theme ?? ""} ${top.dataset.theme ?? ""}`;
  if (/\bvscode-(dark|high-contrast)\b(?!-light)|\bdark\b/.test(said)) return true;
  if (/\bvscode-light\b|\blight\b/.test(said)) return false;
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @param {{model: any, el: HTMLElement}} given @returns {() => void} */
function render({ model, el }) {
  const host = document.createElement("div");
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab looks at keys before we do
  el.append(host);
  const root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = STYLES;
  const page = document.createElement("div");
  page.className = "page";
  page.dataset.view = "question"; // the only screen of the page that there is here
  page.tabIndex = 0; // so that a click anywhere in it gives it the keys
  root.append(style, page);
  const paint = () => (host.dataset.theme = isDark() ? "dark" : "light");
  const observer = new MutationObserver(paint);
  for (const watched of [document.body, document.documentElement])
    observer.observe(watched, { attributes: true });
  paint();
  const end = makePage(documentOf(root, page)).start(page, model);
  return () => {
    observer.disconnect();
    end();
  };
}

export default { render };
