import { describe, expect, it } from 'vitest';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { withOthers } from '#test/support/changed.ts';
import { judgeRecovery } from '#functions/mastery/simulation/recovery.ts';
import { simulationEvent } from './simulation-event.ts';
import type { Simulated } from './simulation-event.ts';

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
    pins: {
      testBankId: 'bank/1',
      bankOperationId: 'operation',
      resolvedPoolHash: HASH,
      qtiPoolPackageHash: HASH,
    },
  },
  profiles: [{ syntheticProfileId: 'synthetic:Ada', knownMastery: { 'kc-1': 0.75 } }],
  matrix: { ...judgeRecovery(errors, 25), replications: 32 },
  at: Date.parse('2026-01-01T00:00:00Z'),
} as unknown as Simulated;

describe('the event of a simulation', () => {
  it('is a valid generic Caliper event of the engine, about the bank, with profiles and scores as hashes alone [MA-037, MA-199]', () => {
    const event = simulationEvent(simulated);
    expect(caliperEnvelope.safeParse(envelopeOf(event)).success).toBe(true);
    expect(event).toMatchObject({
      type: 'Event',
      profile: 'GeneralProfile',
      action: 'Completed',
      actor: { type: 'SoftwareApplication' },
      object: { type: 'Assessment', id: 'urn:mastery-engine:tenant%20a:bank:bank%2F1' },
      eventTime: '2026-01-01T00:00:00.000Z',
      extensions: {
        profilesTotal: 1,
        replications: 32,
        tolerance: 25,
        maxAbsoluteError: 6.25,
        withinTolerance: true,
        profilesHash: hashCanonical(simulated.profiles),
        recoveryErrorsHash: hashCanonical(errors),
        executionPinsHash: hashCanonical(simulated.basis.pins),
      },
    });
    for (const secret of ['Person', 'synthetic:', 'Ada', '431.25', '437.5', 'kc-1', '0.75'])
      expect(JSON.stringify(event)).not.toContain(secret);
    expect(JSON.stringify(simulationEvent(structuredClone(simulated)))).toBe(JSON.stringify(event));
  });

  it('has another id for anything that is otherwise, so that no two events claim one', () => {
    const ids = [simulated, ...withOthers(simulated).map(([, other]) => other)].map(
      (one) => simulationEvent(one).id,
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(20);
  });
});
