import { expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import { namesOf } from '../names.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Findings } from '../diagnosis.ts';
import { publish } from './publish.ts';

const state: AdaptiveRunState = {
  ...exampleState,
  stopReason: 'max_items',
  acknowledgements: { resultRecordId: 'record-1', caliperEventIri: namesOf(exampleState).completionEventIri },
};
const findings = {
  kcClassifications: ['kc-1', 'kc-2'].map((caseCompetencyGuid) => ({ caseCompetencyGuid })),
  scale: {},
  outcomes: [exampleOutcome],
  lastOutcome: exampleOutcome,
} as unknown as Findings;
const ids = ['kc-2', 'kc-1'].map((kc) => namesOf(state).componentId(kc));

it.each<[string, object, boolean]>([
  ['all of them in any order', {}, true],
  ['those of another record', { resultRecordId: 'another' }, false],
  ['one too few', { count: 1 }, false],
  ['one id too few', { componentIds: ids.slice(1) }, false],
  ['one twice', { componentIds: [ids[0], ids[0]] }, false],
])('components are acknowledged by %s: %j, %s [MA-033, MA-034, MA-169]', async (_, said, complete) => {
  const value = { resultRecordId: 'record-1', count: 2, componentIds: ids, ...said };
  const answer = { value, etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: '' };
  const platform = { call: () => Promise.resolve(ok(answer)) } as unknown as Platform;
  const { service, id: operation } = operations.writeKcComponents;
  expect(await publish(platform, state, findings)).toMatchObject(
    complete
      ? ok({ acknowledgements: { ...state.acknowledgements, componentsAcknowledged: true } })
      : err({
          status: 424,
          code: 'finalization-incomplete',
          upstream: { service, operation, requestId: 'up-1' },
        }),
  );
});

it('names of what a run publishes are distinct per purpose, tenant and run', () => {
  const runs = [state, { ...state, tenantId: 'tenant b' }, { ...state, runSeed: 'c'.repeat(64) }];
  const names = runs
    .map(namesOf)
    .flatMap(({ offerKey, producerResultId, ...event }) => [
      ...[offerKey(1), offerKey(2), producerResultId.slice('mastery-'.length)],
      ...[event.completionEventIri, event.attemptIri, event.scoreIri],
    ]);
  expect(new Set(names).size).toBe(names.length);
});
