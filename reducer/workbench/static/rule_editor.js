// The editor of the rule, which completes keys from the schema, and paths and keys from the current return.

import {
  acceptCompletion, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap,
  completionStatus, Decoration, defaultKeymap, drawSelection,
  EditorState, EditorView, HighlightStyle, highlightActiveLine, highlightSpecialChars, history, historyKeymap,
  indentOnInput, keymap, lineNumbers, lintGutter, lintKeymap, moveCompletionSelection, placeholder, setDiagnostics,
  StateEffect, StateField, syntaxHighlighting, tags, yaml, yamlLanguage,
} from "./codemirror.js";
import { appendText, make, textOf } from "./tree.js";

const MAX_VALUES = 5000; // values whose paths are completed
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--quiet)" },
]);

/**
 * Create the editor. `changed()` is called after each edit, and `moved()` when the cursor moves. `schema()` returns a
 * promise of the JSON Schema of rule files, and `root()` the node of the current return.
 */
export function createEditor(parent, nonce, { changed, moved, schema, root }) {
  const extensions = [
    lineNumbers(), lintGutter(), highlightSpecialChars(), highlightActiveLine(), history(), drawSelection(),
    EditorView.lineWrapping, indentOnInput(), bracketMatching(), closeBrackets(), yaml(), syntaxHighlighting(COLOURS),
    // Enter ends the line unless an arrow chose a completion; Tab takes the first one.
    autocompletion({ selectOnOpen: false, override: [async (context) => complete(context, await schema(), root())] }),
    keymap.of([{ key: "Tab", run: takeCompletion }]),
    keymap.of([closeBracketsKeymap, defaultKeymap, historyKeymap, completionKeymap, lintKeymap].flat()),
    off,
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ "aria-label": "Rule (YAML)", tabindex: "0", spellcheck: "false" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed();
      else if (update.selectionSet) moved();
    }),
  ];
  const view = new EditorView({ parent, extensions });
  return {
    text: () => view.state.sliceDoc(),
    line: () => view.state.doc.lineAt(view.state.selection.main.head).number,
    off: () => linesOff(view.state),
    switchOff: (line) => view.dispatch({ effects: switched.of(view.state.doc.line(line).from) }),
    close() {
      const none = [EditorState.readOnly.of(true), placeholder("Choose a rule, or a tool to draft one for.")];
      view.setState(EditorState.create({ extensions: [...none, ...extensions] }));
    },
    open(text) {
      // Lines end as in the file.
      const ends = text.includes("\r\n") ? [EditorState.lineSeparator.of("\r\n")] : [];
      view.setState(EditorState.create({ doc: text, extensions: [...ends, ...extensions] }));
    },
    replace(text) {
      view.dispatch({ ...difference(view.state, text.replaceAll("\r\n", "\n")), scrollIntoView: true });
      view.focus();
    },
    show(problems) {
      view.dispatch(setDiagnostics(view.state, problems.map((problem) => diagnostic(view.state.doc, problem))));
    },
    fix: (problem) => fix(view, problem),
    goTo(number) {
      const { from } = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
  };
}

// --- steps that are switched off: their first lines are marked, and stay so while the text changes

const switched = StateEffect.define();
const off = StateField.define({
  create: () => Decoration.none,
  update: (marks, { changes, effects }) => effects.filter((one) => one.is(switched)).reduce(toggled, marks.map(changes)),
  provide: (field) => EditorView.decorations.from(field),
});

/** Mark the line that starts at a position, or remove its mark. */
function toggled(marks, { value: start }) {
  const others = marks.update({ filter: (from) => from !== start });
  return others.size < marks.size ? others : marks.update({ add: [Decoration.line({ class: "off" }).range(start)] });
}

function linesOff(state) {
  const lines = [];
  state.field(off).between(0, state.doc.length, (from) => void lines.push(state.doc.lineAt(from).number));
  return lines;
}

// --- edits

/** Return the change that replaces the text of a state, with the cursor behind it. */
function difference(state, text) {
  const old = state.doc.toString();
  let [from, same] = [0, 0];
  const most = Math.min(old.length, text.length);
  while (from < most && old[from] === text[from]) from++;
  while (same < most - from && old[old.length - same - 1] === text[text.length - same - 1]) same++;
  const stop = text.length - same;
  const insert = state.toText(text.slice(from, stop).replaceAll("\n", state.lineBreak));
  return { changes: { from, to: old.length - same, insert }, selection: { anchor: stop } };
}

/** Return the start and the end of a range; its column and width count characters, and positions UTF-16 units. */
function rangeOf(doc, { line: number, column, width }) {
  const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
  const characters = [...line.text];
  const start = column - 1 + (characters[0] === "\ufeff" ? 1 : 0);
  const at = (count) => line.from + characters.slice(0, count).join("").length;
  return { from: at(start), to: at(start + width) };
}

