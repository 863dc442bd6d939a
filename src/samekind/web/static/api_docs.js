/** Describes the HTTP interface from its OpenAPI schema, with nothing from elsewhere. */

import { h } from "./dom.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @typedef {Record<string, any>} Schema */

/** @param {Schema} part @param {Schema} all @returns {Schema} what a reference stands for */
function resolved(part, all) {
  if (!part?.$ref) return part ?? {};
  return part.$ref.slice(2).split("/").reduce((/** @type {any} */ found, /** @type {string} */ name) => found?.[name], all) ?? {};
}

/** @param {Schema} part @param {Schema} all @param {number} [depth] @returns {any} a value of this form, with its types as words */
function sample(part, all, depth = 0) {
  const form = resolved(part, all);
  if (depth > 6) return "…";
  if (form.const !== undefined) return form.const;
  if (form.enum) return form.enum.join(" | ");
  const choices = form.anyOf ?? form.oneOf;
  if (choices) {
    const values = choices.map((/** @type {Schema} */ choice) => sample(choice, all, depth + 1));
    return values.every((/** @type {any} */ value) => typeof value !== "object") ? values.join(" | ") : values[0];
  }
  if (form.type === "object" || form.properties) {
    const own = Object.entries(form.properties ?? {}).map(([name, value]) => [name, sample(value, all, depth + 1)]);
    return Object.fromEntries(own);
  }
  if (form.type === "array") return [sample(form.items, all, depth + 1)];
  return form.type ?? "any";
}

/** @param {Schema | undefined} content @param {Schema} all @returns {HTMLElement | string} */
function body(content, all) {
  if (!content) return "";
  return h("div", {}, ...Object.entries(content).map(([type, { schema }]) =>
    type === "application/json" && Object.keys(schema ?? {}).length
      ? h("pre", {}, JSON.stringify(sample(schema, all), null, 2))
      : h("p", {}, h("code", {}, type))));
}

/** @param {string} path @param {string} method @param {Schema} route @param {Schema} all */
function operation(path, method, route, all) {
  const parameters = (route.parameters ?? []).map((/** @type {Schema} */ one) =>
    h("tr", {},
      h("td", {}, h("code", {}, one.name)),
      h("td", {}, `${one.in}${one.required ? ", required" : ""}`),
      h("td", {}, [JSON.stringify(sample(one.schema, all)), one.description ?? ""].filter(Boolean).join(" – "))));
  const replies = Object.entries(route.responses ?? {}).map(([status, reply]) =>
    h("div", {}, h("h3", {}, `${status} ${reply.description ?? ""}`), status.startsWith("2") ? body(reply.content, all) : ""));
  return h("details", { id: route.operationId },
    h("summary", {}, h("span", { class: "method", "data-method": method }, method.toUpperCase()), h("code", {}, path),
      route["x-role"] ? h("span", { class: "role muted" }, `role ${route["x-role"]}`) : ""),
    h("div", { class: "inside" },
      h("p", {}, route.description ?? route.summary ?? ""),
      parameters.length ? h("h3", {}, "Parameters") : "",
      parameters.length ? h("table", {}, h("tbody", {}, ...parameters)) : "",
      route.requestBody ? h("h3", {}, "Body") : "",
      route.requestBody ? body(route.requestBody.content, all) : "",
      ...replies));
}

async function show() {
  const reply = await fetch(/** @type {string} */ (main.dataset.schema));
  const all = await reply.json();
  /** @type {Map<string, HTMLElement[]>} */
  const groups = new Map();
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      const tag = route.tags?.[0] ?? "";
      groups.set(tag, [...(groups.get(tag) ?? []), operation(path, method, route, all)]);
    }
  }
  const order = [...groups].sort(([a], [b]) => Number(b === "projects") - Number(a === "projects"));
  main.replaceChildren(
    h("p", { class: "lead" }, `Version ${all.info.version}. Every request has the header Authorization: Bearer TOKEN, where TOKEN is the part of your link after “#token=”. `,
      h("a", { href: main.dataset.schema }, "The same as OpenAPI")),
    ...order.flatMap(([tag, parts]) => [h("h2", {}, tag), ...parts]));
}

show().catch(() => (main.textContent = "The description could not be loaded. Try again."));
