import { expect, it } from 'vitest';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { openListCursor } from './list-cursor.ts';

it('a cursor goes for one hour after its request [RP-303]', async () => {
  const keys = createMemoryKeyRing();
  const open = (receivedAt: number, cursor?: string) =>
    openListCursor(keys, listCandidateReports, ['attemptId'], {
      principal: principalWith({}),
      path: {},
      query: { cursor },
      receivedAt,
    });
  const first = await open(1);
  const cursor = first.ok ? await first.value.seal({ attemptId: 'attempt-1' }) : null;
  expect(await open(3_600_000, cursor!)).toMatchObject({ ok: true });
  expect(await open(3_600_001, cursor!)).toMatchObject({ ok: false });
});
