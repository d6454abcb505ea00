import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * What keeps a bundle small and its import quick. Measured on Node 24.21.0 with a handler of Middy, zod, jose, three SDK clients and
 * Powertools (minified KB, import ms): plain 634, 60 → credentials 497, 39 → member paths 473, 38 → SDK errors 405, 36 → http 406, 32.
 */
export function slimming(root: string, keptErrors: readonly string[]): Plugin[] {
  return [
    replaced(
      'lambda-credentials',
      /^@aws-sdk\/credential-provider-node$/,
      join(root, 'tools/bundling/lambda-credentials.ts'),
    ),
    replaced(
      'member-path',
      /^@aws-lambda-powertools\/jmespath(\/functions)?$/,
      join(root, 'tools/bundling/member-path.ts'),
    ),
    unusedErrors(keptErrors),
    requiredHttp(),
  ];
}

function replaced(name: string, filter: RegExp, path: string): Plugin {
  return { name, setup: (build) => build.onResolve({ filter }, () => ({ path })) };
}

/**
 * KMS and SSM register a class for each of their errors (188 of them, 60 KB) when they load. An error without a class arrives as the
 * service's base exception under its own `name`, status and message, and retries go by name and status: only `instanceof` and an error's
 * own members are lost. So a class that our sources name stays, the others go. DynamoDB's stay all: their members (`Item`, the
 * cancellation reasons) need their schemas.
 */
function unusedErrors(keptErrors: readonly string[]): Plugin {
  return {
    name: 'unused-errors',
    setup: (build) => {
      build.onLoad(
        { filter: /@aws-sdk[\\/]client-(kms|ssm)[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/ },
        async ({ path }) => {
          const source = await readFile(path, 'utf8');
          let dropped = 0;
          const contents = source.replace(registration, (line, error: string) => {
            if (keptErrors.includes(error)) return line;
            dropped += 1;
            return '';
          });
          // An SDK release may register its errors in another way: better a failing build than one that has silently grown.
          if (dropped === 0)
            return {
              errors: [
                { text: 'no error registrations found: adapt tools/bundling/slimming.ts to this SDK' },
              ],
            };
          return { contents, loader: 'js' };
        },
      );
    },
  };
}

/** A static ESM import of `node:http` or its kin makes Node build every export of it (10-15 ms); `require` does not. */
function requiredHttp(): Plugin {
  return {
    name: 'required-http',
    setup: (build) => {
      build.onResolve({ filter: /^(node:)?(http|https|http2)$/ }, ({ kind, path }) =>
        kind === 'require-call' ? undefined : { path, namespace: 'required' },
      );
      build.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(path)});`,
        loader: 'js',
      }));
    },
  };
}

const registration = /^n0_registry\.registerError\((\w+)\$, \w+\);$/gm;

/** The errors of KMS and SSM that a source of ours names, in order; sources that end up in functions only. */
export async function usedErrors(root: string): Promise<readonly string[]> {
  const registered = new Set<string>();
  for (const client of ['client-kms', 'client-ssm']) {
    const schemas = await readFile(
      join(root, `node_modules/@aws-sdk/${client}/dist-es/schemas/schemas_0.js`),
      'utf8',
    );
    for (const [, name] of schemas.matchAll(registration)) if (name !== undefined) registered.add(name);
  }
  const used = new Set<string>();
  for (const folder of ['shared', 'functions']) {
    for (const file of await readdir(join(root, folder), { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      for (const [word] of (await readFile(join(root, folder, file), 'utf8')).matchAll(/\b[A-Z]\w+/g)) {
        if (registered.has(word)) used.add(word);
      }
    }
  }
  return [...used].sort();
}
