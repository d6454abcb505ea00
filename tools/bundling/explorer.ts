import { build } from 'esbuild';
import { join } from 'node:path';

/** The explorer's files by their path below it; `config.json`, which depends on where it is served, is none of them. */
export type ExplorerFiles = ReadonlyMap<string, string>;

const app = join(import.meta.dirname, '../../local/explorer/app');

/** Bundles the explorer for browsers. Rejects when its sources do not compile. */
export async function bundleExplorer(): Promise<ExplorerFiles> {
  const { outputFiles } = await build({
    entryPoints: [join(app, 'main.tsx')],
    outdir: app,
    entryNames: 'explorer',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  });
  return new Map([
    ['index.html', page],
    ...outputFiles.map(({ path, text }): [string, string] => [path.slice(app.length + 1), text]),
  ]);
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mastery-reports explorer</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="explorer.css">
<script type="module" src="explorer.js"></script>
</head>
<body>
<noscript>The explorer needs JavaScript.</noscript>
</body>
</html>
`;
