import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Lets esbuild leave out each constant of ours that a function does not use: schemas, routes with their examples, upstream operations. A
 * call at the top of a module might do something beside giving a value, so esbuild keeps it and all that it names. Ours only give values,
 * as `sideEffects` in package.json says of whole files. What is used stands where it stood, and no line moves.
 */
export function shakableDeclarations(root: string): Plugin {
  const ours = [join(root, 'functions', '/'), join(root, 'shared', '/')];
  return {
    name: 'shakable-declarations',
    setup: (build) => {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!ours.some((folder) => path.startsWith(folder))) return undefined;
        return { contents: await withPureDeclarations(await readFile(path, 'utf8')), loader: 'ts' };
      });
    },
  };
}

/**
 * A TypeScript source with the value of each `const` at its top wrapped into a function whose call is marked as pure. esbuild removes that
 * call when nobody names the constant, and takes the wrapping off when somebody does.
 */
export async function withPureDeclarations(source: string): Promise<string> {
  // Loaded when there is something to bundle: a build that reuses its last bundles need not wait for a compiler.
  const { default: ts } = await import('typescript');
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest);
  let marked = '';
  let end = 0;
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    // `let` and `using` are for what happens to them.
    if (((statement.declarationList.flags & ts.NodeFlags.BlockScoped) ^ ts.NodeFlags.Const) !== 0) continue;
    for (const { initializer } of statement.declarationList.declarations) {
      if (initializer === undefined || ts.isLiteralExpression(initializer)) continue;
      const start = initializer.getStart(file);
      marked += `${source.slice(end, start)}/* @__PURE__ */ (() => (${source.slice(start, initializer.end)}))()`;
      end = initializer.end;
    }
  }
  return marked + source.slice(end);
}
