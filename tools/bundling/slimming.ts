import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Modules of packages that a bundle replaces as a whole; no source is edited. Measured on Node 24.21.0 with a handler of Middy, zod, jose,
 * three SDK clients and Powertools (minified KB, import ms): plain 634, 60 → credentials 497, 39 → member paths 473, 38 → http 474, 35.
 */
export function slimming(root: string): Plugin[] {
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
    replaced(
      'event-streams',
      /^@smithy\/core\/event-streams$/,
      join(root, 'tools/bundling/event-streams.ts'),
    ),
    requiredHttp(),
  ];
}

function replaced(name: string, filter: RegExp, path: string): Plugin {
  return { name, setup: (build) => build.onResolve({ filter }, () => ({ path })) };
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
