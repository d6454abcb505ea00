import { describe, expect, it } from 'vitest';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
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

/** The same simulation but for one thing. */
function changed(path: readonly string[], value: unknown): Simulated {
  const copy = structuredClone(simulated) as unknown as Record<string, unknown>;
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((within, name) => within[name] as Record<string, unknown>, copy);
  holder[path.at(-1)!] = value;
  return copy as unknown as Simulated;
}

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

  it.each<[string, readonly string[], unknown]>([
    ['tenant', ['tenantId'], 'tenant b'],
    ['policy', ['basis', 'policy', 'checksum'], 'b'.repeat(64)],
    ['calibration', ['basis', 'calibration', 'document', 'checksum'], 'b'.repeat(64)],
    ['time', ['at'], Date.parse('2026-01-02T00:00:00Z')],
    ['kernel', ['basis', 'calibration', 'model', 'kernelHash'], 'b'.repeat(64)],
    ['pin', ['basis', 'pins', 'bankOperationId'], 'another'],
    ['profiles', ['profiles'], [{ syntheticProfileId: 'synthetic:Ada', knownMastery: { 'kc-1': 0.5 } }]],
    ['errors', ['matrix', 'recoveryErrors'], []],
    ['number of replications', ['matrix', 'replications'], 31],
    ['tolerance', ['matrix', 'tolerance'], 24],
  ])('has another id for another %s, so that no two events claim one', (_, path, value) => {
    expect(simulationEvent(changed(path, value)).id).not.toBe(simulationEvent(simulated).id);
  });
});
