import { describe, expect, it } from 'vitest';
import type { Framework, Observed } from '#functions/reports/facts/facts.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { scriptedOwners, type Scripted } from '#test/support/scripted-owners.ts';
import { createFrameworks, readFramework, type Frameworks } from './case-package.ts';
import { createSourceReader } from './reader.ts';

const profile = { tenantId: 'tenant-1', baseUrl: 'https://platform.example' };
const DOCUMENT = 'document-1';

function packageOf(
  items: readonly string[],
  links: readonly (readonly [child: string, type: string, parent: string])[] = [],
  identifier = DOCUMENT,
): object {
  return {
    CFDocument: { identifier, lastChangeDateTime: '2026-01-01T00:00:00Z' },
    CFItems: items.map((item) => ({ identifier: item })),
    CFAssociations: links.map(([child, associationType, parent]) => ({
      associationType,
      originNodeURI: { identifier: child },
      destinationNodeURI: { identifier: parent },
    })),
  };
}

/** One request that reads the framework: what it gets, and the tags that it asked about. */
async function request(
  frameworks: Frameworks,
  answer: Scripted,
  { documentId = DOCUMENT, of = profile } = {},
): Promise<{
  readonly result: Result<Observed<Framework>, Problem>;
  readonly askedAbout: readonly (string | undefined)[];
}> {
  const owners = scriptedOwners({ readPackage: answer });
  const reader = createSourceReader(owners, () => 1);
  const result = await readFramework(reader, frameworks.of(of), documentId);
  return { result, askedAbout: owners.asked.map(({ etag }) => etag) };
}

function guidsOf(result: Result<Observed<Framework>, Problem>): readonly string[] {
  if (!result.ok) throw new Error(result.error.code);
  return [...result.value.value.guids];
}

describe('a framework', () => {
  it('is the items of its package, with the parents that `isChildOf` gives them [RP-090]', async () => {
    const { result } = await request(createFrameworks(), {
      value: packageOf(
        ['root', 'leaf', 'twin'],
        [
          ['root', 'isChildOf', DOCUMENT],
          ['leaf', 'isChildOf', 'root'],
          ['twin', 'isChildOf', 'root'],
          ['twin', 'isChildOf', 'leaf'],
          ['leaf', 'precedes', 'twin'],
          ['root', 'isRelatedTo', 'leaf'],
        ],
      ),
      etag: '"1"',
    });
    expect(result).toMatchObject(
      ok({ receipt: { service: 'case', resourceId: DOCUMENT, version: '"1"', status: 'current' } }),
    );
    expect(result.ok && result.value.value).toEqual({
      changedAt: '2026-01-01T00:00:00Z',
      guids: new Set(['root', 'leaf', 'twin']),
      // What hangs on the document itself is a root.
      parents: new Map([
        ['leaf', ['root']],
        ['twin', ['root', 'leaf']],
      ]),
    });
  });
});

describe('a framework that the container has kept', () => {
  it('is used once CASE has confirmed it for this very request [RP-085, RP-089]', async () => {
    const frameworks = createFrameworks();
    const answer = { value: packageOf(['a']), etag: 'W/"1"' };
    expect((await request(frameworks, answer)).askedAbout).toEqual([undefined]);
    const again = await request(frameworks, answer);
    expect(again.askedAbout).toEqual(['W/"1"']);
    expect(guidsOf(again.result)).toEqual(['a']);
    expect(again.result.ok && again.result.value.receipt.version).toBe('W/"1"');
  });

  it('gives way to the one that CASE holds now, which is kept in its place [RP-089]', async () => {
    const frameworks = createFrameworks();
    await request(frameworks, { value: packageOf(['a']), etag: '"1"' });
    const changed = await request(frameworks, { value: packageOf(['b']), etag: '"2"' });
    expect(guidsOf(changed.result)).toEqual(['b']);
    expect((await request(frameworks, { value: packageOf(['b']), etag: '"2"' })).askedAbout).toEqual(['"2"']);
  });

  it.each<[string, { readonly of?: typeof profile; readonly documentId?: string }]>([
    ['another tenant', { of: { ...profile, tenantId: 'tenant-2' } }],
    ['another platform', { of: { ...profile, baseUrl: 'https://other.example' } }],
    ['another document', { documentId: 'document-2' }],
  ])('is nothing to %s', async (_, other) => {
    const frameworks = createFrameworks();
    await request(frameworks, { value: packageOf(['a']), etag: '"1"' });
    const value = packageOf(['b'], [], other.documentId);
    const { askedAbout, result } = await request(frameworks, { value, etag: '"1"' }, other);
    expect(askedAbout).toEqual([undefined]);
    expect(guidsOf(result)).toEqual(['b']);
  });

  it('without an entity tag, or of another document, is not kept', async () => {
    const frameworks = createFrameworks();
    await request(frameworks, { value: packageOf(['a']) });
    await request(frameworks, { value: packageOf(['a'], [], 'document-2'), etag: '"1"' });
    expect((await request(frameworks, { value: packageOf(['a']) })).askedAbout).toEqual([undefined]);
  });

  it('goes when eight others have been used since', async () => {
    const frameworks = createFrameworks();
    const use = (documentId: string) =>
      request(frameworks, { value: packageOf([], [], documentId), etag: '"1"' }, { documentId });
    await use('first');
    for (let n = 1; n < 8; n += 1) await use(`document-${n}`);
    expect((await use('first')).askedAbout).toEqual(['"1"']);
    for (let n = 1; n <= 8; n += 1) await use(`other-${n}`);
    expect((await use('first')).askedAbout).toEqual([undefined]);
  });
});
