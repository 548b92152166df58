// The box above the return: it tries an expression, and searches keys and values in the tree.

import { request } from "./api.js";
import { make, safe, textOf } from "./tree.js";

const MOST = 50; // results that are listed
const MOST_VALUES = 200_000; // values that are searched

/** Return what an expression finds, and the places of values that contain the text. */
export async function find(expression, { root, ...fields }) {
  const answer = await request("POST", "query", { expression, ...fields }).catch(({ message }) => ({ message }));
  const places = answer.places?.slice(0, MOST) ?? [];
  const found = places.length ? [] : search(root, expression.toLowerCase());
  const why = found.length ? "" : answer.message ?? answer.nothing ?? "";
  return { about: answer.value ?? why, places, found };
}

/** Return the keys that lead to values whose key or text contains a word. */
function search(root, word) {
  const found = [];
  const open = [{ node: root, at: 0 }]; // from the outermost value to the innermost
  for (let number = 0; open.length && number < MOST_VALUES && found.length < MOST; number++) {
    const around = open.at(-1);
    if (around.at === (around.node?.items?.length ?? 0)) {
      open.pop();
      continue;
    }
    const { keys, items } = around.node;
    const node = items[around.at];
    around.key = keys ? textOf(keys[around.at]) : around.at;
    around.at++;
    const text = node?.items ? "" : typeof node === "string" || node?.text ? textOf(node) : String(node?.raw ?? node);
    if (`${keys ? around.key : ""}\n${text}`.toLowerCase().includes(word)) found.push(open.map(({ key }) => key));
    if (node?.items) open.push({ node, at: 0 });
  }
  return found;
}

/** Write keys and indices as a path. */
export function pathOf(keys) {
  const parts = keys.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return `.${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}`;
  });
  return parts.join("").replace(/^\./, "") || "@";
}

/** Return the items of a list of results. `go(keys or path)` is called for the one that is clicked. */
export function resultItems({ about, places, found }, go) {
  const row = (path, value, target) => {
    const open = safe(path, "button", { type: "button", class: "link", title: "Show in the tree, and copy the path" });
    open.addEventListener("click", () => go(target, path));
    return make("li", {}, open, " ", safe(value, "span", { class: "quiet" }));
  };
  const items = places.map(({ place, value }) => row(place, value, place));
  items.push(...found.map((keys) => row(pathOf(keys), "", keys)));
  const text = about || (items.length ? "" : "Nothing found");
  return text ? [safe(text, "li"), ...items] : items;
}
