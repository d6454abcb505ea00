import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { simulateScoreRecovery as route, startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { ScoreRecoverySimulation } from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callMastery, problemOf, refusalOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import type { SimulationBody } from '#test/support/score-recovery.ts';
import { lazily } from '#test/support/lazily.ts';
import { asBuilt, startTestStack, useTestStack } from '#test/support/stack.ts';
import { bankOf } from '#test/support/take-journey.ts';

const BANK = 'fraction-subtraction';

const stack = useTestStack({ bundled: asBuilt });
const runs = lazily(() => openAdaptiveRuns(stack));
const other = lazily(() => openAdaptiveRuns(stack, 'tenant-borealis'));
/** For what the owners hold; only the comparison with a start takes a run. */

const guids = (): readonly string[] => Object.keys(simulationBody(stack).profiles[0]!.knownMastery);
const send = (call: GatewayCall): Promise<GatewayReply> => simulate(stack, call);
const simulated = async (call: GatewayCall): Promise<ScoreRecoverySimulation> =>
  simulationIn(await send(call));
const eventsOf = async (of: AdaptiveRuns): Promise<Readonly<Record<string, unknown>>> =>
  (await of.state()).entities['caliper.event']!;

/** A matrix of many abilities, over the whole bank. */
function matrixBody(tenantId = 'tenant-aurora'): SimulationBody {
  const body = simulationBody(stack, { tenantId, bank: BANK });
  const kcs = Object.keys(body.profiles[0]!.knownMastery);
  return {
    ...body,
    profiles: Array.from({ length: 6 }, (_, n) =>
      profile(`synthetic:ability ${n}`, kcs, (kc) => Math.min(1, Math.max(0, (2 * n + kc - 8) / 8 + 0.5))),
    ),
  };
}

/** What is answered to a request that no owner may hear of. */
async function refused(call: GatewayCall): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () => send(call));
  expect(calls).toEqual([]);
  return result;
}

