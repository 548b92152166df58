// The tree of a tool return, as `reducer/analysis/tree.py` describes it, in one column for each side.

const CHUNK = 100; // children that are shown at once
const GROUP = 4; // consecutive removed items from which they are folded into one row
const FIRST_ROWS = 36; // rows that are open at first
const FIRST_ITEMS = 8; // items of a list that are open at first
const PREVIEW = 90; // characters of the preview of a folded value
const [HEAD, TAIL, LINE] = [90, 30, 360]; // characters of each part of a folded text, and of all parts
const OPEN = 1_000_000; // characters of an open text
const COLOURS = 8;
const CONTROLS = /[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Surrogate}]/gu;

// --- elements

/** Create an element with attributes, and with elements and texts as children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const span = (name, ...children) => make("span", { class: name }, ...children);

export const byId = (id) => document.getElementById(id);
export const count = (number) => Math.round(number).toLocaleString("en");
export const counted = (number, noun, plural = `${noun}s`) => `${count(number)} ${number === 1 ? noun : plural}`;

/** Return the saved share of a size as a percentage. */
export const saved = ({ before, after }) => (before ? `${(((before - after) / before) * 100).toFixed(1)}%` : "–");

/** Create an element with untrusted text. */
export const safe = (text, tag = "bdi", attributes = {}) => appendText(make(tag, attributes), text);

