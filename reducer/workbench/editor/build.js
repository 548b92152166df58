// Bundles codemirror.js, and writes the licences of all packages in the bundle next to it.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = "../static/codemirror.js";
const { metafile } = await build({
  entryPoints: ["codemirror.js"],
  outfile: target,
  bundle: true,
  format: "esm",
  minify: true,
  metafile: true,
  banner: { js: "// Built from ../editor with `npm ci && npm run build`. Licences: codemirror.LICENSE." },
});
const paths = Object.keys(metafile.inputs).map((file) => file.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
const packagesByLicence = new Map();
for (const name of [...new Set(paths)].filter(Boolean).sort()) {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  const licence = readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
  packagesByLicence.set(licence, [...(packagesByLicence.get(licence) ?? []), `${name} ${version}`]);
}
const parts = [...packagesByLicence].map(([licence, packages]) => `${packages.join("\n")}\n\n${licence}\n`);
writeFileSync("../static/codemirror.LICENSE", parts.join("\n----\n\n"));
