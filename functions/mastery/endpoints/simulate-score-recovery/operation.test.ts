import { describe, expect, it } from 'vitest';
import { compileModel } from '#functions/mastery/engine/index.ts';
import { FRAMEWORK, ids, platformOf, validWorld } from '#test/support/example-pool.ts';
import { createPoolCache } from '#functions/mastery/pool/read-pool.ts';
import type { simulateScoreRecovery } from '#shared/contract/mastery/routes.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
import type { CaliperEvent } from '#shared/platform/owners/caliper.ts';
import { simulateRecovery } from './operation.ts';
import type { SimulationDependencies } from './operation.ts';

const HASH = 'a'.repeat(64);
const SECOND = 1_000;
const PROFILES = 5;
const TENANT = 'tenant-a';

const world = validWorld();
const kcs = [
  '00000000-0000-4000-8000-000000000000',
  '00000000-0000-4000-8000-000000000001',
  '00000000-0000-4000-8000-000000000009',
];

function records(): SimulationDependencies['records'] {
  const items = world.manifest.members.map(({ artifactVersionId, qtiIdentifier, kcGuids }) => ({
    id: artifactVersionId,
    qtiIdentifier,
    kcs: kcGuids,
    probabilities: [0.1, 0.2, 0.3, 0.9],
  }));
  const model = compileModel({
    theta: { nodes: 5, min: -2, max: 2, mean: 0, sd: 1 },
    kcs: kcs.map((guid) => ({ guid, slope: 1, location: 0 })),
    items,
    scale: [300, 400, 500, 600, 700],
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  const policy = {
    checksum: HASH,
    kcCutScore: 0.5,
    confidenceThreshold: 0.9,
    precisionTarget: 0.01,
    maxItems: 3,
    timeBudgetSeconds: null,
    coverageFloors: [],
    eligibilityRules: {},
  };
  const calibration = {
    document: {
      checksum: HASH,
      subject: 'mathematics',
      gradeCoverage: ['05'],
      caseFrameworkGuid: FRAMEWORK,
      numericPrecision: 12,
      recoveryTolerance: 100,
      validFrom: '2026-01-01T00:00:00Z',
      anchor: { source: 'vendor', version: '2', checksum: 'c'.repeat(64), licenseScope: 'research' },
    },
    parameters: { kcs: kcs.map((guid) => ({ guid, uri: `https://case.example/items/${guid}` })), items },
    model: model.value,
  };
  // SAFETY: the members that a simulation looks at are all there.
  return {
    loadPolicy: () => Promise.resolve(ok({ policy })),
    loadCalibration: () => Promise.resolve(ok(calibration)),
  } as unknown as SimulationDependencies['records'];
}

/** One simulation, with a clock that moves on half a second whenever it is read, and so many seconds until it has to be answered. */
async function simulateWithin(seconds: number) {
  let time = 0;
  const lines: [string, object | undefined][] = [];
  let event: CaliperEvent | undefined;
  const shown = () => ({ value: { tenantId: TENANT, eventIri: event?.id, event } });
  const platform = platformOf(world, (row) =>
    row === 'emitEvent' ? { value: {} } : row === 'readEvidenceAck' ? shown() : undefined,
  );
  const operation = simulateRecovery({
    records: records(),
    pools: createPoolCache(),
    isolationProof: () => Promise.resolve({ outcome: 'not_proved' }),
    profiles: {
      resolve: () => Promise.resolve(ok({ tenantId: TENANT, baseUrl: 'https://platform.example' })),
    } as unknown as SimulationDependencies['profiles'],
    connect: () => ({
      ...platform,
      call: (row, request) => {
        if (row.id === 'caliper.emit_completion_or_simulation' && row.method === 'POST')
          [event] = (request.body as unknown as { data: CaliperEvent[] }).data;
        return platform.call(row, request);
      },
    }),
    now: () => (time += SECOND / 2),
  });
  const answer = await operation({
    principal: { tenantId: TENANT },
    body: {
      ...ids,
      selectionPolicyId: 'policy',
      scaleCalibrationId: 'calibration',
      profiles: Array.from({ length: PROFILES }, (_, n) => ({
        syntheticProfileId: `synthetic:${n}`,
        knownMastery: { '00000000-0000-4000-8000-000000000009': 0.5 },
      })),
    },
    receivedAt: 0,
    deadline: seconds * SECOND,
    log: (code: string, fields?: object) => lines.push([code, fields]),
    idempotent: (work: (control: object) => unknown) => work({ createdAt: 0 }),
  } as unknown as OperationRequest<typeof simulateScoreRecovery>);
  return { answer, lines, asked: platform.calls.map(({ row }) => row) };
}

describe('a simulation whose time runs out', () => {
  it('emits nothing and is a retryable problem, well before the function dies', async () => {
    const { answer, lines, asked } = await simulateWithin(5);
    expect(answer).toMatchObject({
      ok: false,
      error: { status: 500, code: 'internal-error', retryable: true },
    });
    expect(asked).not.toContain('emitEvent');
    const logged = lines.find(([code]) => code === 'SIMULATION_OUT_OF_TIME');
    expect(logged?.[1]).toMatchObject({ profiles: PROFILES });
    expect((logged?.[1] as { simulated: number }).simulated).toBeLessThan(PROFILES);
  });

  it('is answered when there is just enough, with the event and its read-back', async () => {
    const { answer, lines, asked } = await simulateWithin(200);
    expect(answer).toMatchObject({ ok: true, value: { body: { profilesTotal: PROFILES } } });
    expect(asked.slice(-2)).toEqual(['emitEvent', 'readEvidenceAck']);
    expect(lines.map(([code]) => code)).toEqual(['SIMULATION_COMPUTED', 'SIMULATION_RECEIPT']);
  });
});
