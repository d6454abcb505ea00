import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScoreRecoverySimulation } from '#shared/contract/mastery/score-recovery.ts';
import { uuidNames } from '#functions/mastery/evidence/caliper-event.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { receiptTraceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { SimulationBody } from '#test/support/score-recovery.ts';
import { useTestStack } from '#test/support/stack.ts';

const TENANT = 'tenant-aurora';
const BANK = 'fraction-subtraction';

const stack = useTestStack({ bundled: true });
/** For what the owners hold; only the comparison with a start takes a run. */
const runs = useAdaptiveRuns(stack);

const guids = (): readonly string[] => Object.keys(simulationBody(stack).profiles[0]!.knownMastery);
const send = (call: GatewayCall): Promise<GatewayReply> => simulate(stack, call);
const simulated = async (call: GatewayCall): Promise<ScoreRecoverySimulation> =>
  simulationIn(await send(call));
const eventsOf = async (of: typeof runs): Promise<Readonly<Record<string, unknown>>> =>
  (await of.state()).entities['caliper.event']!;
/** A simulation of one profile. */
const bodyOf = (name: string, probability: (kc: number) => number, tenantId = TENANT): SimulationBody => {
  const body = simulationBody(stack, { tenantId });
  const kcs = Object.keys(body.profiles[0]!.knownMastery);
  return { ...body, profiles: [profile(`synthetic:${name}`, kcs, probability)] };
};

describe('a matrix of many abilities, over the whole bank', () => {
  let body: SimulationBody;
  let matrix: ScoreRecoverySimulation;
  beforeAll(async () => {
    const asked = simulationBody(stack, { bank: BANK });
    const kcs = Object.keys(asked.profiles[0]!.knownMastery);
    const probabilityOf = (n: number) => (kc: number) => Math.min(1, Math.max(0, (2 * n + kc - 4) / 8));
    body = {
      ...asked,
      profiles: Array.from({ length: 6 }, (_, n) => profile(`synthetic:${n}`, kcs, probabilityOf(n))),
    };
    matrix = await simulated({ body });
  });

  it('has one error for each profile, in their order, and a verdict by the calibration’s tolerance [MA-126, MA-129, MA-130, MA-131, MA-132, MA-133, MA-178]', () => {
    const { profilesTotal, recoveryErrors, tolerance, maxAbsoluteError, withinTolerance } = matrix;
    expect(profilesTotal).toBe(body.profiles.length);
    expect(recoveryErrors.map(({ syntheticProfileId }) => syntheticProfileId)).toEqual(
      body.profiles.map(({ syntheticProfileId }) => syntheticProfileId),
    );
    for (const { absoluteError, recoveredScale, knownScale, standardError } of recoveryErrors) {
      expect(absoluteError).toBeCloseTo(Math.abs(recoveredScale - knownScale), 8);
      expect(standardError).toBeGreaterThan(0);
    }
    expect(new Set(recoveryErrors.map(({ recoveredScale }) => recoveredScale)).size).toBeGreaterThan(4);
    const { document } = stack.seededTenants
      .get(TENANT)!
      .calibrations.find((calibration) => calibration.document.id === body.scaleCalibrationId)!;
    expect(tolerance).toBe(document.recoveryTolerance);
    expect(maxAbsoluteError).toBe(Math.max(...recoveryErrors.map(({ absoluteError }) => absoluteError)));
    expect(withinTolerance).toBe(maxAbsoluteError <= tolerance);
  });

  it('has the pins of a run over the same pool [MA-065, MA-125, MA-134]', async () => {
    const start = runs.start(runs.startBody({ bank: BANK, mode: 'owner_conformance' }));
    expect(matrix.executionPins).toEqual((await start.sendForRun()).body.executionPins);
  });

  it('names the event that Caliper holds, by its IRI and by the hash of its envelope [MA-134, MA-199]', async () => {
    const { eventIri, envelopeHash, recoveryErrors, maxAbsoluteError } = matrix;
    const event = (await eventsOf(runs))[eventIri] as Readonly<Record<string, unknown>>;
    expect(event).toMatchObject({
      id: eventIri,
      actor: { type: 'SoftwareApplication' },
      extensions: { recoveryErrorsHash: hashCanonical(recoveryErrors), maxAbsoluteError },
    });
    expect(envelopeHash).toBe(
      hashCanonical({
        sensor: uuidNames.sensor,
        sendTime: event['eventTime'],
        dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p2',
        data: [event],
      }),
    );
    expect(JSON.stringify(event)).not.toMatch(/Person|synthetic:/);
  });
});

