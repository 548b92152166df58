// The editor of the rule: completion from the schema, problems while typing, and steps that are added to the text.

import {
  autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection,
  EditorState, EditorView, ensureSyntaxTree, HighlightStyle, highlightActiveLine, highlightSpecialChars, history,
  historyKeymap, indentOnInput, keymap, lineNumbers, lintGutter, lintKeymap, placeholder, setDiagnostics,
  syntaxHighlighting, tags, yaml, yamlLanguage,
} from "./codemirror.js";
import { appendText, make } from "./tree.js";
import { keysAround, pathAt, quoted, stepChange } from "./yaml_steps.js";

const PARSE_MS = 200;
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--quiet)" },
]);

/**
 * Create the editor. `changed()` is called after each edit, `moved()` when the cursor moves, `save()` for Ctrl-S.
 * `schema()` returns the JSON Schema of rule files, and `paths()` the paths of the current return with their keys.
 */
export function createEditor(parent, nonce, { changed, moved, save, schema, paths }) {
  const extensions = [
    lineNumbers(), lintGutter(), highlightSpecialChars(), highlightActiveLine(), history(), drawSelection(),
    EditorView.lineWrapping, indentOnInput(), bracketMatching(), closeBrackets(), yaml(), syntaxHighlighting(COLOURS),
    autocompletion({ override: [(context) => complete(context, schema(), paths())] }),
    keymap.of([
      { key: "Mod-s", run: () => (save(), true), preventDefault: true },
      ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap,
    ]),
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ "aria-label": "Rule (YAML)", spellcheck: "false" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed();
      else if (update.selectionSet) moved();
    }),
  ];
  const view = new EditorView({ parent, extensions });
  const treeOf = () => ensureSyntaxTree(view.state, view.state.doc.length, PARSE_MS);
  return {
    text: () => view.state.sliceDoc(),
    focus: () => view.focus(),
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
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(text) } });
    },
    show(problems) {
      view.dispatch(setDiagnostics(view.state, problems.map((problem) => diagnostic(view.state.doc, problem))));
    },
    path() {
      const tree = treeOf();
      return tree && pathAt(tree, view.state.doc.toString(), view.state.selection.main.head);
    },
    goTo(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      const effects = EditorView.scrollIntoView(line.from, { y: "center" });
      view.dispatch({ selection: { anchor: line.from }, effects });
      view.focus();
    },
    add(step) {
      const tree = treeOf();
      if (!tree) return;
      const { from, to, insert, offset, length } = stepChange(tree, view.state.doc.toString(), step);
      view.dispatch({
        changes: { from, to, insert },
        selection: { anchor: from + offset, head: from + offset + length },
        scrollIntoView: true,
      });
      view.focus();
    },
  };
}

/** Convert a problem; its column and width count characters, and positions of the editor count UTF-16 units. */
function diagnostic(doc, { line: number, column, width, severity, code, message, help }) {
  const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
  const characters = [...line.text];
  const units = (count) => characters.slice(0, count).join("").length;
  const from = line.from + units(column - 1);
  const renderMessage = () => {
    const box = appendText(make("div", { class: "problem" }), `${code}: ${message}`);
    if (help) box.append(make("pre", {}, help));
    return box;
  };
  const to = Math.max(from, line.from + units(column - 1 + width));
  return { from, to, severity, message: [message, help].filter(Boolean).join("\n"), renderMessage };
}

// --- completion

/** Complete keys and values from the schema, and paths and keys from the current return. */
function complete(context, schema, paths) {
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
  const options = found.length ? found : [...alternatives.flatMap(values), ...fromReturn(keys, paths, before)];
  const word = keys.at(-1) === "path" && !found.length ? /[\w.[\]*@-]*$/ : /[\w-]*$/;
  return options.length ? { from: context.pos - word.exec(before)[0].length, options } : null;
}

function keyOption(key, field) {
  const parts = [field, ...(field.anyOf ?? field.oneOf ?? [])];
  const info = parts.map((one) => one.description).find(Boolean);
  return { label: key, apply: `${key}: `, type: "property", info };
}

/** Return a schema and its alternatives, without references. */
function resolved(schema, node) {
  if (!node || typeof node !== "object") return [];
  const target = node.$ref ? schema.$defs[node.$ref.replace("#/$defs/", "")] : null;
  const inner = [...(target ? [target] : []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return [node, ...inner.flatMap((one) => resolved(schema, one))];
}

function below(schema, nodes, key) {
  const next = nodes.map((node) => (key === "-" ? node.items : node.properties?.[key] ?? node.additionalProperties));
  return next.flatMap((node) => resolved(schema, node));
}

function values(node) {
  const found = [...(node.enum ?? []), ...("const" in node ? [node.const] : []), ...(node.examples ?? [])];
  return [...found, ...(node.type === "boolean" ? [true, false] : [])].map(valueOption);
}

const valueOption = (value) => ({ label: `${value}`, apply: typeof value === "string" ? quoted(value) : `${value}` });

/** Complete `path` with the paths of the return, and the keys of other fields with the keys at the step's path. */
function fromReturn(keys, paths, before) {
  if (keys.at(-1) === "path") return [...paths.keys()].map(valueOption);
  if (!["keep", "drop", "sort_by", "dedupe", "always_keep"].some((key) => keys.includes(key))) return [];
  const step = before.slice(before.lastIndexOf("- "));
  const path = /path: *["']?([^"'\n,}]+)/.exec(step)?.[1]?.trim() ?? "@";
  return [...(paths.get(path) ?? [])].map(valueOption);
}