describe('the answer', () => {
  it('has one error for each profile, in their order, between a known and a recovered scale [MA-126, MA-129, MA-130, MA-178]', async () => {
    const body = matrixBody();
    const { profilesTotal, recoveryErrors } = await simulated({ body });
    expect(profilesTotal).toBe(body.profiles.length);
    expect(recoveryErrors.map(({ syntheticProfileId }) => syntheticProfileId)).toEqual(
      body.profiles.map(({ syntheticProfileId }) => syntheticProfileId),
    );
    for (const error of recoveryErrors) {
      expect(Object.keys(error)).toEqual([
        'syntheticProfileId',
        'knownScale',
        'recoveredScale',
        'absoluteError',
        'standardError',
      ]);
      expect(error.absoluteError).toBeCloseTo(Math.abs(error.recoveredScale - error.knownScale), 8);
    }
    expect(new Set(recoveryErrors.map(({ recoveredScale }) => recoveredScale)).size).toBeGreaterThan(4);
  });

  it('is that of a profile’s content: no name changes the error of one, nor the verdict [MA-130, MA-133]', async () => {
    const named = (name: string): SimulationBody => ({
      ...simulationBody(stack, { bank: BANK }),
      profiles: [profile(`synthetic:${name}`, guids(), (kc) => kc / 7)],
    });
    const [first, ...others] = await Promise.all(
      Array.from({ length: 6 }, (_, n) => simulated({ body: named(`name ${n}`) })),
    );
    const { recoveredScale, absoluteError } = first!.recoveryErrors[0]!;
    for (const { recoveryErrors, withinTolerance } of others) {
      expect(recoveryErrors[0]).toMatchObject({ recoveredScale, absoluteError });
      expect(withinTolerance).toBe(first!.withinTolerance);
    }
    const other = await simulated({
      body: { ...named('name 0'), profiles: [profile('synthetic:name 0', guids(), (kc) => kc / 8)] },
    });
    expect(other.recoveryErrors[0]!.recoveredScale).not.toBe(recoveredScale);
  });

  it('is a mean over replications: so many that profiles × components × items × replications is at most 2,000,000, and 1 to 32 [MA-130]', async () => {
    const few = await simulated({ body: matrixBody() });
    expect(few.replications).toBe(32);
    for (const { standardError } of few.recoveryErrors) expect(standardError).toBeGreaterThan(0);
    const body = simulationBody(stack, { bank: 'generated' });
    const kcs = Object.keys(body.profiles[0]!.knownMastery);
    const { maxItems } = stack.seededTenants
      .get('tenant-aurora')!
      .policies.find(({ document }) => document.id === body.selectionPolicyId)!.document;
    const many = await simulated({
      body: {
        ...body,
        profiles: Array.from({ length: 100 }, (_, n) => profile(`synthetic:${n}`, kcs, () => n / 100)),
      },
    });
    expect(many.replications).toBeGreaterThan(1);
    expect(many.replications).toBeLessThanOrEqual(2_000_000 / (100 * kcs.length * maxItems));
  });

  it('has the scale that a perfect test would show as the known one [MA-130]', async () => {
    const body = matrixBody();
    const { theta, kcs, scale } = bankOf(stack.seed, 'tenant-aurora', BANK).parameters;
    const nodes = scale.map((_, g) => theta.min + (g * (theta.max - theta.min)) / (theta.nodes - 1));
    const { recoveryErrors } = await simulated({ body });
    for (const [at, { knownScale }] of recoveryErrors.entries()) {
      const { knownMastery } = body.profiles[at]!;
      const logs = nodes.map((t, g) => {
        const prior =
          (g === 0 || g === nodes.length - 1 ? 0.5 : 1) *
          Math.exp(-((t - theta.mean) ** 2) / (2 * theta.sd ** 2));
        return kcs.reduce((sum, { guid, slope, location }) => {
          const p = Math.min(1 - 1e-6, Math.max(1e-6, 1 / (1 + Math.exp(-slope * (t - location)))));
          return sum + knownMastery[guid]! * Math.log(p) + (1 - knownMastery[guid]!) * Math.log(1 - p);
        }, Math.log(prior));
      });
      const most = Math.max(...logs);
      const weights = logs.map((log) => Math.exp(log - most));
      const total = weights.reduce((a, b) => a + b, 0);
      const expected = weights.reduce((sum, weight, g) => sum + (weight / total) * scale[g]!, 0);
      expect(Math.abs(knownScale - expected)).toBeLessThanOrEqual(1e-10 * expected);
    }
  });

  it('has the calibration’s tolerance, the largest error, and a verdict of both [MA-131, MA-132, MA-133]', async () => {
    const verdicts = new Set<boolean>();
    for (const bank of [BANK, 'fraction-subtraction-short', 'generated']) {
      const body = simulationBody(stack, { bank });
      const answer = await simulated({ body });
      const { document } = stack.seededTenants
        .get('tenant-aurora')!
        .calibrations.find((calibration) => calibration.document.id === body.scaleCalibrationId)!;
      const errors = answer.recoveryErrors.map(({ absoluteError }) => absoluteError);
      expect(answer.tolerance).toBe(document.recoveryTolerance);
      expect(answer.maxAbsoluteError).toBe(Math.max(...errors));
      expect(answer.withinTolerance).toBe(errors.every((error) => error <= answer.tolerance));
      verdicts.add(answer.withinTolerance);
    }
    expect(verdicts).toEqual(new Set([true, false]));
  });

  it('has the pins of a run over the same pool [MA-065, MA-125, MA-134]', async () => {
    const { executionPins } = await simulated({ body: simulationBody(stack) });
    const started = await runs.start(runs.startBody({ mode: 'owner_conformance' })).sendForRun();
    expect(executionPins).toEqual(started.body.executionPins);
  });

  it('names the event that Caliper holds, by its IRI and by the hash of its envelope [MA-134, MA-199]', async () => {
    const { eventIri, envelopeHash, recoveryErrors, maxAbsoluteError } = await simulated({
      body: matrixBody(),
    });
    const event = (await eventsOf(runs))[eventIri] as Readonly<Record<string, unknown>>;
    expect(event).toMatchObject({
      id: eventIri,
      type: 'Event',
      action: 'Completed',
      actor: { type: 'SoftwareApplication' },
      extensions: { recoveryErrorsHash: hashCanonical(recoveryErrors), maxAbsoluteError },
    });
    expect(envelopeHash).toBe(
      hashCanonical({
        sensor: 'urn:mastery-engine:sensor',
        sendTime: event['eventTime'],
        dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p2',
        data: [event],
      }),
    );
    expect(JSON.stringify(event)).not.toMatch(/Person|synthetic:/);
  });

  it('has an event of the time at which its request was first taken up, not of the calibration’s [MA-199]', async () => {
    const before = Date.now();
    const key = randomUUID();
    const body = { ...simulationBody(stack), profiles: [profile('synthetic:when', guids(), () => 0.4)] };
    const first = await simulated({ key, body });
    const after = Date.now();
    const again = await simulated({ key, body });
    expect(again.eventIri).toBe(first.eventIri);
    const event = (await eventsOf(runs))[first.eventIri] as { readonly eventTime: string };
    expect(Date.parse(event.eventTime)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(event.eventTime)).toBeLessThanOrEqual(after);
  });

  it('comes without any word to Results or about a candidate, and leaves one event and nothing else [MA-013, MA-199]', async () => {
    const body = { ...simulationBody(stack), profiles: [profile('synthetic:once', guids(), () => 0.25)] };
    const before = (await runs.state()).counts;
    const { calls } = await callsDuring(stack, () => simulated({ body }));
    const services = new Set(calls.map(({ operation }) => operation?.split('.')[0]));
    expect(services).toEqual(new Set(['content', 'bank', 'qti', 'case', 'extmap', 'caliper']));
    expect(calls.filter(({ method }) => method !== 'GET').map(({ operation }) => operation)).toEqual([
      'caliper.emit_completion_or_simulation',
    ]);
    expect(calls.map(({ operation }) => operation)).not.toContain('qti.read_candidate_runtime');
    expect((await runs.state()).counts).toEqual({
      ...before,
      'caliper.event': before['caliper.event']! + 1,
    });
  });

  it('has a receipt: the content address of the logged trace from Bank to Caliper, without names and scores [MA-007, MA-087, MA-088, MA-134, MA-178]', async () => {
    const name = 'synthetic:only-here';
    const body = { ...simulationBody(stack), profiles: [profile(name, guids(), (kc) => kc / 10)] };
    const { receiptId, recoveryErrors, eventIri } = await simulated({ body });
    const lines = stack.logs().map(({ line }) => line);
    const line = lines.find((candidate) => receiptLine.safeParse(candidate).data?.receiptId === receiptId);
    const trace = receiptTrace.parse(line);
    expect(hashCanonical(trace)).toBe(receiptId);
    expect(trace.runMode).toBe('owner_conformance');
    expect(trace.trace.map(({ operation }) => operation)).toEqual(
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
    expect(trace.trace.every(({ outcome }) => outcome === 'answered')).toBe(true);
    const text = JSON.stringify(lines);
    const { knownScale, recoveredScale, absoluteError, standardError } = recoveryErrors[0]!;
    for (const secret of [name, eventIri, knownScale, recoveredScale, absoluteError, standardError].map(
      String,
    ))
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
  });
});

const receiptLine = z.object({ code: z.literal('SIMULATION_RECEIPT'), receiptId: z.string() });
/** What a receipt's id is the address of. */
const receiptTrace = z.object({
  profile: z.literal('tenant-aurora'),
  hosts: z.array(z.string()).length(1),
  isolationOutcome: z.string(),
  isolationDigest: z.string(),
  runMode: z.string(),
  runtimeVersion: z.string(),
  kernelHash: z.string(),
  resolvedPoolHash: z.string(),
  reconciledMembers: z.int(),
  content: z.string(),
  absentItems: z.int(),
  processingTraces: z.array(z.string()),
  trace: z.array(z.looseObject({ operation: z.string(), outcome: z.string() })),
});

/** Everything but which occurrence it was: its event has the time at which a key was first taken up. */
function essenceOf(reply: GatewayReply): string {
  const { receiptId, eventIri, envelopeHash } = simulationIn(reply);
  return reply.text.replace(receiptId, '').replace(eventIri, '').replace(envelopeHash, '');
}

describe('the same request', () => {
  it('gives the same matrix under any key, from a warm and a new container, and from another stack [MA-190]', async () => {
    const body = matrixBody();
    const key = randomUUID();
    const first = await send({ key, body });
    const replayed = await send({ key, body });
    const warm = await send({ body });
    await stack.killWorkers(route.operationId);
    const cold = await send({ body });
    const elsewhere = await startTestStack({ bundled: asBuilt });
    try {
      const far = await simulate(elsewhere, { body });
      for (const reply of [replayed, warm, cold, far]) expect(essenceOf(reply)).toBe(essenceOf(first));
      const { receiptId } = simulationIn(first);
      expect(replayed.text.replace(simulationIn(replayed).receiptId, receiptId)).toBe(first.text);
    } finally {
      await elsewhere.close();
    }
    const receipts = [first, replayed, warm, cold].map((reply) => simulationIn(reply).receiptId);
    expect(new Set(receipts).size).toBe(receipts.length);
  });

  it('is one event for each key, however often it is sent [MA-190, MA-199]', async () => {
    const body = { ...simulationBody(stack), profiles: [profile('synthetic:again', guids(), () => 0.75)] };
    const before = Object.keys(await eventsOf(runs)).length;
    const key = randomUUID();
    const iris: string[] = [];
    for (const call of [{ key, body }, { key, body }, { key, body }, { body }])
      iris.push((await simulated(call)).eventIri);
    expect(new Set(iris.slice(0, 3)).size).toBe(1);
    expect(iris[3]).not.toBe(iris[0]);
    expect(Object.keys(await eventsOf(runs)).length).toBe(before + 2);
  });

  it('twenty times at once is one event and one answer [MA-190, MA-199]', async () => {
    const body = { ...simulationBody(stack), profiles: [profile('synthetic:twenty', guids(), () => 0.1)] };
    const before = Object.keys(await eventsOf(runs)).length;
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => send({ key, body })));
    expect(new Set(replies.map(essenceOf)).size).toBe(1);
    expect(Object.keys(await eventsOf(runs)).length).toBe(before + 1);
  });

  it('with its members in another order is the same matrix [MA-124]', async () => {
    const body = matrixBody();
    const reversed = (value: unknown): unknown =>
      typeof value !== 'object' || value === null
        ? value
        : Array.isArray(value)
          ? value.map(reversed)
          : Object.fromEntries(
              Object.entries(value)
                .map(([name, member]) => [name, reversed(member)] as const)
                .reverse(),
            );
    const key = randomUUID();
    const first = await send({ key, body });
    expect(essenceOf(await send({ key, body: reversed(body) }))).toBe(essenceOf(first));
  });

  it('with its profiles in another order, or one by one, has the same error for each profile [MA-130]', async () => {
    const body = matrixBody();
    const { recoveryErrors } = await simulated({ body });
    const backwards = await simulated({ body: { ...body, profiles: body.profiles.toReversed() } });
    expect(backwards.recoveryErrors.toReversed()).toEqual(recoveryErrors);
    const alone = await simulated({ body: { ...body, profiles: [body.profiles[5]] } });
    expect(alone.recoveryErrors).toEqual([recoveryErrors[5]]);
  });

  it('of another tenant is another event, which the first does not hold [MA-189, MA-199]', async () => {
    const key = randomUUID();
    const mine = await simulated({ key, body: matrixBody() });
    const theirs = await simulated({
      key,
      tenantId: 'tenant-borealis',
      body: matrixBody('tenant-borealis'),
    });
    expect(theirs.eventIri).not.toBe(mine.eventIri);
    expect(Object.keys(await eventsOf(other))).toContain(theirs.eventIri);
    expect(Object.keys(await eventsOf(runs))).not.toContain(theirs.eventIri);
    expect(Object.keys(await eventsOf(other))).not.toContain(mine.eventIri);
  });
});

