import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { bodyCase, continuationCase, tokenCase, type Case } from './cases.ts';

/** Public test vectors that a folder of the user holds, at any depth. */
export interface Vectors {
  readonly cases: readonly Case[];
  /** Vectors that no route is needed for, and how each went. */
  readonly inProcess: readonly { readonly name: string; readonly passed: boolean }[];
}

/**
 * Reads what it knows below a folder: bodies of nst/JSONTestSuite (`test_parsing/{y,n,i}_*.json`), tokens of C2SP/wycheproof
 * (`json_web_{signature,encryption,crypto}_test.json`), and pairs of cyberphone/json-canonicalization (`input/*.json` with `output/*.json`).
 */
export function readVectors(folder: string): Vectors {
  const files = (pattern: string): readonly string[] =>
    globSync(`**/${pattern}`, { cwd: folder })
      .toSorted()
      .map((file) => join(folder, file));
  return {
    cases: [
      ...files('test_parsing/[yni]_*.json').map((file) =>
        // None of them is a request of a route, so that valid JSON is refused too.
        bodyCase(basename(file), readFileSync(file), { expected: [400] }),
      ),
      ...files('json_web_{signature,encryption,crypto}_test.json').flatMap((file) => tokensOf(file)),
    ],
    inProcess: files('input/*.json')
      .filter((file) => existsSync(outputOf(file)))
      .map((file) => ({
        name: basename(file),
        passed:
          canonicalJson(JSON.parse(readFileSync(file, 'utf8'))) === readFileSync(outputOf(file), 'utf8'),
      })),
  };
}

const outputOf = (input: string): string => join(dirname(input), '../output', basename(input));

const wycheproof = z.object({
  testGroups: z.array(
    z.object({
      comment: z.string(),
      tests: z.array(
        z.object({
          tcId: z.int(),
          comment: z.string(),
          jws: z.unknown().optional(),
          jwe: z.unknown().optional(),
        }),
      ),
    }),
  ),
});

/** Returns the tokens of a file in compact form: none of them is of our issuer, whether its signature is valid or not. */
function tokensOf(file: string): readonly Case[] {
  const { testGroups } = wycheproof.parse(JSON.parse(readFileSync(file, 'utf8')));
  return testGroups.flatMap(({ comment: group, tests }) =>
    tests.flatMap(({ tcId, comment, jws, jwe }) => {
      const name = `${basename(file)} ${tcId} ${group}, ${comment}`;
      const isSendable = (token: unknown): token is string =>
        typeof token === 'string' && /^[!-~]*$/.test(token);
      return [
        ...(isSendable(jws) ? [tokenCase(name, jws)] : []),
        ...(isSendable(jwe) ? [tokenCase(name, jwe), continuationCase(name, jwe)] : []),
      ];
    }),
  );
}
