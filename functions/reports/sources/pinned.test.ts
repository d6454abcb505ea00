import { expect, it } from 'vitest';
import { scriptedOwners, type Scripted } from '#test/support/scripted-owners.ts';
import { readPinnedSourceSet } from './pinned.ts';
import { createSourceReader } from './reader.ts';

// Every other answer: test/lemmas/faults-reports.

it.each<[Scripted, string]>([
  [{ kind: 'not-found', status: 410 }, 'gone'],
  [{ kind: 'wrong-entity' }, 'moved'],
  [{ kind: 'rejected', status: 403 }, 'unavailable'],
])('pinned evidence of which its owner says %j is %s', async (answer, kind) => {
  const sourceSet = { ref: 'sources-1', sha256: 'a'.repeat(64) };
  const pins = { contentTestSpecId: 'spec-1', contentTestSpecVersion: '7', sourceSet };
  const reader = createSourceReader(scriptedOwners({ readAlignmentSources: answer }), () => 1);
  expect(await readPinnedSourceSet(reader, { administrationId: 'administration-1', pins })).toMatchObject({
    error: { kind },
  });
});
