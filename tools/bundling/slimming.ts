import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { shakableDeclarations } from './declarations.ts';

/**
 * What keeps a bundle small and its import quick. Measured on Node 24.21.0 with a handler of Middy, zod, jose, three SDK clients and
 * Powertools (minified KB, import ms): plain 634, 60 → credentials 497, 39 → member paths 473, 38 → SDK schemas 384, 35 → http 385, 32.
 * The stores of a worker with zod (DynamoDB, S3, SQS, SSM) alone: plain 672 → all but the schemas of S3 and SQS 490 → all 412. S3 brings 106
 * of them beside DynamoDB and SSM, and 5 ms of import; what is left of it is its endpoint rules (18), XML, checksums and signing, which
 * every call passes.
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
    shakableSchemas(keptErrors),
    shakableDeclarations(root),
    requiredHttp(),
  ];
}

function replaced(name: string, filter: RegExp, path: string): Plugin {
  return { name, setup: (build) => build.onResolve({ filter }, () => ({ path })) };
}

/**
 * Two things keep the schemas of an SDK client from being shaken, which makes every operation's part of every bundle.
 *
 * Keys: `{ [_e]: _c }` might run code, so esbuild keeps whatever holds such an object; the constants are literals, so their values stand in.
 *
 * Errors: KMS, S3, SQS and SSM register a class for each of theirs (237) as they load. An error without a class arrives as the service's base
 * exception under its own `name`, status and message, and retries go by name and status: only `instanceof` and an error's own members
 * are lost. So a class that our sources name stays, the others go. DynamoDB's stay all: their members (`Item`, the cancellation
 * reasons) need their schemas.
 */
function shakableSchemas(keptErrors: readonly string[]): Plugin {
  return {
    name: 'shakable-schemas',
    setup: (build) => {
      build.onLoad(
        {
          filter: /@aws-sdk[\\/]client-(dynamodb|kms|s3|sqs|ssm)[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/,
        },
        async ({ path }) => {
          const source = await readFile(path, 'utf8');
          const constants = new Map(
            [...source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name, value]) => [name, value]),
          );
          const literal = source.replace(/\[(_\w+)\]:/g, (key, name: string) => {
            const value = constants.get(name);
            return value === undefined ? key : `${value}:`;
          });
          const contents = path.includes('client-dynamodb')
            ? literal
            : literal.replace(registration, (line, error: string) =>
                keptErrors.includes(error) ? line : '',
              );
          // An SDK release may write its schemas in another way: better a failing build than bundles that have silently grown.
          if (literal === source || (contents === literal && !path.includes('client-dynamodb'))) {
            return {
              errors: [{ text: `${path} looks different: adapt tools/bundling/slimming.ts to this SDK` }],
            };
          }
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

/** The errors of KMS, S3, SQS and SSM that a source of ours names, in order; sources that end up in functions only. */
export async function usedErrors(root: string): Promise<readonly string[]> {
  const registered = new Set<string>();
  for (const client of ['client-kms', 'client-s3', 'client-sqs', 'client-ssm']) {
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
