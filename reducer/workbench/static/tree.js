// The tree of a tool return, as `reducer/analysis/tree.py` describes it, with one column for each side.

const CHUNK = 100; // rows that are added at once
const GROUP = 4; // consecutive removed items from which they are folded into one row
const FIRST_ROWS = 36; // rows that are open at first
const FIRST_ITEMS = 8; // items of a list that are open at first
const PREVIEW = 90; // characters of the preview of a folded value
const [WORD, PART, LINE, OPEN] = [30, 120, 600, 1_000_000]; // characters of keys, of parts of texts, and of texts
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

/** Return a share from 0 to 1, or null, as a percentage. */
export const percent = (share) => (share === null ? "–" : `${(share * 100).toFixed(1)}%`);

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

/** Return the beginning of a text, without half of a surrogate pair. */
function clip(text, most) {
  return text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, "") : text;
}

// --- steps

/** Return the class that colours a step. */
export const stepClass = (number) => (number ? `step step-${((number - 1) % COLOURS) + 1}` : "step");

/** Return the name of a rule file, without its folder, and the line of a step. */
export const placeOf = (file, line) => `${(file ?? "").split(/[/\\]/).pop()}${line ? `:${line}` : ""}`;

/** Return the short name of a step of a tree, and its description: number, action and path, file and line. */
export function namesOf({ steps, file }, number) {
  const { name, line } = steps.find((each) => each.number === number);
  const place = `${name} (${placeOf(file, line)})`;
  return line ? [String(number), `step ${number}, ${place}`] : ["max", place];
}

