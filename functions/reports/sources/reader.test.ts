import { describe, expect, it } from 'vitest';
import * as operations from '#shared/platform/operations.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script } from '#test/support/scripted-owners.ts';
import { createSourceReader } from './reader.ts';
import type { SourceReader } from './reader.ts';

const { readUser } = operations;
const user = { user: { sourcedId: 'student-1', status: 'active' } };
const call = { path: { sourcedId: 'student-1' } };
const about = () => ({ resourceId: 'student-1' });

/** A reader whose clock counts its observations. */
function readerOf(script: Script): SourceReader {
  let time = 1_000;
  return createSourceReader(scriptedOwners(script), () => (time += 1));
}

// What is revalidated: case-package.test.ts.

describe('a receipt', () => {
  it.each([
    ['the owner’s version before its ETag', { etag: '"e"' }, { version: 'v7' }, 'v7'],
    ['a strong ETag as sent', { etag: '"e"' }, {}, '"e"'],
    ['a weak ETag as sent', { etag: 'W/"e"' }, {}, 'W/"e"'],
    ['null for an owner that gives neither', {}, {}, null],
  ] as const)('has %s [RP-006, RP-086]', async (_, sent, said, version) => {
    const reader = readerOf({ readUser: { value: user, ...sent } });
    const answer = await reader.read(readUser, call, () => ({ ...about(), ...said }));
    expect(answer).toMatchObject({
      ok: true,
      value: {
        value: user,
        receipt: {
          service: 'oneroster',
          resourceId: 'student-1',
          observedAt: '1970-01-01T00:00:01.001Z',
          version,
          status: 'current',
        },
      },
    });
  });

  it('has the time of its own answer [RP-085]', async () => {
    const reader = readerOf({ readUser: { value: user } });
    for (const observedAt of ['1970-01-01T00:00:01.001Z', '1970-01-01T00:00:01.002Z'])
      expect(await reader.read(readUser, call, about)).toMatchObject({ value: { receipt: { observedAt } } });
  });

  it('has the freshness that the owner gives [RP-087]', async () => {
    const reader = readerOf({ readUser: { value: user } });
    const answer = await reader.read(readUser, call, () => ({ ...about(), status: 'stale' }));
    expect(answer.ok && answer.value.receipt.status).toBe('stale');
  });

  it('of a source that could not be consulted says so [RP-087]', () => {
    expect(readerOf({}).unavailable(operations.readEvidenceAck, 'urn:uuid:1')).toEqual({
      service: 'caliper',
      resourceId: 'urn:uuid:1',
      observedAt: '1970-01-01T00:00:01.001Z',
      version: null,
      status: 'unavailable',
    });
  });
});