describe('the Idempotency-Key of a simulation', () => {
  it('that stands for another body is 409, before any call [MA-181, MA-191]', async () => {
    const key = randomUUID();
    const body = simulationBody(stack);
    await simulated({ key, body });
    for (const changed of [
      { ...body, testSpecId: 'another' },
      { ...body, profiles: body.profiles.toReversed() },
      { ...body, profiles: body.profiles.slice(1) },
    ])
      expect(problemOf(await refused({ key, body: changed }))).toMatchObject({
        status: 409,
        code: 'idempotency-key-reused',
        retryable: false,
      });
  });

  it('is shared with no other endpoint [MA-189]', async () => {
    const key = randomUUID();
    await simulated({ key, body: simulationBody(stack) });
    const started = await callMastery(stack, startAdaptiveRun, { key, body: runs.startBody() });
    expect(started.status).toBe(201);
  });
});

describe('the body of a simulation', () => {
  const withProfiles = (...profiles: readonly unknown[]): object => ({ ...simulationBody(stack), profiles });
  const good = (change: object = {}): object => ({
    ...profile('synthetic:good', guids(), () => 0.5),
    ...change,
  });

  it('with an id twice is 400 at the second one [MA-126]', async () => {
    expect(refusalOf(await refused({ body: withProfiles(good(), good()) }))).toBe(
      '400 invalid-request /body/profiles/1/syntheticProfileId repeated',
    );
  });

  it('with 100 profiles of 500 components is no limit exceeded [MA-182]', async () => {
    const body = withProfiles(
      ...Array.from({ length: 100 }, (_, n) => profile(`synthetic:${n}`, guidsOf(500), () => 0.5)),
    );
    expect(refusalOf(await send({ body }))).toBe('422 calibration-invalid');
  });

  it('full of fields that it does not have is 400 with a hundred of them, as large as it may be [MA-187]', async () => {
    const fields = Array.from({ length: 400_000 }, (_, n) => [`f${n}`, 1] as const);
    const { code, invalidParams } = problemOf(await refused({ body: Object.fromEntries(fields) }));
    expect([code, invalidParams?.length]).toEqual(['invalid-request', 100]);
  });

  it('takes 100 profiles at once [MA-126, MA-129]', async () => {
    const body = withProfiles(
      ...Array.from({ length: 100 }, (_, n) =>
        profile(`synthetic:${n}`, guids(), (kc) => ((n + kc) % 10) / 10),
      ),
    );
    expect((await simulated({ body })).profilesTotal).toBe(100);
  });

  /** Components that no calibration knows. */
  function guidsOf(count: number): readonly string[] {
    return Array.from({ length: count }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
  }
});

describe('what only records and owners can judge', () => {
  it('an unknown spec, bank or operation is the hidden 404; a bank of another spec is 400 [MA-054, MA-124, MA-180]', async () => {
    const body = simulationBody(stack);
    for (const name of ['testSpecId', 'testBankId', 'bankOperationId'])
      expect(refusalOf(await send({ body: { ...body, [name]: 'nothing/../there' } }))).toBe(
        '404 resource-not-found',
      );
    const { testSpecId } = simulationBody(stack, { bank: 'generated' });
    expect(refusalOf(await send({ body: { ...body, testSpecId } }))).toBe(
      '400 invalid-request /body/testBankId mismatch',
    );
  });

  it('a component of another calibration, or one that nobody knows, is 422, and no event [MA-183, MA-195]', async () => {
    const before = await eventsOf(runs);
    const elsewhere = Object.keys(simulationBody(stack, { bank: 'generated' }).profiles[0]!.knownMastery)[0]!;
    for (const guid of [elsewhere, '00000000-0000-4000-8000-000000000000']) {
      const body = {
        ...simulationBody(stack),
        profiles: [profile('synthetic:1', [guids()[1]!, guid], () => 1)],
      };
      const reply = await send({ body });
      expect(problemOf(reply)).toMatchObject({ status: 422, code: 'calibration-invalid', retryable: false });
      expect(reply.text).not.toContain(guid);
    }
    expect(await eventsOf(runs)).toEqual(before);
  });

  it('a calibration of another bank is 422 [MA-052, MA-183, MA-195]', async () => {
    const { scaleCalibrationId } = simulationBody(stack, { bank: 'generated' });
    const body = { ...simulationBody(stack), scaleCalibrationId };
    expect(refusalOf(await send({ body }))).toBe('422 calibration-invalid');
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

  it.each<[string, (guids: readonly string[]) => readonly string[]]>([
    ['in capitals', ([first]) => [first!.toUpperCase()]],
    ['that are no UUIDs', () => ['kc-1']],
    ['twice', ([first]) => [first!, first!]],
    ['in descending order', () => guids().toSorted().reverse()],
  ])(
    'a manifest with GUIDs %s is 502, for a start and for a simulation [MA-026, MA-221]',
    async (_, spoilt) => {
      const body = simulationBody(stack);
      const restore = await runs.change({
        entity: 'bank.manifest',
        id: body.bankOperationId,
        changes: [{ pointer: '/members/0/kcGuids', value: spoilt(guids()) }],
      });
      const replies = [
        await send({ body }),
        await callMastery(stack, startAdaptiveRun, { body: runs.startBody() }),
      ];
      await restore();
      for (const reply of replies)
        expect(problemOf(reply)).toMatchObject({ status: 502, code: 'qti-adaptive-pool-invalid' });
    },
  );

  it('a pool that breaks its contract is 502, and nothing is simulated on a part of it [MA-125, MA-185, MA-222]', async () => {
    const body = simulationBody(stack);
    const before = await eventsOf(runs);
    const restore = await runs.change({
      entity: 'bank.manifest',
      id: body.bankOperationId,
      changes: [{ pointer: '/members/0' }],
    });
    const reply = await send({ body });
    await restore();
    expect(problemOf(reply)).toMatchObject({ status: 502, code: 'qti-adaptive-pool-invalid' });
    expect(await eventsOf(runs)).toEqual(before);
  });
});
