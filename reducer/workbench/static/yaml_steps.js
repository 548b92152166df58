// Reads and edits the text of a rule through its syntax tree, which preserves comments and layout.

import { isText, textOf } from "./tree.js";

const MAX_VALUES = 5000; // values whose paths are completed
const MIN_TEXT = 40; // characters of a text that is worth a cut

const valueOf = (pair) => {
  const value = pair?.lastChild;
  return value && value.name !== "Key" && value.name !== ":" && value.name !== "Comment" ? value : null;
};
const children = (node, name) => (node ? node.getChildren(name) : []);
const mappingOf = (node) => node?.getChild("BlockMapping") ?? node?.getChild("FlowMapping") ?? null;

/** Return the text of a scalar without its quotes. */
function scalar(node, text) {
  const source = text.slice(node.from, node.to).trim();
  if (node.name !== "QuotedLiteral") return source;
  if (source[0] === "'") return source.slice(1, -1).replaceAll("''", "'");
  try {
    return JSON.parse(source);
  } catch {
    return source.slice(1, -1);
  }
}

function pairOf(mapping, key, text) {
  const nameOf = ({ firstChild: name }) => name && scalar(name.firstChild ?? name, text);
  return children(mapping, "Pair").find((pair) => nameOf(pair) === key);
}

/** Write a text as a YAML value. */
export function quoted(value) {
  if (/^[A-Za-z_][\w.[\]*-]*$/.test(value) && !/^(true|false|null|yes|no|on|off)$/i.test(value)) return value;
  return value.includes("'") || /[\n\r\t]/.test(value) ? JSON.stringify(value) : `'${value}'`;
}

/** Return the keys (`-` for an item) that lead to the innermost pair or item around `node`, outermost first. */
export function keysAround(node, text) {
  const keys = [];
  for (let at = node; at; at = at.parent) {
    if (at.name === "Item") keys.unshift("-");
    else if (at.name === "Pair" && at.firstChild?.firstChild) keys.unshift(scalar(at.firstChild.firstChild, text));
  }
  return keys;
}

function stepItems(tree, text) {
  const root = tree.topNode.getChild("Document")?.getChild("BlockMapping");
  const steps = valueOf(pairOf(root, "steps", text));
  return { root, steps, items: children(steps, "Item") };
}

/** Return the path of the step at a position, or null outside of the steps. */
export function pathAt(tree, text, position) {
  const item = stepItems(tree, text).items.find((one) => one.from <= position && position <= one.to + 1);
  const value = item && valueOf(pairOf(mappingOf(item), "path", text));
  return item ? (value ? scalar(value, text) : "@") : null;
}

/**
 * Return the change `{from, insert}` that adds a step, and the offset of its value in `insert` with its length.
 * Keys to keep or drop are added to a step with the same path and action, if there is one.
 */
export function stepChange(tree, text, { path, action, value }) {
  const { root, steps, items } = stepItems(tree, text);
  const written = Array.isArray(value) ? `[${value.map(quoted).join(", ")}]` : String(value);
  const same = Array.isArray(value) && items.map(mappingOf).find((step) => {
    const at = valueOf(pairOf(step, "path", text));
    return pairOf(step, action, text) && (at ? scalar(at, text) : "@") === path;
  });
  if (same) return extended(valueOf(pairOf(same, action, text)), text, value);
  const entries = [...(path === "@" ? [] : [`path: ${quoted(path)}`]), `${action}: ${written}`];
  if (steps?.name === "FlowSequence") {
    const insert = `${items.length ? ", " : ""}{${entries.join(", ")}}`;
    return selecting({ from: steps.to - 1, insert }, written);
  }
  const dash = steps?.getChild("-");
  const indent = dash ? " ".repeat(dash.from - (text.lastIndexOf("\n", dash.from - 1) + 1)) : "  ";
  const lines = `${indent}- ${entries.join(`\n${indent}  `)}`;
  if (items.length) return selecting({ from: items.at(-1).to, insert: `\n${lines}` }, written);
  const pair = pairOf(root, "steps", text);
  if (pair) return selecting({ from: pair.firstChild.nextSibling?.to ?? pair.to, insert: `\n${lines}` }, written);
  const before = text && !text.endsWith("\n") ? "\n" : "";
  return selecting({ from: text.length, insert: `${before}steps:\n${lines}\n` }, written);
}

