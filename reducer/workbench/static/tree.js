// The tree of a tool return, as `reducer/analysis/tree.py` describes it, in one column for each side.

const CHUNK = 100; // children that are shown at once
const GROUP = 4; // consecutive removed items from which they are folded into one row
const FIRST_ROWS = 36; // rows that are open at first
const FIRST_ITEMS = 8; // children of a value that is open at first
const PREVIEW = 90;
const LINE = 360; // characters of a folded text
const [HEAD, TAIL] = [90, 30]; // characters of each part of a folded text
const PAGE = 20_000; // characters of an open text
const COLOURS = 8;
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Surrogate}]|[\t\n]/gu;
const FAMILIES = {
  address: ["ipv4", "ipv6", "domain", "url", "email"],
  hash: ["md5", "sha1", "sha256", "sha512"],
  weakness: ["cve", "mitre_attack"],
  name: ["threat_actor", "malware", "tool"],
};
const FAMILY = new Map(Object.entries(FAMILIES).flatMap(([family, types]) => types.map((type) => [type, family])));

/** Create an element with attributes, and with elements and texts as children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Append untrusted text. Control characters and direction marks are visible, and line breaks stay if it is `open`. */
export function appendText(parent, text, open = false) {
  let end = 0;
  for (const { 0: found, index } of text.matchAll(UNSAFE)) {
    if (open && (found === "\n" || found === "\t")) continue;
    const shown = { "\n": "↵", "\t": "⇥" }[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
    parent.append(text.slice(end, index), make("span", { class: "control" }, shown));
    end = index + found.length;
  }
  parent.append(text.slice(end));
  return parent;
}

/** Return the class that colours a step. */
export function stepClass(number) {
  return number ? `step step-${((number - 1) % COLOURS) + 1}` : "step";
}

/** Return the last part of the name of a file. */
export function baseName(file) {
  return file.split(/[/\\]/).pop();
}

/** Return the short name of a step: its number, or "max" for `max_chars`. */
export function labelOf(data, number) {
  const step = data.steps.find((each) => each.number === number);
  return step && !step.line ? "max" : String(number);
}

/** Describe a step of a tree: its number, its action and place, its file and line. */
export function stepText(data, number) {
  const step = data.steps.find((each) => each.number === number);
  if (!step) return "an earlier pass";
  const file = data.file ? ` (${baseName(data.file)}${step.line ? `:${step.line}` : ""})` : "";
  return `${step.line ? `step ${number}, ` : ""}${step.name}${file}`;
}

/**
 * Create the view of a tree: `{element, mark}`. `sides` are "before", "after" or both.
 *
 * Activating a row dispatches the event `choose` with `{path, node}`. `mark(paths)` highlights the values at these paths,
 * and `reveal(path)` opens the rows that lead to a value and returns its row. `opened()` returns the names of the open
 * rows; the option `opened` opens these rows instead of the first ones.
 */
export function createTree(data, { sides = ["before", "after"], label = "Tool return", opened } = {}) {
  const element = make("div", { class: `tree sides-${sides.length}`, role: "tree", "aria-label": label });
  const view = { data, sides, element, entries: new WeakMap(), steps: new WeakMap(), marked: new Set() };
  const root = rowOf(view, { kind: "value", node: data.node, path: [], step: 0, kept: 1, level: 1 });
  root.tabIndex = 0;
  element.append(root);
  if (opened) reopen(view, root, opened);
  else openFirst(view, root);
  element.addEventListener("click", (event) => activate(view, event.target.closest(".row")));
  element.addEventListener("keydown", (event) => onKey(view, event));
  element.addEventListener("focusin", (event) => focusRow(view, event.target.closest(".row")));
  return {
    element,
    mark: (paths) => mark(view, paths),
    reveal: (path) => reveal(view, path),
    opened: () => new Set([...element.querySelectorAll("[aria-expanded=true]")].map((row) => nameOf(view.entries.get(row)))),
  };
}

/** Highlight the rows at these paths, also those that are opened later. */
function mark(view, paths) {
  view.marked = new Set(paths.map((path) => JSON.stringify(path)));
  for (const row of view.element.children) setMarked(view, row);
}

function setMarked(view, row) {
  const { kind, path } = view.entries.get(row);
  row.classList.toggle("marked", kind === "value" && view.marked.has(JSON.stringify(path)));
}

// --- entries: a value, a group of removed items, the marker of a list, or a row that shows more

/** Yield the entries below an entry that at least one side shows. */
function* entriesBelow(entry, sides) {
  const { node } = entry;
  for (const [start, stop, step, kept] of rangesOf(entry)) {
    if (!kept && !sides.includes("before")) continue;
    if (!kept && entry.kind === "value" && stop - start >= GROUP) {
      yield { ...entry, kind: "group", key: undefined, index: undefined, start, stop, step, kept, level: entry.level + 1 };
    } else {
      for (let at = start; at < stop; at++) yield childOf(entry, at, step, kept);
    }
  }
  if (node.marker && entry.kind === "value" && sides.includes("after")) {
    yield { kind: "marker", node: node.marker, path: entry.path, step: 0, kept: 1, level: entry.level + 1 };
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

function childOf({ node, path, level }, at, step, kept) {
  const key = node.keys ? textOf(node.keys[at]) : at;
  const shown = node.keys ? node.keys[at] : undefined;
  return { kind: "value", node: node.items[at], key: shown, index: at, path: [...path, key], step, kept, level: level + 1 };
}

/** Return the original text of a text node. */
function textOf(node) {
  return isText(node) ? runsOf(node).map((run) => run.text ?? "").join("") : "";
}

function runsOf(node) {
  const runs = typeof node === "string" ? [node] : node.text;
  return runs.map((run) => (typeof run === "string" ? { text: run } : run));
}

const isText = (node) => typeof node === "string" || node?.text !== undefined;
const isContainer = (node) => node?.items !== undefined;

function isExpandable({ kind, node }) {
  if (kind === "group") return true;
  if (kind !== "value") return false;
  if (isContainer(node)) return node.items.length > 0 || node.marker !== undefined;
  return isText(node) && (textOf(node).length > HEAD + 2 * TAIL || textOf(node).includes("\n"));
}

// --- rows

function rowOf(view, entry) {
  const row = make("div", { class: `row ${isContainer(entry.node) ? "container " : ""}${entry.kind}`, role: "treeitem", "aria-level": entry.level, tabindex: -1 });
  view.entries.set(row, entry);
  row.style.setProperty("--level", entry.level - 1);
  if (isExpandable(entry)) row.setAttribute("aria-expanded", "false");
  fill(view, row);
  setMarked(view, row);
  return row;
}

/** Write the cells of a row, one for each side. */
function fill(view, row) {
  const entry = view.entries.get(row);
  row.replaceChildren(...view.sides.map((side) => cellOf(view, entry, side, row.getAttribute("aria-expanded") === "true")));
}

function cellOf(view, entry, side, open) {
  const cell = make("div", { class: `cell ${side}` });
  if (side === "after" ? !entry.kept : entry.kind === "marker") return cell;
  const line = make("div", { class: "line" });
  if (entry.key !== undefined) line.append(keyOf(view, entry, side), ": ");
  else if (entry.index !== undefined) line.append(make("span", { class: "index" }, `${entry.index} `));
  line.append(...contentOf(view, entry, side, open));
  cell.append(line);
  setEffect(view, cell, entry);
  if (side === "before" && !open) cell.append(...chipsOf(view, entry));
  return cell;
}

/** Colour an element by the step that removed it, and describe the step. */
function setEffect(view, element, { step, kept }) {
  if (!step) return;
  element.className += ` ${stepClass(step)} ${kept ? "restored" : "removed"}`;
  element.dataset.step = labelOf(view.data, step);
  element.dataset.tip = `${kept ? "Restored; removed" : "Removed"} by ${stepText(view.data, step)}`;
}

/** Return a chip for each step that removed something in a folded row. */
function chipsOf(view, { node, step }) {
  const steps = [...stepsIn(view, node)].filter((number) => number && number !== step).sort((one, other) => one - other);
  const chip = (number) => make("span", { class: `chip ${stepClass(number)}`, "data-tip": `Removals by ${stepText(view.data, number)}` }, labelOf(view.data, number));
  return steps.length ? [make("span", { class: "chips" }, ...steps.map(chip))] : [];
}

/** Return the numbers of the steps that removed something in a node. */
function stepsIn(view, node) {
  if (typeof node !== "object" || node === null) return new Set();
  let found = view.steps.get(node);
  if (!found) {
    const own = [...(node.ranges ?? []).map((range) => range[2]), ...(Array.isArray(node.text) ? node.text : []).map((run) => run.step)];
    found = new Set([...own, ...(node.items ?? []).flatMap((item) => [...stepsIn(view, item)])].filter(Boolean));
    view.steps.set(node, found);
  }
  return found;
}

function keyOf(view, { key }, side) {
  return appendRuns(view, make("bdi", { class: "key" }), key, { side, open: false, step: 0, kept: 1 });
}

function contentOf(view, entry, side, open) {
  const { kind, node } = entry;
  if (kind === "more") return [make("span", { class: "link" }, "Show more")];
  if (kind === "marker") return [markerOf(node)];
  if (kind === "group") return [groupText(entry)];
  if (isContainer(node)) return summaryOf(entry, side, open);
  if (isText(node)) {
    const text = make("bdi", { class: open ? "text open" : "text" });
    return ['"', appendRuns(view, text, node, { side, open, ...entry }), '"'];
  }
  return [make("span", { class: "literal" }, node?.raw ?? String(node))];
}

function markerOf(text) {
  return appendText(make("bdi", { class: "marker", "data-tip": "Marker: the model reads this in place of what was removed" }), text);
}

function groupText({ node, start, stop }) {
  const noun = node.keys ? "keys" : "items";
  const which = node.keys ? "" : ` ${start}–${stop - 1}`;
  return `${(stop - start).toLocaleString("en")} ${noun}${which} removed`;
}

/** Return the number of items on a side, and a preview if the row is folded. */
function summaryOf(entry, side, open) {
  const { node } = entry;
  const children = [...childrenOn(entry, side)];
  const extra = side === "after" && node.marker ? 1 : 0;
  const size = `${(children.length + extra).toLocaleString("en")} ${node.keys ? "key" : "item"}${children.length + extra === 1 ? "" : "s"}`;
  const brackets = node.keys ? "{}" : "[]";
  const parts = [make("span", { class: "size" }, `${brackets[0]}${size}${brackets[1]}`)];
  if (node.opened && !(side === "after" && node.unwrapped)) parts.push(make("span", { class: "tag" }, "structured text"));
  if (!open) parts.push(appendText(make("bdi", { class: "preview" }), previewOf(children)));
  return parts;
}

function* childrenOn(entry, side) {
  for (const [start, stop, step, kept] of rangesOf(entry)) {
    if (side === "after" && !kept) continue;
    for (let at = start; at < stop; at++) yield childOf(entry, at, step, kept);
  }
}

function previewOf(children) {
  const first = children[0]?.node;
  if (first?.keys && children.every(({ node }) => node?.keys)) return "";
  let text = "";
  for (const { key, node } of children) {
    if (text.length > PREVIEW) return `${text} …`;
    const name = key === undefined ? "" : `${clip(textOf(key), 24)}: `;
    text += `${text ? ", " : ""}${name}${shortOf(node)}`;
  }
  return text;
}

function shortOf(node) {
  if (isContainer(node)) return node.items.length ? (node.keys ? "{…}" : "[…]") : node.keys ? "{}" : "[]";
  return isText(node) ? `"${clip(textOf(node), 32)}"` : clip(node?.raw ?? String(node), 32);
}

// --- texts

/** Append what a side shows of a text. Folded, only the ends of each part with the same effect are shown. */
function appendRuns(view, parent, node, { side, open, step, kept, room = PAGE }) {
  let left = open ? room : LINE;
  for (const part of partsOf(node, { step, kept })) {
    if (part.marker ? side === "before" : side === "after" && !part.kept) continue;
    if (left <= 0) return ellipsis(parent, " …");
    if (part.marker) {
      parent.append(markerOf(part.marker));
      continue;
    }
    const element = make("span");
    if (part.step !== step || part.kept !== kept) setEffect(view, element, part);
    for (const run of open ? slice(part.runs, 0, left) : endsOf(part.runs)) appendRun(element, run, open);
    parent.append(element);
    left -= open ? lengthOf(part.runs) : HEAD;
  }
  return parent;
}

/** Return markers, and the consecutive runs that have the same effect. */
function partsOf(node, { step, kept }) {
  const parts = [];
  for (const run of runsOf(node)) {
    const part = { step: run.step ?? step, kept: run.kept ?? kept, marker: run.marker, runs: [run] };
    const last = parts.at(-1);
    if (last && !last.marker && !run.marker && last.step === part.step && last.kept === part.kept) last.runs.push(run);
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
  if (gap) ellipsis(parent, ` …${gap.toLocaleString("en")} more characters… `);
  else if (type) parent.append(appendText(make("span", { class: `entity ${FAMILY.get(type) ?? ""}`, "data-tip": type }), text, open));
  else appendText(parent, text, open);
}

function ellipsis(parent, text) {
  parent.append(make("span", { class: "ellipsis" }, text));
  return parent;
}

const clip = (text, length) => (text.length > length ? `${text.slice(0, edgeOf(text, length))}…` : text);

// --- opening and closing

/** Open rows level by level while they fit. In a return with removals, open the values that contain some. */
function openFirst(view, root) {
  const isChanged = stepsIn(view, view.data.node).size > 0;
  const waiting = [root];
  while (waiting.length && view.element.children.length < FIRST_ROWS) {
    const row = waiting.shift();
    const { kind, node } = view.entries.get(row);
    const isWanted = row === root || !isChanged || stepsIn(view, node).size > 0;
    if (kind === "value" && isContainer(node) && isWanted) waiting.push(...expand(view, row, node.keys ? CHUNK : FIRST_ITEMS));
  }
}

const nameOf = ({ kind, path, start = 0 }) => JSON.stringify([kind, path, start]);

/** Open the rows with these names. */
function reopen(view, row, names) {
  if (!row.hasAttribute("aria-expanded") || !names.has(nameOf(view.entries.get(row)))) return;
  for (const child of expand(view, row)) reopen(view, child, names);
}

/** Open the rows that lead to a value, and return its row, or null if it is not shown. */
function reveal(view, path) {
  let row = view.element.firstElementChild;
  for (let depth = 1; row && depth <= path.length; depth++) {
    if (row.getAttribute("aria-expanded") === "false") expand(view, row);
    const name = nameOf({ kind: "value", path: path.slice(0, depth) });
    do row = row.nextElementSibling;
    while (row && nameOf(view.entries.get(row)) !== name);
  }
  return row;
}

/** Open a row, and return the rows of its first children. */
function expand(view, row, most = CHUNK) {
  row.setAttribute("aria-expanded", "true");
  fill(view, row);
  const entry = view.entries.get(row);
  if (!isText(entry.node)) return insert(view, row, entriesBelow(entry, view.sides), entry.level + 1, most);
  const isLong = textOf(entry.node).length > (entry.room ?? PAGE);
  if (isLong) row.after(rowOf(view, { kind: "more", text: row, path: [], step: 0, kept: 1, level: entry.level + 1 }));
  return [];
}

function insert(view, after, entries, level, most = CHUNK) {
  const rows = [];
  let next = entries.next();
  for (; !next.done && rows.length < most; next = entries.next()) rows.push(rowOf(view, next.value));
  if (!next.done) {
    const rest = (function* () {
      yield next.value;
      yield* entries;
    })();
    rows.push(rowOf(view, { kind: "more", rest, path: [], step: 0, kept: 1, level }));
  }
  after.after(...rows);
  return rows;
}

function collapse(view, row) {
  row.setAttribute("aria-expanded", "false");
  const { level } = view.entries.get(row);
  while (row.nextSibling && view.entries.get(row.nextSibling).level > level) row.nextSibling.remove();
  fill(view, row);
}

function toggle(view, row) {
  if (row.getAttribute("aria-expanded") === "true") collapse(view, row);
  else if (row.hasAttribute("aria-expanded")) expand(view, row);
}

function activate(view, row) {
  if (!row || getSelection()?.type === "Range") return;
  const { kind, path, node } = view.entries.get(row);
  if (kind === "more") {
    showMore(view, row);
    return;
  }
  toggle(view, row);
  if (kind === "value") row.dispatchEvent(new CustomEvent("choose", { bubbles: true, detail: { path, node } }));
}

/** Show the next children of a value, or more of a long text. */
function showMore(view, row) {
  const { rest, text, level } = view.entries.get(row);
  if (text) {
    const entry = view.entries.get(text);
    entry.room = (entry.room ?? PAGE) * 4;
    expand(view, text);
    text.focus();
  } else {
    insert(view, row, rest, level)[0]?.focus();
  }
  row.remove();
}

// --- keyboard

function onKey(view, event) {
  const row = event.target.closest(".row");
  const move = KEYS[event.key];
  if (!row || !move || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  move(view, row)?.focus();
}

const KEYS = {
  ArrowDown: (view, row) => row.nextElementSibling,
  ArrowUp: (view, row) => row.previousElementSibling,
  Home: (view) => view.element.firstElementChild,
  End: (view) => view.element.lastElementChild,
  Enter: (view, row) => activate(view, row),
  " ": (view, row) => activate(view, row),
  ArrowRight(view, row) {
    if (row.getAttribute("aria-expanded") !== "false") return row.nextElementSibling;
    expand(view, row);
  },
  ArrowLeft(view, row) {
    if (row.getAttribute("aria-expanded") === "true") return collapse(view, row);
    return parentOf(view, row);
  },
};

function parentOf(view, row) {
  const { level } = view.entries.get(row);
  let other = row.previousElementSibling;
  while (other && view.entries.get(other).level >= level) other = other.previousElementSibling;
  return other;
}

function focusRow(view, row) {
  view.element.querySelector('.row[tabindex="0"]')?.setAttribute("tabindex", -1);
  row?.setAttribute("tabindex", 0);
}

// --- tooltip

/** Show the `data-tip` of what is under the pointer, or of everything in the row that has the focus. */
export function addTooltip(root = document) {
  const tip = make("div", { id: "tip", role: "tooltip", hidden: true });
  document.body.append(tip);
  const hide = () => {
    tip.hidden = true;
    root.querySelector("[aria-describedby=tip]")?.removeAttribute("aria-describedby");
  };
  const show = (element, texts) => {
    hide();
    if (!texts.size) return;
    tip.replaceChildren(...[...texts].map((text) => make("div", {}, text)));
    tip.hidden = false;
    place(tip, element.getBoundingClientRect());
    element.setAttribute("aria-describedby", "tip");
  };
  root.addEventListener("pointerover", ({ target }) => {
    const element = target.closest?.("[data-tip]");
    if (element) show(element, new Set([element.dataset.tip, outerTip(element)].filter(Boolean)));
    else hide();
  });
  root.addEventListener("focusin", ({ target }) => {
    const inside = target.matches("[data-tip]") ? [target] : target.closest(".row")?.querySelectorAll("[data-step][data-tip]");
    show(target, new Set([...(inside ?? [])].map((each) => each.dataset.tip)));
  });
  root.addEventListener("focusout", hide);
  root.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", hide, { capture: true, passive: true });
}

const outerTip = (element) => element.parentElement?.closest("[data-tip]")?.dataset.tip;

function place(tip, { left, top, bottom }) {
  const { width, height } = tip.getBoundingClientRect();
  const below = bottom + 6 + height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  tip.style.top = `${below ? bottom + 6 : Math.max(8, top - height - 6)}px`;
}
