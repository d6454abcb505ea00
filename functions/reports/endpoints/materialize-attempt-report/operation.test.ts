import { expect, it } from 'vitest';
import type { materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import { passedGate } from '#test/support/report-facts.ts';
import { principalWith } from '#test/support/principal.ts';
import {
  dependenciesOver,
  requestOf,
  scriptOf,
  scriptedOwners,
  sentenceOf,
} from '#test/support/scripted-owners.ts';
import type { Script } from '#test/support/scripted-owners.ts';
import { componentsOf } from './components.ts';
import { materializeAttemptReportOperation } from './operation.ts';

// What an owner has written between the acknowledgement and the reading back. Everything else: test/contract/reports/materialize*.

const NOW = Date.UTC(2026, 2, 2);
const facts = passedGate();
const { value: evidence } = facts.evidence;
const { resultRecordId, version, score, modifiedAt } = facts.record.value;

/** @param acknowledged in what the acknowledgement differs from the record that is read back */
async function materialize(
  acknowledged: Partial<SettledComponentsAck> = {},
  changes: Script = {},
): Promise<string> {
  const set = componentsOf(evidence);
  if (!set.ok) throw new Error(set.error.detail);
  const { attemptId, administrationId, candidateSourcedId, tenantId } = evidence;
  const componentIds = set.value.body.components.map(({ componentId }) => componentId);
  const owners = scriptedOwners({
    ...scriptOf(facts),
    readEvidenceAck: { kind: 'unavailable', status: 503 },
    writeSettledComponents: {
      value: {
        tenantId,
        attemptId,
        resultRecordId,
        version,
        count: componentIds.length,
        componentIds,
        score,
        settledAt: modifiedAt,
        ...acknowledged,
      },
    },
    emitEvent: { value: undefined },
    ...changes,
  });
  const principal = principalWith({
    tenantId,
    studentIds: [candidateSourcedId],
    administrationIds: [administrationId, 'another'],
  });
  const asked = requestOf<typeof materializeAttemptReport>(NOW, { principal, path: {} });
  const run = materializeAttemptReportOperation(dependenciesOver(() => owners, { now: () => NOW }));
  return sentenceOf(await run({ ...asked, body: { attemptId, administrationId, view: 'summary' } }));
}

it('reads back what was acknowledged, of the administration that was asked for, or is a 409 [RP-087, RP-257]', async () => {
  expect(await materialize()).toBe('facts');
  expect(await materialize({ version: `${version}-2` })).toBe('409 source-version-conflict results');
  const [unsettled, moved] = [{ resultRecordId: null }, { administrationId: 'another' }].map((change) => ({
    value: { ...evidence, ...change },
  }));
  const settled = { value: evidence };
  const first = { readAttemptEvidence: [unsettled!, settled] };
  expect(await materialize({}, first)).toBe('facts');
  expect(await materialize({ resultRecordId: 'another' }, first)).toBe('409 source-version-conflict results');
  expect(await materialize({}, { readAttemptEvidence: [settled, moved!] })).toBe(
    '409 source-version-conflict qti',
  );
  // A record that is not current contradicts nothing.
  const stale = { readSettledRecord: { value: { ...facts.record.value, freshness: 'stale' } } };
  expect(await materialize({ version: `${version}-2` }, stale)).toBe('503 dependency-incomplete results');
});
