import { expect, it } from 'vitest';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { placesOf, withOthers } from '#test/support/changed.ts';
import { exampleState } from '#test/support/example-run.ts';
import { runEntityTag } from './compose.ts';

const attempt = {
  attemptId: 'attempt-1',
  attemptNumber: 1,
  status: 'scored',
  outcomes: { SCORE: 1 },
  scoredAt: '2026-03-01T08:00:00Z',
  processingTrace: { traceRef: 'trace-1', status: 'completed' },
};
const session = { deliverySessionId: 'session-1', rootArtifactVersionId: 'item-1' };
const run = {
  state: {
    ...exampleState,
    stopReason: 'max_items' as const,
    acknowledgements: { resultRecordId: 'record-1' },
  },
  sessions: [{ ...session, createdAt: '2026-03-01T07:59:00Z', attempts: [attempt] }],
  unnamed: [{ ...session, createdAt: '2026-03-01T08:00:00Z', attempts: [structuredClone(attempt)] }],
};
const tagOf = ({ state, ...runtime }: typeof run): string => runEntityTag(state, runtime);
const tag = tagOf(run);

it('the tag of a run is strong and changes with all that it pins, has come to and holds of its own sessions, and with nothing else [MA-028, MA-048]', () => {
  expect(isStrongEntityTag(tag)).toBe(true);
  const inert = withOthers(run).filter(([, other]) => tagOf(other) === tag);
  expect(inert.map(([place]) => place)).toEqual([
    ...['version', 'selectionPolicyChecksum', 'scaleCalibrationChecksum', 'candidateRef', 'startedAt'].map(
      (name) => `state/${name}`,
    ),
    'state/resultsStudentId',
    'sessions/0/createdAt',
    'sessions/0/attempts/0/processingTrace/traceRef',
    ...[...placesOf(run.unnamed, 'unnamed/')].flatMap(([place, value]) =>
      typeof value === 'object' ? [] : place,
    ),
  ]);
  for (const attempts of [[], [attempt, { ...attempt, attemptId: 'attempt-2', attemptNumber: 2 }]])
    expect(tagOf({ ...run, sessions: [{ ...run.sessions[0]!, attempts }] })).not.toBe(tag);
});
