import { expect, it } from 'vitest';
import { readCandidate } from '#functions/reports/sources/roster.ts';
import { principalWith } from '#test/support/principal.ts';
import { dependenciesOver, requestOf, scriptedOwners } from '#test/support/scripted-owners.ts';
import { openOwners } from './owners.ts';

it('an answer is not older than its sources, even if the clock is set back while they are read [RP-085]', async () => {
  const owners = scriptedOwners({
    readUser: { value: { user: { sourcedId: 'student-1', status: 'active' } } },
  });
  let time = Date.UTC(2026, 2, 1);
  const dependencies = dependenciesOver(() => owners, { now: () => (time -= 5_000) });
  const opened = await openOwners(dependencies, requestOf(time, { principal: principalWith({}), path: {} }));
  if (!opened.ok) throw new Error(opened.error.code);
  const { reader, moment } = opened.value;
  const candidate = await readCandidate(reader, 'student-1', 'caller');
  expect(candidate).toMatchObject({ ok: true, value: { observedAt: moment().observedAt } });
});
