// A rule with its return in one file.

const KIND = "reducer rule with a return";

/** Download a rule, and the text of its return if there is one. */
export function download(name, text, sample) {
  const content = JSON.stringify({ kind: KIND, name, text, sample }, null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  link.download = `${name.replace(/.*\//, "").replace(/\.ya?ml$/, "")}.bundle.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Return the rule and the return in a text that `download` wrote, or null for any other text. */
export function readBundle(content) {
  if (!content.includes(KIND)) return null;
  try {
    const { kind, name, text, sample } = JSON.parse(content);
    if (kind !== KIND || typeof name !== "string" || typeof text !== "string") return null;
    return { name: /^[\w-]+\.ya?ml$/.test(name) ? name : "opened.yaml", text, sample: typeof sample === "string" ? sample : null };
  } catch {
    return null;
  }
}
