/** The page: joins the store, the screens and the keys. */

import { html, render, useEffect, useState } from "./vendor/preact.js";
import { Banner, Dialogs, Messages, Saved } from "./dialogs.js";
import { reviewKeys, watchDisputes } from "./disputes.js";
import { Finish } from "./finish.js";
import { openHelp } from "./help.js";
import { Keyboard, listenToKeys } from "./keyboard.js";
import { keys } from "./keys.js";
import { Found } from "./kinds.js";
import { pageOf } from "./api.js";
import { may, me, opened } from "./me.js";
import { refreshOverview, watchOverview } from "./overview.js";
import { Annotators, People } from "./people.js";
import { act, QuestionArea } from "./question.js";
import { Review, ReviewBadge } from "./review.js";
import { openField } from "./say.js";
import { isDark, remember, remembered, switchTheme } from "./settings.js";
import { Spent, Standing } from "./standing.js";
import { change, load, set, state, wantsLineups } from "./store.js";
import { useStore } from "./use.js";
import { Button } from "./parts.js";

/** @type {Record<string, string>} the screens, and the role that each is for */
const VIEWS = {
  question: "answer",
  found: "review",
  review: "review",
  people: "own",
  finish: "own",
};

/** @param {string} view show a screen */
function goto(view) {
  const address = `#/${view}`; // with a stroke: no element has this id, so that nothing scrolls
  if (location.hash !== address) history.pushState(null, "", address);
  show();
  setTimeout(() => document.getElementById(`${state.view}-title`)?.focus({ preventScroll: true }));
}

/** Show the screen that the address says. */
function show() {
  const asked = location.hash.slice(2);
  const isThere = asked in VIEWS && (asked !== "people" || me.who !== null); // else there are no links
  const isOpen = isThere && may(VIEWS[asked]) && !(state.locked && !state.loaded);
  set({ view: isOpen ? asked : "question" });
}

function App() {
  const view = useStore((now) => now.view);
  const announcement = useStore((now) => now.announcement);
  const isLockedOut = useStore((now) => now.locked && !now.loaded);
  useEffect(() => {
    document.body.dataset.view = view;
    document.body.classList.toggle("locked-out", isLockedOut);
    refreshOverview();
    if (isLockedOut) show();
  }, [view, isLockedOut]);
  return html`<a class="skip-link" href="#main">Skip to the question</a>
    <${TopBar} />
    <${Banner} />
    <main id="main" tabindex="-1">
      <${QuestionArea} goto=${goto} />
      <section id="found" class="found" data-needs="review" aria-labelledby="found-title">
        <h2 id="found-title" tabindex="-1">Found so far</h2>
        <${Found} />
      </section>
      ${view === "review" && html`<${Screen} id="review" title="Review"><${Review} goto=${goto} /><//>`}
      ${view === "people" && html`<${Screen} id="people" title="People"><${People} /><//>`}
      ${view === "finish" && html`<${Screen} id="finish" title="Finish"><${Finish} goto=${goto} /><//>`}
    </main>
    <${Annotators} />
    <${Foot} />
    <p id="announcer" class="hidden" aria-live="polite">${announcement}</p>
    <${Dialogs} />`;
}

/** @param {{id: string, title: string, children: any}} props */
function Screen({ id, title, children }) {
  return html`<section id=${id} class="sheet" aria-labelledby=${`${id}-title`}>
    <h2 id=${`${id}-title`} tabindex="-1">${title}</h2>
    ${children}
  </section>`;
}

function TopBar() {
  const title = useStore((now) => now.status?.title ?? "Labelling");
  const isBusy = useStore((now) => now.busy);
  const parent = useStore((now) => now.me.part_of);
  useEffect(() => {
    document.title = `${title} – samekind`;
  }, [title]);
  useEffect(() => {
    document.body.toggleAttribute("data-busy", isBusy);
  }, [isBusy]);
  return html`<header class="top">
    <div class="top-title">
      <p class="brand">
        ${parent ? html`<a href=${pageOf(parent)}>${`‹ ${parent}`}</a>` : "samekind"}
      </p>
      <h1 id="title">${title}</h1>
    </div>
    <div class="standing"><${Standing} /><${Spent} /><${Messages} /></div>
    <div class="top-tools">
      <p id="busy" class="busy" role="status">${isBusy ? "Working…" : ""}</p>
      <${Saved} />
      <${ThemeButton} />
      <${Button}
        id="help"
        class="icon-button"
        aria-label="Help and keys"
        aria-keyshortcuts="?"
        act=${openHelp}
      >
        <span aria-hidden="true">?</span>
      <//>
    </div>
    <nav class="tabs" aria-label="Screens">
      <${Tab} view="question">Questions<//>
      <${Tab} view="found">Found<span class="on-wide">${" so far"}</span><//>
      <${Tab} view="review">Review<${ReviewBadge} /><//>
      <${Tab} view="people">People<//>
      <${Tab} view="finish">Finish<//>
    </nav>
  </header>`;
}

/** @param {{view: string, children: any}} props */
function Tab({ view, children }) {
  const isCurrent = useStore((now) => now.view === view);
  const needs = VIEWS[view];
  return html`<${Button}
    data-goto=${view}
    data-needs=${needs === "answer" ? undefined : needs}
    aria-current=${isCurrent ? "page" : undefined}
    act=${() => goto(view)}
  >
    ${children}
  <//>`;
}

