import { describe, expect, it } from 'vitest';
import { provable } from '#shared/contract/gates.ts';
import { materializeAttemptReport as route } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { indistinguishable, type GatewayCall, type GatewayReply } from '#test/support/gateway-call.ts';
import { openMaterializer, outcomeOf, type Materialization } from '#test/support/materialize.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { reportsProblemOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { startTestStack, useTestStack } from '#test/support/stack.ts';

// What may not be materialized, over whole functions: nothing is given away, nothing written, and no operation begun.

const stack = useTestStack();
const materializer = lazily(() => openMaterializer(stack, 'tenant-aurora'));
const other = lazily(() => openMaterializer(stack, 'tenant-borealis'));

const fixtures = () => materializer.caller.fixtures('tenant-aurora');
type Claims = NonNullable<GatewayCall['claims']>;

/** Claims to every candidate and to no administration. */
const candidates = (more: Claims = {}): Claims => ({ studentIds: fixtures().students, ...more });
const administrations = (): string[] => Object.values(fixtures().administrationOf);
const everything = (): Claims =>
  candidates({ administrationIds: [...administrations(), 'nobodys-administration'] });

/** The administration of an attempt, as its owner holds it. */
function administrationOf(role: 'gatePass' | 'formative') {
  const id = fixtures().administrationOf[role];
  return stack.seededTenants
    .get('tenant-aurora')!
    .platform.reports.administrations.find(({ administrationId }) => administrationId === id)!;
}

/** The answer to a request that is refused before its work begins. */
async function refused(request: Materialization, changes?: GatewayCall): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () => request.send(changes));
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(await request.record()).toBeUndefined();
  expect(result.headers.has('idempotent-replayed')).toBe(false);
  return result;
}

describe('an administration that is not the attempt’s', () => {
  const mismatch = '400 validation';

  it('is refused in the same words, whether there is such an administration or not, and Administration is not asked [RP-283, RP-331]', async () => {
    const answers: object[] = [];
    const ids = [
      fixtures().administrationOf.formative,
      other.caller.fixtures('tenant-borealis').administrationOf.gatePass,
      'nobodys-administration',
    ];
    for (const administrationId of ids) {
      for (const claims of [everything(), candidates()]) {
        const request = materializer.of({ ...materializer.body('gatePass'), administrationId });
        const { result, calls } = await callsDuring(stack, () => refused(request, { claims }));
        expect(outcomeOf(result)).toBe(mismatch);
        expect(calls.map(({ operation }) => operation)).not.toContain('administration.read_administration');
        expect(reportsProblemOf(result).fieldErrors).toEqual([
          { pointer: '/body/administrationId', code: 'not-allowed', message: expect.any(String) as string },
        ]);
        expect(result.text).not.toContain(administrationId);
        expect(result.text).not.toContain(fixtures().administrationOf.gatePass);
        answers.push(indistinguishable(result));
      }
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  it('is looked at before whether the attempt is scored', async () => {
    const request = materializer.of({ ...materializer.body('unscored'), administrationId: 'another' });
    expect(outcomeOf(await refused(request))).toBe(mismatch);
  });
});

describe('the attempt’s administration', () => {
  it('is asked for only where the claims do not name it, and then the report has its receipt [RP-006]', async () => {
    const { administrationId, classSourcedId } = administrationOf('gatePass');
    const ask = async (claims: Claims) => {
      const { result, calls } = await callsDuring(stack, () =>
        materializer.request('gatePass').send({ claims: candidates(claims) }),
      );
      const { report } = route.success.schema.parse(JSON.parse(result.text));
      return {
        asked: calls.some(({ operation }) => operation === 'administration.read_administration'),
        receipt: report.sources.find(({ resourceId }) => resourceId === administrationId),
      };
    };
    expect(await ask({ administrationIds: [administrationId] })).toEqual({
      asked: false,
      receipt: undefined,
    });
    expect(await ask({ classSourcedIds: [classSourcedId ?? ''] })).toMatchObject({
      asked: true,
      receipt: { service: 'unknown', status: 'current' },
    });
  });
});

it('what cannot be settled is 503 naming QTI, before any operation has begun [RP-062, RP-258, RP-282]', async () => {
  expect(outcomeOf(await refused(materializer.request('unscored')))).toBe('503 dependency-incomplete qti');
  const id = fixtures().attempts.gatePass;
  const { reports } = stack.seededTenants.get('tenant-aurora')!.platform;
  const { outcomes } = reports.attempts.find(({ attemptId }) => attemptId === id)!;
  for (const [pointer, value] of [
    ['/outcomes', []],
    ['/outcomes', [...outcomes, outcomes[0]]],
    ['/freshness', 'stale'],
    ['/freshness', 'unknown'],
  ] as const) {
    await stack.control('PATCH', 'entities', {
      tenantId: 'tenant-aurora',
      entity: 'qti.attempt_evidence',
      id,
      changes: [{ pointer, value }],
    });
    expect(outcomeOf(await refused(materializer.request('gatePass')))).toBe('503 dependency-incomplete qti');
    await stack.control('POST', 'reset');
  }
});

describe('an attempt of a kind that is not released', () => {
  it('is refused before anything is written and before any operation has begun, and every other kind is not [RP-026, RP-258]', async () => {
    const proved = provable.filter((name) => name !== 'mastery_engine_production_learner');
    await using unproved = await startTestStack({ proved });
    const unreleased = openMaterializer(unproved, 'tenant-aurora');
    const request = unreleased.request('diagnostic');
    const before = await unreleased.written();
    const { result, calls } = await callsDuring(unproved, () => request.send());
    expect(outcomeOf(result)).toBe('503 dependency-incomplete mastery_engine');
    expect(calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await unreleased.written()).toEqual(before);
    expect(await request.record()).toBeUndefined();
    for (const role of ['gatePass', 'formative'] as const) await unreleased.request(role).succeed();
  });
});
