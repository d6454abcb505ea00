import { expect, it } from 'vitest';
import { envelopeOf, uuidNames } from '#functions/mastery/evidence/caliper-event.ts';
import { evaluateRecovery } from '#functions/mastery/simulation/recovery.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { withOthers } from '#test/support/changed.ts';
import { simulationEvent, type Simulated } from './simulation-event.ts';

const HASH = 'a'.repeat(64);
const errors = [
  { syntheticProfileId: 'synthetic:Ada', knownScale: 431.25, recoveredScale: 437.5, absoluteError: 6.25 },
];
const simulated = {
  tenantId: 'tenant a',
  basis: {
    policy: { checksum: HASH },
    calibration: {
      document: { checksum: HASH },
      model: { runtimeVersion: 'ho-cdm-grid-1', kernelHash: HASH },
    },
    pins: { testBankId: 'bank/1', bankOperationId: 'o', resolvedPoolHash: HASH, qtiPoolPackageHash: HASH },
  },
  profiles: [{ syntheticProfileId: 'synthetic:Ada', knownMastery: { 'kc-1': 0.75 } }],
  matrix: { ...evaluateRecovery(errors, 25), replications: 32 },
  at: Date.parse('2026-01-01T00:00:00Z'),
} as unknown as Simulated;

it('the event of a simulation is about the bank at a settled time and shows no profile and no score; anything else is another event [MA-037, MA-199]', () => {
  const event = simulationEvent(simulated);
  expect(caliperEnvelope.safeParse(envelopeOf(event, uuidNames)).success).toBe(true);
  expect(event).toMatchObject({
    object: { type: 'Assessment', otherIdentifiers: [{ identifier: 'bank/1' }] },
    actor: { type: 'SoftwareApplication' },
    eventTime: '2026-01-01T00:00:00.000Z',
  });
  for (const id of [event.object.id, event.actor.id, envelopeOf(event, uuidNames).sensor])
    expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  for (const secret of ['Person', 'synthetic:', 'Ada', '431.25', '437.5', 'kc-1', '0.75'])
    expect(JSON.stringify(event)).not.toContain(secret);
  expect(simulationEvent(structuredClone(simulated))).toEqual(event);
  const ids = withOthers(simulated).map(([, other]) => simulationEvent(other).id);
  expect(ids.length).toBeGreaterThan(20);
  expect(new Set([event.id, ...ids]).size).toBe(1 + ids.length);
});