/** Correct a problem, as `check --fix` does. */
function fix(view, problem) {
  view.dispatch({ changes: problem.fix.map((edit) => ({ ...rangeOf(view.state.doc, edit), insert: edit.text })) });
  view.focus();
}

/** Convert a problem. One with a fix has an action that applies it. */
function diagnostic(doc, problem) {
  const { severity, code, message, help } = problem;
  const renderMessage = () => {
    const box = appendText(make("div", { class: "problem" }), `${code}: ${message}`);
    if (help) box.append(make("pre", {}, help));
    return box;
  };
  const actions = problem.fix.length ? [{ name: "Fix", apply: (view) => fix(view, problem) }] : [];
  return { ...rangeOf(doc, problem), severity, message: `${message}\n${help}`, renderMessage, actions };
}

// --- completion

/** Take the chosen completion, or the first one. */
function takeCompletion(view) {
  if (completionStatus(view.state) !== "active") return false;
  return acceptCompletion(view) || (moveCompletionSelection(true)(view) && acceptCompletion(view));
}

/** Complete keys and values from the schema, and paths and keys from the current return. */
function complete(context, schema, root) {
  const before = context.state.doc.sliceString(0, context.pos);
  if (!context.explicit && !/([\w.*\]@]|- |: |\[)$/.test(before)) return null;
  // A letter stands for what is still to be written, so that the tree has a node for it.
  const text = `${before}x`;
  const node = yamlLanguage.parser.parse(text).resolveInner(context.pos, 1);
  const isKey = node.parent?.name === "Key";
  const keys = keysAround(isKey ? node.parent.parent.parent : node, text);
  const alternatives = keys.reduce((found, key) => below(schema, found, key), resolved(schema, schema));
  const fields = Object.assign({}, ...alternatives.map((one) => one.properties));
  const isMapping = isKey || /(^|\n) *(- )?[\w-]*$|[{][^}]*$/.test(before);
  const found = isMapping ? Object.entries(fields).map(([key, field]) => keyOption(key, field)) : [];
  const options = found.length ? found : [...alternatives.flatMap(values), ...fromReturn(keys, root)];
  const word = keys.at(-1) === "path" && !found.length ? /[\w.[\]*@-]*$/ : /[\w-]*$/;
  return options.length ? { from: context.pos - word.exec(before)[0].length, options } : null;
}

/** Return the keys (`-` for an item) that lead to the innermost pair or item around `node`, outermost first. */
function keysAround(node, text) {
  const keys = [];
  for (let at = node; at; at = at.parent) {
    const key = at.name === "Pair" ? at.firstChild : null;
    if (at.name === "Item") keys.unshift("-");
    else if (key) keys.unshift(text.slice(key.from, key.to));
  }
  return keys;
}

function keyOption(key, field) {
  const parts = [field, ...(field.anyOf ?? field.oneOf ?? [])];
  return { label: key, apply: `${key}: `, type: "property", info: parts.find((one) => one.description)?.description };
}

/** Return a schema and its alternatives, without references. */
function resolved(schema, node) {
  if (!node || typeof node !== "object") return [];
  const target = node.$ref ? [schema.$defs[node.$ref.replace("#/$defs/", "")]] : [];
  return [node, ...[...target, ...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap((one) => resolved(schema, one))];
}

function below(schema, nodes, key) {
  const next = nodes.map((node) => (key === "-" ? node.items : node.properties?.[key] ?? node.additionalProperties));
  return next.flatMap((node) => resolved(schema, node));
}

function values(node) {
  const found = [...(node.enum ?? []), ...("const" in node ? [node.const] : []), ...(node.examples ?? [])];
  return [...found, ...(node.type === "boolean" ? [true, false] : [])].map(valueOption);
}

function valueOption(value) {
  const isPlain = typeof value !== "string" || /^(?!(true|false|null|yes|no|on|off)$)[a-z_][\w.[\]*-]*$/i.test(value);
  return { label: `${value}`, apply: isPlain ? `${value}` : JSON.stringify(value) };
}

/** Complete `path` with the paths in a tree, and other fields that name keys with its keys. */
function fromReturn(keys, root) {
  const isPath = keys.at(-1) === "path";
  if (!isPath && !["keep", "drop", "sort_by", "dedupe", "always_keep"].some((key) => keys.includes(key))) return [];
  const found = new Set();
  const waiting = [[root, ""]];
  for (const [number, [node, path]] of waiting.entries()) {
    if (number > MAX_VALUES) break;
    if (isPath) found.add(path || "@");
    for (const [at, item] of (node?.items ?? []).entries()) {
      const key = node.keys && textOf(node.keys[at]);
      if (key !== undefined && !isPath) found.add(key);
      waiting.push([item, pathBelow(path, key)]);
    }
  }
  return [...found].map(valueOption);
}

function pathBelow(path, key) {
  if (key === undefined) return `${path}[*]`;
  return `${path}${path && "."}${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}`;
}