/** Colour an element by the step that removed it, and describe the step. */
function setEffect(data, element, { step, kept }) {
  if (!step) return;
  const [label, description] = namesOf(data, step);
  element.className += ` ${stepClass(step)} ${kept ? "restored" : "removed"}`;
  element.dataset.step = label;
  element.title += `${element.title && "\n"}${kept ? "Restored; removed" : "Removed"} by ${description}`;
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
 * Create the view of a tree. `sides` are "before", "after" or both. Clicking a value dispatches the event `choose` with
 * its path. The result contains the `element` and
 *
 * - `mark(paths)`: highlights the values at these paths
 * - `reveal(path)`: opens the rows that lead to a value, and scrolls to it
 * - `opened()`: returns the names of the open rows, which the option `opened` opens again
 */
export function createTree(data, { sides = ["before", "after"], label = "Tool return", opened } = {}) {
  const element = make("div", { class: `tree sides-${sides.length}`, role: "group", "aria-label": label });
  const view = { data, sides, element, opened, boxes: new Map(), steps: new WeakMap(), marked: new Set() };
  addRows(view, element, [{ node: data.node, path: [], step: 0, kept: 1, level: 0 }]);
  element.querySelector(".row").tabIndex = 0;
  if (!opened) openFirst(view, element.firstChild);
  element.addEventListener("click", (event) => onClick(view, event));
  element.addEventListener("keydown", (event) => onKey(view, event));
  element.addEventListener("focusin", ({ target }) => {
    element.querySelector("[tabindex='0']").tabIndex = -1;
    target.tabIndex = 0;
  });
  return {
    element,
    mark: (paths) => mark(view, paths),
    reveal: (path) => reveal(view, path),
    opened: () => new Set([...view.boxes].filter(([, box]) => box.open).map(([name]) => name)),
  };
}

/** Highlight the rows at these paths, also those that are added later. */
function mark(view, paths) {
  view.marked = new Set(paths.map((path) => nameOf({ path })));
  for (const [name, { row }] of view.boxes) row.classList.toggle("marked", view.marked.has(name));
}

function reveal(view, path) {
  for (const depth of path.keys()) open(view, boxAt(view, path.slice(0, depth)));
  boxAt(view, path)?.row.scrollIntoView({ block: "nearest" });
}

/** Return the box of a value whose parent is open, and open the folds that contain it. */
function boxAt(view, path) {
  const name = nameOf({ path });
  while (!view.boxes.has(name)) {
    const holds = (box) => box.entry.entries?.some((entry) => nameOf(entry) === name || holds({ entry }));
    const fold = [...view.boxes.values()].find((box) => !box.open && holds(box));
    if (!fold) return undefined;
    const at = fold.entry.entries.findIndex((entry) => nameOf(entry) === name || holds({ entry }));
    open(view, fold, CHUNK, at < CHUNK ? 0 : at);
  }
  return view.boxes.get(name);
}

// --- entries: a value at a path, the marker of a list, or a fold with the `entries` and the `label` of several rows

const nameOf = ({ path, label = "" }) => JSON.stringify(path) + label;

/** Return the entries below a value that at least one side shows. */
function entriesBelow({ sides }, entry) {
  const { node, path, level } = entry;
  const entries = [...rangesOf(entry)].flatMap(([start, stop, step, kept]) => {
    const items = kept || sides.includes("before") ? [...itemsIn(entry, [start, stop, step, kept])] : [];
    if (kept || items.length < GROUP) return items;
    const label = `${sizeOf(items.length, node)}${node.keys ? "" : ` ${start}–${stop - 1}`} removed`;
    const folded = items.map((item) => ({ ...item, level: level + 2 }));
    return [{ entries: folded, label, path, step, kept, level: level + 1 }];
  });
  const { marker } = sides.includes("after") ? node : {};
  return marker ? [...entries, { marker, label: "marker", path, step: 0, kept: 1, level: level + 1 }] : entries;
}

/** Yield all items of a value as ranges with the same effect. */
function* rangesOf({ node: { items, ranges = [] }, step, kept }) {
  let at = 0;
  for (const range of ranges) {
    if (at < range[0]) yield [at, range[0], step, kept];
    yield range;
    at = range[1];
  }
  if (at < items.length) yield [at, items.length, step, kept];
}

/** Yield the entries of the items in a range. */
function* itemsIn({ node: { keys, items }, path, level }, [start, stop, step, kept]) {
  for (let index = start; index < stop; index++) {
    const below = [...path, keys ? textOf(keys[index]) : index];
    yield { node: items[index], key: keys?.[index], index, path: below, step, kept, level: level + 1 };
  }
}

export const textOf = (node) => runsOf(node).map((run) => run.text ?? "").join("");
const runsOf = (node) => [node.text ?? node].flat().map((run) => (typeof run === "string" ? { text: run } : run));
const isText = (node) => typeof node === "string" || node?.text !== undefined;
const isContainer = (node) => node?.items !== undefined;

function isExpandable({ node, entries }) {
  if (isContainer(node)) return node.items.length > 0 || node.marker !== undefined;
  return entries !== undefined || (isText(node) && (textOf(node).length > PART || textOf(node).includes("\n")));
}

// --- rows

/** Add the rows of some entries, and rows that show those before and after them, and return their elements. */
function addRows(view, parent, entries, most = CHUNK, from = 0) {
  const [before, rest] = [entries.slice(0, from), entries.slice(from + most)];
  const shown = [...foldOf(before), ...entries.slice(from, from + most), ...foldOf(rest)];
  const boxes = shown.map((entry) => boxOf(view, entry));
  parent.append(...boxes);
  return boxes;
}

/** Return an entry for several ones, which shows how many they are, or nothing for none. */
function foldOf(entries) {
  if (!entries.length) return [];
  const { path, level } = entries[0];
  return [{ entries, label: `${count(entries.length)} more`, path, step: 0, kept: 1, level }];
}

/** Create the row of an entry, in a `<details>` if it can be opened. */
function boxOf(view, entry) {
  const isFolded = isExpandable(entry);
  const row = make(isFolded ? "summary" : "div", { class: "row", tabindex: -1 });
  const box = Object.assign(isFolded ? make("details", {}, row) : row, { entry, row });
  row.classList.toggle("marked", view.marked.has(nameOf(entry)));
  row.style.setProperty("--level", entry.level);
  view.boxes.set(nameOf(entry), box);
  fill(view, box);
  if (view.opened?.has(nameOf(entry))) open(view, box);
  return box;
}

/** Write the cells of a row, one for each side. */
function fill(view, { row, entry, open }) {
  row.replaceChildren(...view.sides.map((side) => cellOf(view, entry, { side, open })));
}

function cellOf(view, entry, look) {
  const cell = make("div", { class: `cell ${look.side}` });
  if (look.side === "after" ? !entry.kept : entry.marker) return cell;
  const line = make("div", { class: entry.entries ? "line fold" : "line" });
  if (entry.key !== undefined) {
    line.append(appendRuns(view, make("bdi", { class: "key" }), { node: entry.key, kept: 1 }, look), ": ");
  } else if (entry.index !== undefined) {
    line.append(span("index", `${entry.index} `));
  }
  line.append(...contentOf(view, entry, look));
  if (look.side === "before") cell.append(...chipsOf(view, entry));
  cell.append(line);
  setEffect(view.data, cell, entry);
  return cell;
}

/** Return a chip for each step that removed something in a value. */
function chipsOf(view, { node, step }) {
  const steps = [...stepsIn(view, node)].filter((number) => number !== step).sort((one, other) => one - other);
  const chips = steps.map((number) => {
    const [label, description] = namesOf(view.data, number);
    return make("span", { class: `chip ${stepClass(number)}`, title: `Removals by ${description}` }, label);
  });
  return chips.length ? [span("chips", ...chips)] : [];
}

function contentOf(view, entry, look) {
  const { node, entries, label, marker } = entry;
  if (marker) return [markerOf(marker)];
  if (entries) return [label];
  if (isContainer(node)) return summaryOf(entry, look.side);
  if (!isText(node)) return [span("literal", node?.raw ?? String(node))];
  const size = look.side === "before" && !look.open ? textOf(node).length : 0;
  const text = appendRuns(view, make("bdi", { class: look.open ? "text open" : "text" }), entry, look);
  return ['"', text, '"', ...(size > PART ? [span("size", ` ${counted(size, "character")}`)] : [])];
}

/** Return the number of items on a side, and a preview that is shown while the row is folded. */
function summaryOf(entry, side) {
  const { keys, items, left, opened, unwrapped } = entry.node;
  const ranges = [...rangesOf(entry)].filter(([, , , kept]) => kept || side === "before");
  const size = sizeOf(side === "before" ? items.length : left ?? items.length, entry.node);
  const parts = [span("size", keys ? `{${size}}` : `[${size}]`)];
  if (opened && !(side === "after" && unwrapped)) parts.push(span("tag", "structured text"));
  return [...parts, safe(previewOf(entry, ranges), "bdi", { class: "preview" })];
}

const sizeOf = (number, { keys }) => counted(number, keys ? "key" : "item");

function previewOf(entry, ranges) {
  let text = "";
  for (const range of ranges) {
    for (const { key, node } of itemsIn(entry, range)) {
      if (text.length > PREVIEW) return `${text} …`;
      if (key === undefined && node?.keys) continue;
      text += `${text && ", "}${key === undefined ? "" : `${clip(textOf(key), WORD)}: `}${shortOf(node)}`;
    }
  }
  return text;
}

function shortOf(node) {
  if (isContainer(node)) return node.keys ? "{…}" : "[…]";
  return isText(node) ? `"${clip(textOf(node), WORD)}"` : clip(node?.raw ?? String(node), WORD);
}

/** Append what a side shows of a text. Folded, it is the beginning of each part with the same effect. */
function appendRuns(view, parent, { node, step, kept }, { side, open }) {
  let [line, part, last] = [open ? OPEN : LINE, 0, null];
  for (const run of runsOf(node)) {
    const one = { step, kept, ...run };
    if (run.marker ? side === "before" : side === "after" && !one.kept) continue;
    if (line <= 0) {
      parent.append(span("ellipsis", " …"));
      break;
    }
    const effect = `${run.marker} ${one.step} ${one.kept}`;
    if (effect !== last) part = open ? OPEN : PART;
    else if (part <= 0) continue;
    last = effect;
    const text = clip(run.marker ?? run.text, Math.min(part, line));
    const element = run.marker ? markerOf(text) : appendText(span(run.type ? `entity ${run.type}` : ""), text, open);
    if (run.type) element.title = run.type;
    if (run.step !== undefined) setEffect(view.data, element, one);
    parent.append(element, text.length < (run.marker ?? run.text).length ? span("ellipsis", "…") : "");
    part -= text.length;
    line -= text.length;
  }
  return parent;
}

function markerOf(text) {
  return safe(text, "bdi", { class: "marker", title: "Marker: the model reads this in place of what was removed" });
}

// --- opening and closing

/** Open rows level by level while they fit. In a return with removals, open the values that contain some. */
function openFirst(view, root) {
  const isChanged = stepsIn(view, view.data.node).size > 0;
  const waiting = [root];
  for (const box of waiting) {
    const { node } = box.entry;
    const isWanted = isContainer(node) && (!isChanged || stepsIn(view, node).size > 0);
    if (isWanted && view.boxes.size < FIRST_ROWS) waiting.push(...open(view, box, node.keys ? CHUNK : FIRST_ITEMS));
  }
}

/** Open a row, and return the elements that were added below it. */
function open(view, box, most, from) {
  if (box?.localName !== "details") return [];
  box.open = true;
  return show(view, box, most, from);
}

/** Show what a row that was opened or closed contains. */
function show(view, box, most, from) {
  const { node, entries } = box.entry;
  if (isText(node)) fill(view, box);
  else if (box.children.length === 1) return addRows(view, box, entries ?? entriesBelow(view, box.entry), most, from);
  return [];
}

function toggle(view, box) {
  box.open = !box.open;
  show(view, box);
}

function onClick(view, event) {
  const row = event.target.closest(".row");
  event.preventDefault(); // rows are opened here, because the event `toggle` comes later
  if (!row || getSelection().type === "Range") return;
  const box = boxAround(row);
  if (box !== row) toggle(view, box);
  if (box.entry.node !== undefined) {
    row.dispatchEvent(new CustomEvent("choose", { bubbles: true, detail: box.entry.path }));
  }
}

/** Return the element of a row: its `<details>`, or the row itself. */
const boxAround = (row) => (row.localName === "summary" ? row.parentElement : row);

function onKey(view, event) {
  const { key, target: row } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const box = boxAround(row);
  const rows = [...view.element.querySelectorAll(".row")].filter((each) => each.checkVisibility());
  const at = rows.indexOf(row);
  const around = box.parentElement.closest("details")?.firstChild;
  const [first, last, before, after] = [rows[0], rows.at(-1), rows[at - 1], rows[at + 1]];
  const next = { Home: first, End: last, ArrowUp: before, ArrowDown: after, ArrowLeft: around, ArrowRight: after };
  if ({ ArrowLeft: true, ArrowRight: false }[key] === box.open && box !== row) toggle(view, box);
  else if (key === "Enter" || key === " ") row.click();
  else if (key in next) next[key]?.focus();
  else return;
  event.preventDefault();
}
