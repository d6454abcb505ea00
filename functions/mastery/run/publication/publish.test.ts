import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { Platform, UpstreamCall } from '#shared/platform/platform.ts';
import { namesOf as namesOfCall, repeats } from '#shared/platform/transport/answer.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import { namesOf } from '../names.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import type { Findings } from '../diagnosis.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import { readBack } from '#functions/mastery/evidence/caliper-event.ts';
import { publish } from './publish.ts';
import { completionEvent } from './writings.ts';

const state: AdaptiveRunState = {
  ...exampleState,
  stopReason: 'max_items',
  acknowledgements: { resultRecordId: 'record-1', caliperEventIri: namesOf(exampleState).completionEventIri },
};
const findings = {
  kcClassifications: ['kc-1', 'kc-2'].map((caseCompetencyGuid) => ({ caseCompetencyGuid })),
  scale: { limitations: [] },
  outcomes: [exampleOutcome],
  lastOutcome: exampleOutcome,
} as unknown as Findings;
const ids = ['kc-2', 'kc-1'].map((kc) => namesOf(state).componentId(kc));

it.each<[string, object, boolean]>([
  ['all of them in any order', {}, true],
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

describe('publication goes on only from what is acknowledged [MA-138, MA-169, MA-202]', () => {
  const { writeResultRecord, writeKcComponents, emitEvent, readEvidenceAck } = operations;
  const { producerResultId, completionEventIri } = namesOf(state);
  const event = completionEvent(state, findings);
  const recorded = { resultRecordId: 'record-1' };
  const complete = { ...recorded, componentsAcknowledged: true as const };
  const silent: UpstreamFault = { kind: 'unavailable', transient: true } as UpstreamFault;
  const refused: UpstreamFault = { kind: 'refused-id', status: 422 } as unknown as UpstreamFault;
  const absent: UpstreamFault = { kind: 'not-found' } as unknown as UpstreamFault;

  /** What each owner answers; a fault where the call fails. */
  const sound = {
    [writeResultRecord.id]: { ...recorded, producerResultId } as object,
    [writeKcComponents.id]: { ...recorded, count: 2, componentIds: ids },
    [emitEvent.id]: {},
    [readEvidenceAck.id]: { eventIri: event.id, event },
  };
  function owners(answers: Readonly<Record<string, object>>) {
    const calls: string[] = [];
    const call = (operation: UpstreamOperation, asked: UpstreamCall<UpstreamOperation>) => {
      const { id } = operation;
      calls.push(id);
      let value = { ...sound, ...answers }[id]!;
      if (!('kind' in value) && !repeats(operation, value, namesOfCall(asked)))
        value = { kind: 'wrong-entity', transient: false };
      return Promise.resolve(
        'kind' in value
          ? err(value)
          : ok({ value, etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: '' }),
      );
    };
    return { calls, platform: { call } as unknown as Platform };
  }
  const order = [writeResultRecord.id, writeKcComponents.id, emitEvent.id, readEvidenceAck.id];
  const all = { ...complete, caliperEventIri: completionEventIri };

  it.each<
    [
      title: string,
      before: AdaptiveRunState['acknowledgements'],
      answers: Readonly<Record<string, object>>,
      calls: readonly string[],
      after: AdaptiveRunState['acknowledgements'] | 'refused',
    ]
  >([
    ['every step in its order', {}, {}, order, all],
    ['what has been acknowledged is not repeated', recorded, {}, order.slice(1), all],
    ['only the event is left', complete, {}, order.slice(2), all],
    ['nothing is left', all, {}, [], all],
    ['Results is silent', {}, { [writeResultRecord.id]: silent }, order.slice(0, 1), {}],
    ['Results refuses the record', {}, { [writeResultRecord.id]: refused }, order.slice(0, 1), 'refused'],
    [
      'Results acknowledges the result of another run',
      {},
      { [writeResultRecord.id]: { ...recorded, producerResultId: 'another' } },
      order.slice(0, 1),
      'refused',
    ],
    [
      'Results is silent about the components',
      {},
      { [writeKcComponents.id]: silent },
      order.slice(0, 2),
      recorded,
    ],
    [
      'Results refuses the components',
      recorded,
      { [writeKcComponents.id]: refused },
      order.slice(1, 2),
      'refused',
    ],
    ['Caliper is silent', complete, { [emitEvent.id]: silent }, order.slice(2, 3), complete],
    ['Caliper refuses the event', complete, { [emitEvent.id]: refused }, order.slice(2, 3), 'refused'],
    [
      'Caliper does not show the event yet',
      complete,
      { [readEvidenceAck.id]: absent },
      order.slice(2),
      complete,
    ],
    [
      'Caliper shows another event',
      complete,
      { [readEvidenceAck.id]: { eventIri: event.id, event: { ...event, action: 'Submitted' } } },
      order.slice(2),
      'refused',
    ],
  ])('%s', async (_, before, answers, calls, after) => {
    const { platform, calls: made } = owners(answers);
    const published = await publish(platform, { ...state, acknowledgements: before }, findings);
    expect(made).toEqual(calls);
    expect(published).toMatchObject(
      after === 'refused'
        ? err({ status: 424, code: 'finalization-incomplete' })
        : ok({ acknowledgements: after }),
    );
    if (published.ok) expect(published.value.acknowledgements).toEqual(after);
  });

  it.each([
    ['that very event', {}, true],
    ['no event', { [readEvidenceAck.id]: absent }, false],
    ['nothing in time', { [readEvidenceAck.id]: silent }, false],
    ['another event', { [readEvidenceAck.id]: { eventIri: 'another', event } }, false],
  ])(
    'inspect takes a run for completed when Caliper shows %s: %j, %s [MA-140]',
    async (_, answers, isProven) => {
      const { platform, calls } = owners(answers);
      const { ok: isShown } = await readBack(platform, completionEvent(state, findings));
      expect(isShown).toBe(isProven);
      expect(calls).toEqual([readEvidenceAck.id]);
    },
  );
});