/** Append untrusted text. Control characters and direction marks are visible, and line breaks stay if it is `open`. */
export function appendText(parent, text, open = false) {
  let end = 0;
  for (const { 0: found, index } of text.matchAll(CONTROLS)) {
    if (open && (found === "\n" || found === "\t")) continue;
    const code = `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
    parent.append(text.slice(end, index), span("control", { "\n": "↵", "\t": "⇥" }[found] ?? code));
    end = index + found.length;
  }
  parent.append(text.slice(end));
  return parent;
}

// --- steps

/** Return the class that colours a step. */
export function stepClass(number) {
  return number ? `step step-${((number - 1) % COLOURS) + 1}` : "step";
}

/** Return the name of a rule file, without its folder, and the line of a step. */
export function placeOf(file, line) {
  return `${(file ?? "").split(/[/\\]/).pop()}${line ? `:${line}` : ""}`;
}

/** Return the short name of a step of a tree, and its description: number, action and path, file and line. */
export function namesOf({ steps, file }, number) {
  const { name, line } = steps.find((each) => each.number === number);
  const place = `${name} (${placeOf(file, line)})`;
  return line ? [String(number), `step ${number}, ${place}`] : ["max", place];
}

/** Colour an element by the step that removed it, and describe the step. */
function setEffect({ data }, element, { step, kept }) {
  if (!step) return;
  const [label, description] = namesOf(data, step);
  element.className += ` ${stepClass(step)} ${kept ? "restored" : "removed"}`;
  element.dataset.step = label;
  element.dataset.tip = `${kept ? "Restored; removed" : "Removed"} by ${description}`;
}

/** Return the numbers of the steps that removed something in a node. */
function stepsIn(view, node) {
  if (typeof node !== "object" || node === null) return new Set();
  if (!view.steps.has(node)) {
    const own = [...(node.ranges ?? []).map((range) => range[2]), ...(node.text ?? []).map((run) => run.step)];
    const below = (node.items ?? []).flatMap((item) => [...stepsIn(view, item)]);
    view.steps.set(node, new Set([...own, ...below].filter(Boolean)));
  }
  return view.steps.get(node);
}

// --- the view

/**
 * Create the view of a tree. `sides` are "before", "after" or both. Activating a row dispatches the event `choose` with
 * `{path, node}`. The result contains the `element` and
 *
 * - `mark(paths)`: highlights the values at these paths
 * - `reveal(path)`: opens the rows that lead to a value, and returns its row
 * - `opened()`: returns the names of the open rows, which the option `opened` opens again
 */
export function createTree(data, { sides = ["before", "after"], label = "Tool return", opened } = {}) {
  const element = make("div", { class: `tree sides-${sides.length}`, role: "tree", "aria-label": label });
  const view = { data, sides, element, steps: new WeakMap(), marked: new Set() };
  const root = rowOf(view, { kind: "value", node: data.node, path: [], step: 0, kept: 1, level: 1 });
  root.tabIndex = 0;
  element.append(root);
  if (opened) reopen(view, root, opened);
  else openFirst(view, root);
  element.addEventListener("click", ({ target }) => activate(view, target.closest(".row")));
  element.addEventListener("keydown", (event) => onKey(view, event));
  element.addEventListener("focusin", ({ target }) => focusRow(view, target.closest(".row")));
  return {
    element,
    mark: (paths) => mark(view, paths),
    reveal: (path) => reveal(view, path),
    opened: () => new Set([...element.querySelectorAll("[aria-expanded=true]")].map(nameOf)),
  };
}

const nameOf = (row) => nameAt(row.entry);
const nameAt = ({ kind, path, start = 0 }) => JSON.stringify([kind, path, start]);

/** Highlight the rows at these paths, also those that are opened later. */
function mark(view, paths) {
  view.marked = new Set(paths.map((path) => nameAt({ kind: "value", path })));
  for (const row of view.element.children) row.classList.toggle("marked", view.marked.has(nameOf(row)));
}

// --- entries: a value, a group of removed items, the marker of a list, or a row that shows more

/** Yield the entries below an entry that at least one side shows. */
function* entriesBelow({ data, sides }, entry) {
  for (const [start, stop, step, kept] of rangesOf(entry)) {
    if (!kept && !sides.includes("before")) continue;
    if (!kept && entry.kind === "value" && stop - start >= GROUP) {
      yield { kind: "group", node: entry.node, path: entry.path, start, stop, step, kept, level: entry.level + 1 };
    } else {
      yield* childrenIn(entry, [start, stop, step, kept]);
    }
  }
  const { marker } = entry.node;
  if (marker && entry.kind === "value" && sides.includes("after")) {
    yield { kind: "marker", node: marker, path: entry.path, step: 0, kept: 1, level: entry.level + 1 };
  }
}

/** Yield all items of an entry as ranges with the same effect. */
function* rangesOf({ kind, node, step, kept, start = 0, stop = node.items.length }) {
  let at = start;
  for (const range of kind === "group" ? [] : (node.ranges ?? [])) {
    if (at < range[0]) yield [at, range[0], step, kept];
    yield range;
    at = range[1];
  }
  if (at < stop) yield [at, stop, step, kept];
}

/** Return the entries of the items in a range. */
function childrenIn({ node, path, level }, [start, stop, step, kept]) {
  return Array.from({ length: stop - start }, (_, offset) => {
    const index = start + offset;
    const key = node.keys?.[index];
    const below = [...path, node.keys ? textOf(key) : index];
    return { kind: "value", node: node.items[index], key, index, path: below, step, kept, level: level + 1 };
  });
}

/** Return the children of a value that a side shows. */
function childrenOn(entry, side) {
  const shown = [...rangesOf(entry)].filter(([, , , kept]) => kept || side === "before");
  return shown.flatMap((range) => childrenIn(entry, range));
}

export const isText = (node) => typeof node === "string" || node?.text !== undefined;
const isContainer = (node) => node?.items !== undefined;
const runsOf = (node) => [node.text ?? node].flat().map((run) => (typeof run === "string" ? { text: run } : run));
export const textOf = (node) => runsOf(node).map((run) => run.text ?? "").join("");

function isExpandable({ kind, node }) {
  if (kind !== "value") return kind === "group";
  if (isContainer(node)) return node.items.length > 0 || node.marker !== undefined;
  return isText(node) && (textOf(node).length > HEAD + 2 * TAIL || textOf(node).includes("\n"));
}

// --- rows

function rowOf(view, entry) {
  const kind = isContainer(entry.node) ? `container ${entry.kind}` : entry.kind;
  const row = make("div", { class: `row ${kind}`, role: "treeitem", "aria-level": entry.level, tabindex: -1 });
  row.entry = entry;
  row.style.setProperty("--level", entry.level - 1);
  if (isExpandable(entry)) row.setAttribute("aria-expanded", "false");
  row.classList.toggle("marked", view.marked.has(nameAt(entry)));
  fill(view, row);
  return row;
}

/** Write the cells of a row, one for each side. */
function fill(view, row) {
  row.replaceChildren(...view.sides.map((side) => cellOf(view, row.entry, { side, open: isOpen(row) })));
}

function cellOf(view, entry, look) {
  const cell = make("div", { class: `cell ${look.side}` });
  if (look.side === "after" ? !entry.kept : entry.kind === "marker") return cell;
  const line = make("div", { class: "line" });
  if (entry.key !== undefined) {
    line.append(appendRuns(view, make("bdi", { class: "key" }), { node: entry.key, kept: 1 }, look), ": ");
  } else if (entry.index !== undefined) {
    line.append(span("index", `${entry.index} `));
  }
  line.append(...contentOf(view, entry, look));
  cell.append(line);
  setEffect(view, cell, entry);
  if (look.side === "before" && !look.open) cell.prepend(...chipsOf(view, entry));
  return cell;
}

/** Return a chip for each step that removed something in a folded row. */
function chipsOf(view, { node, step }) {
  const steps = [...stepsIn(view, node)].filter((number) => number !== step).sort((one, other) => one - other);
  const chips = steps.map((number) => {
    const [label, description] = namesOf(view.data, number);
    return make("span", { class: `chip ${stepClass(number)}`, "data-tip": `Removals by ${description}` }, label);
  });
  return chips.length ? [span("chips", ...chips)] : [];
}

function contentOf(view, entry, look) {
  const { kind, node, start, stop } = entry;
  if (kind === "more") return [span("link", `${count(entry.rest.length)} more`)];
  if (kind === "marker") return [markerOf(node)];
  if (kind === "group") return [`${sizeOf(stop - start, node)}${node.keys ? "" : ` ${start}–${stop - 1}`} removed`];
  if (isContainer(node)) return summaryOf(entry, look);
  if (!isText(node)) return [span("literal", node?.raw ?? String(node))];
  return ['"', appendRuns(view, make("bdi", { class: look.open ? "text open" : "text" }), entry, look), '"'];
}

/** Return the number of items on a side, and a preview if the row is folded. */
function summaryOf(entry, { side, open }) {
  const { keys, marker, opened, unwrapped } = entry.node;
  const children = childrenOn(entry, side);
  const isMarked = side === "after" && marker ? 1 : 0;
  const size = sizeOf(children.length + isMarked, entry.node);
  const parts = [span("size", keys ? `{${size}}` : `[${size}]`)];
  if (opened && !(side === "after" && unwrapped)) parts.push(span("tag", "structured text"));
  if (!open) parts.push(safe(previewOf(children), "bdi", { class: "preview" }));
  return parts;
}

const sizeOf = (number, { keys }) => counted(number, keys ? "key" : "item");

function previewOf(children) {
  if (children.every(({ node }) => node?.keys)) return "";
  let text = "";
  for (const { key, node } of children) {
    if (text.length > PREVIEW) return `${text} …`;
    text += `${text && ", "}${key === undefined ? "" : `${clip(textOf(key))}: `}${shortOf(node)}`;
  }
  return text;
}

function shortOf(node) {
  if (isContainer(node)) return node.keys ? "{…}" : "[…]";
  return isText(node) ? `"${clip(textOf(node))}"` : clip(node?.raw ?? String(node));
}

const clip = (text, most = TAIL) => (text.length > most ? `${text.slice(0, edgeOf(text, most))}…` : text);

// --- texts

/** Append what a side shows of a text. Folded, only the ends of each part with the same effect are shown. */
function appendRuns(view, parent, { node, step, kept }, { side, open }) {
  let left = open ? OPEN : LINE;
  for (const part of partsOf(node, step, kept)) {
    if (part.marker ? side === "before" : side === "after" && !part.kept) continue;
    if (left <= 0) {
      parent.append(span("ellipsis", " …"));
      break;
    }
    const element = part.marker ? markerOf(open ? part.marker : clip(part.marker, 2 * HEAD)) : span("");
    if (part.step !== step || part.kept !== kept) setEffect(view, element, part);
    for (const run of open ? slice(part.runs, 0, left) : endsOf(part.runs)) appendRun(element, run, open);
    parent.append(element);
    left -= open ? lengthOf(part.runs) : HEAD;
  }
  return parent;
}

function markerOf(text) {
  const tip = "Marker: the model reads this in place of what was removed";
  return safe(text, "bdi", { class: "marker", "data-tip": tip });
}

/** Return markers, and the consecutive runs that have the same effect. */
function partsOf(node, step, kept) {
  const parts = [];
  for (const run of runsOf(node)) {
    const part = { step, kept, ...run, runs: run.marker ? [] : [run] };
    const last = parts.at(-1);
    const isSame = last && !last.marker && !run.marker && last.step === part.step && last.kept === part.kept;
    if (isSame) last.runs.push(run);
    else parts.push(part);
  }
  return parts;
}

const lengthOf = (runs) => runs.reduce((sum, { text }) => sum + text.length, 0);

/** Return the first and the last characters of runs, and the size of the gap between them. */
function endsOf(runs) {
  const size = lengthOf(runs);
  if (size <= HEAD + 2 * TAIL) return runs;
  return [...slice(runs, 0, HEAD), { gap: size - HEAD - TAIL }, ...slice(runs, size - TAIL, size)];
}

/** Yield the runs between two positions, without half of a surrogate pair. */
function* slice(runs, start, stop) {
  let at = 0;
  for (const { text, type } of runs) {
    const part = text.slice(edgeOf(text, start - at), edgeOf(text, stop - at));
    if (part) yield { text: part, type };
    at += text.length;
  }
}

function edgeOf(text, at) {
  if (at <= 0) return 0;
  return /[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1)) ? at - 1 : at;
}

function appendRun(parent, { text, type, gap }, open) {
  if (gap) parent.append(span("ellipsis", ` …${count(gap)} more characters… `));
  else if (type) parent.append(appendText(make("span", { class: `entity ${type}`, "data-tip": type }), text, open));
  else appendText(parent, text, open);
}

// --- opening and closing

const isOpen = (row) => row.getAttribute("aria-expanded") === "true";
const isFolded = (row) => row.getAttribute("aria-expanded") === "false";

/** Open rows level by level while they fit. In a return with removals, open the values that contain some. */
function openFirst(view, root) {
  const isChanged = stepsIn(view, view.data.node).size > 0;
  const waiting = [root];
  while (waiting.length && view.element.children.length < FIRST_ROWS) {
    const row = waiting.shift();
    const { kind, node } = row.entry;
    const isWanted = row === root || !isChanged || stepsIn(view, node).size > 0;
    if (kind === "value" && isContainer(node) && isWanted) {
      waiting.push(...expand(view, row, node.keys ? CHUNK : FIRST_ITEMS));
    }
  }
}

/** Open the rows with these names. */
function reopen(view, row, names) {
  if (!isFolded(row) || !names.has(nameOf(row))) return;
  for (const child of expand(view, row)) reopen(view, child, names);
}

/** Open the rows that lead to a value, and return its row, or null if it is not shown. */
function reveal(view, path) {
  let row = view.element.firstElementChild;
  for (let depth = 1; row && depth <= path.length; depth++) {
    if (isFolded(row)) expand(view, row);
    const name = nameAt({ kind: "value", path: path.slice(0, depth) });
    do row = row.nextElementSibling;
    while (row && nameOf(row) !== name);
  }
  return row;
}

/** Open a row, and return the rows of its first children. */
function expand(view, row, most = CHUNK) {
  row.setAttribute("aria-expanded", "true");
  fill(view, row);
  return isText(row.entry.node) ? [] : insert(view, row, [...entriesBelow(view, row.entry)], most);
}

/** Insert the rows of the first entries, and a row that shows more. */
function insert(view, after, entries, most = CHUNK) {
  const [first, rest] = [entries.slice(0, most), entries.slice(most)];
  if (rest.length) first.push({ kind: "more", rest, path: [], kept: 1, level: rest[0].level });
  const rows = first.map((entry) => rowOf(view, entry));
  after.after(...rows);
  return rows;
}

function toggle(view, row) {
  if (isFolded(row)) return void expand(view, row);
  row.setAttribute("aria-expanded", "false");
  while (row.nextSibling?.entry.level > row.entry.level) row.nextSibling.remove();
  fill(view, row);
}

function activate(view, row) {
  if (!row || getSelection().type === "Range") return;
  const { kind, path, node, rest } = row.entry;
  if (kind === "more") {
    insert(view, row, rest)[0].focus();
    row.remove();
  } else if (row.hasAttribute("aria-expanded")) toggle(view, row);
  if (kind === "value") row.dispatchEvent(new CustomEvent("choose", { bubbles: true, detail: { path, node } }));
}

// --- keyboard

/** What a key does to the row that has the focus. A key that moves the focus returns the row to move to. */
const KEYS = {
  ArrowDown: (view, row) => row.nextElementSibling,
  ArrowUp: (view, row) => row.previousElementSibling,
  ArrowRight: (view, row) => (isFolded(row) ? toggle(view, row) : row.nextElementSibling),
  ArrowLeft: (view, row) => (isOpen(row) ? toggle(view, row) : parentOf(row)),
  Home: (view) => view.element.firstElementChild,
  End: (view) => view.element.lastElementChild,
  Enter: activate,
  " ": activate,
};

function onKey(view, event) {
  if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key](view, event.target.closest(".row"))?.focus();
}

function parentOf(row) {
  let other = row.previousElementSibling;
  while (other?.entry.level >= row.entry.level) other = other.previousElementSibling;
  return other;
}

function focusRow(view, row) {
  view.element.querySelector('.row[tabindex="0"]')?.setAttribute("tabindex", -1);
  row.setAttribute("tabindex", 0);
}

// --- tooltip

/** Show the `data-tip` of what is under the pointer, or of all removals in the row that has the focus. */
export function addTooltip() {
  const tip = make("div", { id: "tip", role: "tooltip", hidden: true });
  document.body.append(tip);
  let owner = null;
  const show = (element, described) => {
    owner?.removeAttribute("aria-describedby");
    owner = described.length ? element : null;
    tip.hidden = owner === null;
    if (!owner) return;
    const tips = new Set(described.map((each) => each.dataset.tip));
    tip.replaceChildren(...[...tips].map((text) => make("div", {}, text)));
    owner.setAttribute("aria-describedby", "tip");
    place(tip, owner);
  };
  const hide = () => show(null, []);
  document.addEventListener("pointerover", ({ target }) => show(target.closest("[data-tip]"), describedAround(target)));
  document.addEventListener("focusin", ({ target }) => {
    show(target, target.matches(".row") ? [...target.querySelectorAll("[data-step]")] : []);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  addEventListener("scroll", () => owner && place(tip, owner), { capture: true, passive: true });
}

function describedAround(element) {
  const nearest = element?.closest("[data-tip]");
  return nearest ? [nearest, ...describedAround(nearest.parentElement)] : [];
}

function place(tip, element) {
  const { left, top, bottom } = element.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const below = bottom + height + 6 < innerHeight ? bottom + 6 : top - height - 6;
  tip.style.left = `${Math.max(8, Math.min(left + 24, innerWidth - width - 8))}px`;
  tip.style.top = `${Math.max(8, below)}px`;
}
