import { expect, it } from 'vitest';
import { envelopeOf, eventNamesOf } from '#functions/mastery/evidence/caliper-event.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import type { Findings } from '../diagnosis.ts';
import { completionEvent } from './writings.ts';

const findings = {
  scale: { scaleScore: 500 },
  outcomes: [exampleOutcome],
  lastOutcome: exampleOutcome,
} as unknown as Findings;
const learner = { ...exampleState, tenantId: 'tenant ü', resultsStudentId: 'student/1' };
const { resultsStudentId: _, ...conformance } = learner;
const envelope = (state: typeof exampleState) => {
  const sent = envelopeOf(completionEvent(state, findings), eventNamesOf(state));
  expect(caliperEnvelope.safeParse(sent).success).toBe(true);
  return sent;
};
/** Every IRI that an envelope names something with. */
const irisIn = (value: unknown): string[] => JSON.stringify(value).match(/"urn:[^"]*"/g) ?? [];

it.each([
  ['a learner', learner],
  ['a conformance', conformance],
])('the event of %s run keeps the names that its token was sealed for', (_name, state) => {
  const before = envelope(state);
  expect(before.sensor).toBe('urn:mastery-engine:sensor');
  expect(before.data[0]?.actor.id).toBe('urn:mastery-engine:application');
  expect(JSON.stringify(before)).toContain('"urn:mastery-engine:tenant%20%C3%BC:bank:bank%2F1"');
  expect(JSON.stringify(before).includes(':student:student%2F1"')).toBe(state === learner);
  expect(JSON.stringify(before)).not.toContain('otherIdentifiers');

  const named = envelope({ ...state, eventNames: 'uuid' });
  const iris = irisIn(named);
  expect(iris.length).toBeGreaterThan(3);
  for (const iri of iris) expect(iri).toMatch(/^"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/);
  expect(named.data[0]?.id).toBe(before.data[0]?.id);
  // Sensor and application alone are those of every tenant.
  const other = irisIn(envelope({ ...state, tenantId: 'tenant b', eventNames: 'uuid' }));
  expect(new Set(iris.filter((iri) => other.includes(iri))).size).toBe(2);
});

it('the event of a learner run has the owners’ ids beside the names', () => {
  const [event] = envelope({ ...learner, eventNames: 'uuid' }).data;
  const known = (identifier: string) => ({
    otherIdentifiers: [{ type: 'SystemIdentifier', identifierType: 'SystemId', identifier }],
  });
  expect(event?.object).toMatchObject({
    assignee: { type: 'Person', ...known('student/1') },
    assignable: { type: 'Assessment', ...known('bank/1') },
  });
});