function selecting(change, written) {
  return { ...change, offset: change.insert.lastIndexOf(written), length: written.length };
}

/** Add keys to the value of `keep` or `drop`, or only select it if it has them. */
function extended(node, text, keys) {
  const items = children(node, "Item").map((item) => scalar(item.firstChild, text));
  const present = /Sequence$/.test(node.name) ? items : [scalar(node, text)];
  const missing = keys.filter((key) => !present.includes(key)).map(quoted);
  if (!missing.length) return { from: node.to, insert: "", offset: 0, length: 0 };
  if (node.name === "FlowSequence") {
    const more = missing.join(", ");
    return selecting({ from: node.to - 1, insert: `${present.length ? ", " : ""}${more}` }, more);
  }
  if (node.name === "BlockSequence") {
    const indent = " ".repeat(node.from - (text.lastIndexOf("\n", node.from - 1) + 1));
    return selecting({ from: node.to, insert: missing.map((key) => `\n${indent}- ${key}`).join("") }, missing.at(-1));
  }
  const insert = `[${[text.slice(node.from, node.to), ...missing].join(", ")}]`;
  return { ...selecting({ from: node.from, insert }, missing.join(", ")), to: node.to };
}

// --- paths of values

/** Write keys and indexes as a path in which every index is `[*]`. */
export function pathText(keys) {
  const parts = keys.map((key) =>
    typeof key === "number" ? "[*]" : `.${/^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? key : JSON.stringify(key)}`,
  );
  return parts.join("").replace(/^\./, "") || "@";
}

/** Read the keys and indexes of a place, such as `hosts[3].name`. */
export function keysOf(place) {
  const tokens = place === "@" ? [] : place.match(/"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*|\[\d+\]/g) ?? [];
  return tokens.map((one) => (one[0] === "[" ? Number(one.slice(1, -1)) : one[0] === '"' ? JSON.parse(one) : one));
}

/** Return the paths in a tree, each with the keys of the objects at this path or in the list at this path. */
export function pathsOf(root) {
  const paths = new Map();
  const waiting = [[root, []]];
  for (let count = 0; waiting.length && count < MAX_VALUES; count++) {
    const [node, keys] = waiting.shift();
    const path = pathText(keys);
    if (!paths.has(path)) paths.set(path, new Set());
    for (const [at, item] of (node?.items ?? []).entries()) {
      const key = node.keys ? textOf(node.keys[at]) : at;
      if (node.keys) for (const each of [path, path.replace(/\[\*\]$/, "")]) paths.get(each)?.add(key);
      waiting.push([item, [...keys, key]]);
    }
  }
  return paths;
}

function nodeAt(root, keys) {
  const indexOf = (node, key) => (node.keys ? node.keys.findIndex((each) => textOf(each) === key) : key);
  return keys.reduce((node, key) => node.items[indexOf(node, key)], root);
}

/** Return the steps to offer for the value at `keys`: keep or drop its key, limit the list around it, truncate it. */
export function offers(root, keys) {
  const node = nodeAt(root, keys);
  const isList = node?.items && !node.keys;
  const lastIndex = keys.findLastIndex((key) => typeof key === "number");
  const list = isList ? keys : lastIndex < 0 ? null : keys.slice(0, lastIndex);
  const found = [];
  if (typeof keys.at(-1) === "string") {
    // `keep` and `drop` look into the items of a list, so the path of the list is enough.
    const path = pathText(keys.slice(0, -1)).replace(/\[\*\]$/, "") || "@";
    for (const action of ["keep", "drop"]) found.push({ path, action, value: [keys.at(-1)] });
  }
  const half = (size, most) => Math.min(most, Math.max(1, Math.floor(size / 2)));
  if (list) found.push({ path: pathText(list), action: "limit", value: half(nodeAt(root, list).items.length, 20) });
  const length = isText(node) ? textOf(node).length : 0;
  if (length >= MIN_TEXT) found.push({ path: pathText(keys), action: "truncate", value: half(length, 400) });
  return found;
}