describe('the event of a simulation', () => {
  it('has the time at which its key was first used, and is the only thing that is left: nothing at Results, nothing of a candidate [MA-013, MA-199]', async () => {
    const request = { key: randomUUID(), body: bodyOf('when', () => 0.4) };
    const before = (await runs.state()).counts;
    const earliest = Date.now();
    const { result: first, calls } = await callsDuring(stack, () => simulated(request));
    const latest = Date.now();
    expect(new Set(calls.map(({ operation }) => operation?.split('.')[0]))).toEqual(
      new Set(['content', 'bank', 'qti', 'case', 'extmap', 'caliper']),
    );
    expect(calls.map(({ operation }) => operation)).not.toContain('qti.read_candidate_runtime');
    expect((await simulated(request)).eventIri).toBe(first.eventIri);
    const { counts, entities } = await runs.state();
    expect(counts).toEqual({ ...before, 'caliper.event': before['caliper.event']! + 1 });
    const { eventTime } = entities['caliper.event']![first.eventIri] as { readonly eventTime: string };
    expect(Date.parse(eventTime)).toBeGreaterThanOrEqual(earliest);
    expect(Date.parse(eventTime)).toBeLessThanOrEqual(latest);
  });
});

it('has a receipt: the content address of the logged trace from Bank to Caliper, without names and scores [MA-007, MA-087, MA-088, MA-134, MA-178]', async () => {
  const name = 'only-here';
  const { receiptId, recoveryErrors, eventIri } = await simulated({ body: bodyOf(name, (kc) => kc / 10) });
  const receipt = receiptTraceOf(stack, receiptId);
  expect(receipt).toMatchObject({
    code: 'SIMULATION_RECEIPT',
    profile: TENANT,
    runMode: 'owner_conformance',
  });
  expect(receipt.trace.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining([
      'content.read_test_spec',
      'content.validate_adaptive_bank_identity',
      'bank.read_adaptive_pool_manifest',
      'qti.read_adaptive_pool_root',
      'case.resolve_mapping',
      'extmap.verify_anchor',
      'caliper.emit_completion_or_simulation',
      'caliper.read_evidence_ack',
    ]),
  );
  expect(receipt.trace.every(({ outcome }) => outcome === 'answered')).toBe(true);
  const text = JSON.stringify(stack.logs());
  const { syntheticProfileId, ...numbers } = recoveryErrors[0]!;
  for (const secret of [syntheticProfileId, eventIri, ...Object.values(numbers)].map(String))
    expect([secret, text.includes(secret)]).toEqual([secret, false]);
});

describe('the body of a simulation', () => {
  const withProfiles = (count: number, kcs: readonly string[]): SimulationBody => ({
    ...simulationBody(stack),
    profiles: Array.from({ length: count }, (_, n) =>
      profile(`synthetic:${n}`, kcs, (kc) => ((n + kc) % 10) / 10),
    ),
  });

  it('takes 100 profiles, each so often that profiles × components × items × replications is at most 2,000,000 [MA-126, MA-129, MA-130]', async () => {
    const kcs = guids();
    const { profilesTotal, replications } = await simulated({ body: withProfiles(100, kcs) });
    expect([profilesTotal, replications]).toEqual([
      100,
      Math.min(32, Math.floor(2_000_000 / (100 * kcs.length * 5))),
    ]);
  });
});

it('a pool that drifted for good is the pool of the next simulation, never a stream conflict [MA-181]', async () => {
  const body = simulationBody(stack);
  const before = await simulated({ body });
  const restore = await runs.change({
    entity: 'content.blueprint',
    id: body.testSpecId,
    changes: [{ pointer: '/version', value: 'v-next' }],
  });
  const after = await simulated({ body });
  await restore();
  expect(after.executionPins.testSpecHash).not.toBe(before.executionPins.testSpecHash);
  const known = ({ recoveryErrors }: ScoreRecoverySimulation): readonly number[] =>
    recoveryErrors.map(({ knownScale }) => knownScale);
  expect(known(after)).toEqual(known(before));
  expect(after.eventIri).not.toBe(before.eventIri);
  expect((await simulated({ body })).recoveryErrors).toEqual(before.recoveryErrors);
});
