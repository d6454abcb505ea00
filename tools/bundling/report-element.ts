import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Bundles a script that embeds the element, for browsers. Rejects if it does not compile.
 * @param entry path from the project's root; it imports the element as its package
 * @param alias what else is imported under another name
 */
export async function bundleHost(
  entry: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
    },
    alias: { 'mastery-reports-element': join(root, 'report-element/src/index.ts'), ...alias },
    logLevel: 'silent',
  });
  return outputFiles.map(({ text }) => text).join('');
}

const example = 'examples/report-page';

/** Returns the example page as files below the explorer, by path. */
export async function bundleExamplePage(): Promise<ReadonlyMap<string, string>> {
  const files = ['index.html', 'case-package.json'].map(async (name): Promise<[string, string]> => [
    `example/${name}`,
    await readFile(join(root, example, name), 'utf8'),
  ]);
  const client = { 'mastery-reports-client': join(root, 'client/src/index.ts') };
  const script = await bundleHost(`${example}/page.ts`, client);
  return new Map([...(await Promise.all(files)), ['example/report-page.js', script]]);
}
