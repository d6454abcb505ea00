import { describe, expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { Script } from '#test/support/scripted-owners.ts';
import { createSourceReader } from './create-reader.ts';
import type { SourceReader } from './reader.ts';

const { readUser, readClass, readReportCriteria } = operations;
const user = { user: { sourcedId: 'student-1', status: 'active' } };
const call = { path: { sourcedId: 'student-1' } };
const about = () => ({ resourceId: 'student-1' });

/** A reader whose clock counts its observations. */
function readerOf(script: Script): SourceReader {
  let time = 1_000;
  return createSourceReader({
    platform: scriptedOwners(script),
    stamp: (observedAt) => `stamp of ${observedAt}`,
    now: () => (time += 1),
  });
}

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
          observedAt: 'stamp of 1001',
          version,
          status: 'current',
        },
      },
    });
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
      observedAt: 'stamp of 1001',
      version: null,
      status: 'unavailable',
    });
  });
});

describe('what was consulted', () => {
  it('is every answer with what confirms it, and no failure', async () => {
    const reader = readerOf({
      readUser: { value: user, etag: '"u"' },
      readClass: { kind: 'not-found' },
    });
    await reader.read(readUser, call, about);
    expect(await reader.read(readClass, { path: { sourcedId: 'class-1' } }, about)).toMatchObject(
      err({ kind: 'not-found', service: 'oneroster' }),
    );
    expect(reader.consulted()).toEqual([{ operation: readUser, call, etag: '"u"', stamp: 'stamp of 1001' }]);
  });

  it('holds a repeated read in the place of the first one, and another question as another source', async () => {
    const criteria = (version: string) => ({
      value: {
        tenantId: 'tenant-1',
        testSpecId: 'spec-1',
        version,
        freshness: 'current',
        testKind: 'formative',
        caseFrameworkGuid: 'framework-1',
        caseFrameworkChangedAt: '2026-01-01T00:00:00Z',
        criteria: null,
        qualifyingCoverage: false,
        externalScale: null,
      },
      etag: `"${version}"`,
    });
    const reader = readerOf({
      readReportCriteria: [criteria('1'), criteria('2'), criteria('3')],
      readUser: { value: user, etag: '"u"' },
    });
    const ask = (version: string) =>
      reader.read(readReportCriteria, { path: { testSpecId: 'spec-1' }, query: { version } }, about);
    await ask('1');
    await reader.read(readUser, call, about);
    await ask('2');
    await ask('1');
    expect(reader.consulted().map(({ etag, stamp }) => [etag, stamp])).toEqual([
      ['"3"', 'stamp of 1004'],
      ['"u"', 'stamp of 1002'],
      ['"2"', 'stamp of 1003'],
    ]);
  });
});

describe('what an earlier request knows', () => {
  it('is observed anew when its owner still holds that version [RP-085]', async () => {
    const reader = readerOf({ readUser: { value: user, etag: '"u"' } });
    const answer = await reader.revalidate(readUser, call, about, '"u"');
    expect(answer).toMatchObject({
      ok: true,
      value: { value: 'unchanged', etag: '"u"', receipt: { version: '"u"', observedAt: 'stamp of 1001' } },
    });
    expect(reader.consulted()).toMatchObject([{ etag: '"u"', stamp: 'stamp of 1001' }]);
  });

  it('gives way to what the owner holds now', async () => {
    const reader = readerOf({ readUser: { value: user, etag: '"new"' } });
    const answer = await reader.revalidate(readUser, call, about, '"old"');
    expect(answer).toMatchObject({ ok: true, value: { value: user, etag: '"new"' } });
    expect(reader.consulted()).toMatchObject([{ etag: '"new"' }]);
  });

  it('does not count when its owner does not answer', async () => {
    const reader = readerOf({ readUser: { kind: 'unavailable' } });
    expect(await reader.revalidate(readUser, call, about, '"u"')).toMatchObject({ ok: false });
    expect(reader.consulted()).toEqual([]);
  });
});