function ThemeButton() {
  const [isPressed, setPressed] = useState(isDark());
  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
      setPressed(isDark());
      document.dispatchEvent(new CustomEvent("samekind:theme"));
    };
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, []);
  const press = () => {
    switchTheme();
    setPressed(isDark());
    document.dispatchEvent(new CustomEvent("samekind:theme"));
  };
  return html`<${Button}
    id="theme"
    class="icon-button"
    aria-label="Dark mode"
    aria-pressed=${String(isPressed)}
    act=${press}
  >
    <span aria-hidden="true">◐</span>
  <//>`;
}

function Foot() {
  const who = useStore((now) => now.me.who);
  const version = useStore((now) => now.status?.version ?? "");
  const hasSheets = useStore((now) => now.status?.sheets ?? true);
  const [wanted, want] = useState(/** @type {boolean | null} */ (null)); // while the server takes it in
  useStore((now) => now.status);
  const rename = (/** @type {any} */ event) => {
    remember("who", event.target.value.trim());
    load();
  };
  const leave = (/** @type {any} */ event) => event.key === "Enter" && event.target.blur();
  const switchLineups = (/** @type {any} */ event) => {
    remember("lineup", event.target.checked);
    load();
  };
  const switchSheets = async (/** @type {any} */ event) => {
    const sheets = event.target.checked;
    want(sheets);
    await change("/api/sheets", { sheets });
    want(null);
  };
  return html`<footer class="foot">
    <p id="me" class="me">${who}</p>
    <label class="who">
      ${"Your name "}
      <input
        id="who"
        maxlength="60"
        autocomplete="nickname"
        placeholder="optional"
        defaultValue=${remembered("who", "")}
        onchange=${rename}
        onkeydown=${leave}
      />
    </label>
    <label class="switch" title="Ask which of several kinds an item is">
      <input
        id="lineup"
        type="checkbox"
        role="switch"
        checked=${wantsLineups() ?? true}
        onchange=${switchLineups}
      />
      ${" Line-ups"}
    </label>
    <label class="switch" data-needs="own" title="Ask about several items of one kind at once">
      <input
        id="sheets"
        type="checkbox"
        role="switch"
        checked=${wanted ?? hasSheets}
        onchange=${switchSheets}
      />
      ${" Sheets"}
    </label>
    <p class="about">${`samekind ${version} · this page talks only to the server it came from`}</p>
  </footer>`;
}

const keyboard = new Keyboard({
  now: () => performance.now(),
  actionOf: (key) => keys.action(key),
  counts: (action) =>
    state.view === "question" ||
    ["undo", "help"].includes(action) ||
    (state.view === "review" && reviewKeys.takes(action)),
  act: (action) => {
    if (action === "help") openHelp();
    else if (state.view === "review" && reviewKeys.takes(action)) reviewKeys.act(action);
    else act(action);
  },
  openField,
  quiet: (isQuiet) => {
    if (isQuiet) document.body.dataset.keys = "quiet";
    else delete document.body.dataset.keys;
  },
});

listenToKeys(keyboard, document);
addEventListener("popstate", show);
document.addEventListener("visibilitychange", () => {
  // Another tab or person may have answered meanwhile.
  if (document.visibilityState === "visible" && state.loaded) load();
});
document.body.dataset.view = state.view;
render(html`<${App} />`, document.body);
watchOverview();
watchDisputes();
opened(() => {
  set({ me: { ...me } });
  document.body.toggleAttribute("data-links", me.who !== null);
  show();
}).then(() => {
  show();
  load();
});
