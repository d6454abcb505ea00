import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import type { Route } from '#shared/contract/route.ts';
import {
  advanceAdaptiveRun,
  inspectAdaptiveRun,
  readScaleCalibration,
  readSelectionPolicy,
  simulateScoreRecovery,
  startAdaptiveRun,
} from '#shared/contract/mastery/routes.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunReply } from '#test/support/adaptive-run.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { simulationBody } from '#test/support/score-recovery.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

/** Something that belongs to a tenant, and the routes that it can be named on. */
interface Reference {
  readonly what: string;
  readonly route: Route;
  /** The whole request with this tenant's own value in its place. */
  readonly own: (tenantId: string) => GatewayCall;
  /** The same request with another value. */
  readonly naming: (tenantId: string, value: string) => GatewayCall;
  readonly valueOf: (tenantId: string) => string;
  /** Which rules hide another tenant's. */
  readonly rules: string;
}

let stack: TestStack;
const runs = new Map<string, AdaptiveRuns>();
const started = new Map<string, RunGiven>();
beforeAll(async () => {
  stack = await startTestStack();
  for (const tenantId of localTenantIds) {
    const own = openAdaptiveRuns(stack, tenantId);
    runs.set(tenantId, own);
    started.set(tenantId, await own.start().sendForRun());
  }
});
afterAll(async () => {
  for (const own of runs.values()) own.close();
  await stack.close();
});

type StartBody = Readonly<Record<string, string>>;
const startBody = (tenantId: string): StartBody => runs.get(tenantId)!.startBody() as StartBody;

/** The ids that start and simulation name a test by. */
const names = [
  'selectionPolicyId',
  'scaleCalibrationId',
  'testSpecId',
  'testBankId',
  'bankOperationId',
] as const;

function testReferences(route: Route, hidden: string, bodyOf: (tenantId: string) => object): Reference[] {
  return names.map((name) => ({
    what: name,
    route,
    own: (tenantId) => ({ body: bodyOf(tenantId) }),
    naming: (tenantId, value) => ({ body: { ...bodyOf(tenantId), [name]: value } }),
    valueOf: (tenantId) => startBody(tenantId)[name]!,
    rules: name === 'selectionPolicyId' || name === 'scaleCalibrationId' ? `MA-104, ${hidden}` : hidden,
  }));
}

const runReferences = [inspectAdaptiveRun, advanceAdaptiveRun].map((route): Reference => {
  const naming = (tenantId: string, continuationToken: string): GatewayCall => ({
    body: { continuationToken },
    ...(route.request.ifMatch ? { ifMatch: started.get(tenantId)!.etag } : {}),
  });
  const valueOf = (tenantId: string): string => started.get(tenantId)!.body.continuationToken;
  return {
    what: 'the continuation',
    route,
    naming,
    valueOf,
    own: (tenantId) => naming(tenantId, valueOf(tenantId)),
    rules: 'MA-159',
  };
});

function readReference(route: Route, parameter: string, name: string, rules: string): Reference {
  const valueOf = (tenantId: string): string => startBody(tenantId)[name]!;
  const naming = (_: string, value: string): GatewayCall => ({ path: { [parameter]: value } });
  const own = (tenantId: string): GatewayCall => naming(tenantId, valueOf(tenantId));
  return { what: 'the id', route, naming, valueOf, own, rules };
}

const references = [
  ...testReferences(startAdaptiveRun, 'MA-151', startBody),
  ...runReferences,
  readReference(readSelectionPolicy, 'policyId', 'selectionPolicyId', 'MA-104, MA-174'),
  readReference(readScaleCalibration, 'calibrationId', 'scaleCalibrationId', 'MA-104, MA-176'),
  ...testReferences(simulateScoreRecovery, 'MA-180', (tenantId) => simulationBody(stack, { tenantId })),
];

/** A value of the same form that nobody owns. */
function nobodys(value: string): string {
  const at = value.length - 8;
  return `${value.slice(0, at)}${value[at] === '0' ? '1' : '0'}${value.slice(at + 1)}`;
}

const directions = [
  ['tenant-aurora', 'tenant-borealis'],
  ['tenant-borealis', 'tenant-aurora'],
] as const;

it('looks at every route of the service', () => {
  const looked = new Set(references.map(({ route }) => route.operationId));
  expect(looked).toEqual(new Set(routesOf('mastery').map(({ operationId }) => operationId)));
});

describe.each(directions)('%s and what belongs to %s', (tenantId, otherTenant) => {
  const send = (route: Route, call: GatewayCall): Promise<GatewayReply> =>
    callMastery(stack, route, { tenantId, ...call });

  it.each(
    references.map(
      (reference) => [reference.route.operationId, reference.what, reference.rules, reference] as const,
    ),
  )(
    '%s, %s: another tenant’s is like nobody’s, byte for byte; one’s own is served [%s, MA-214]',
    async (_operationId, _what, _rules, { route, own, naming, valueOf }) => {
      const foreign = await callsDuring(stack, () => send(route, naming(tenantId, valueOf(otherTenant))));
      const nobody = await callsDuring(stack, () =>
        send(route, naming(tenantId, nobodys(valueOf(otherTenant)))),
      );
      expect(refusalOf(foreign.result)).toBe('404 resource-not-found');
      expect(indistinguishable(foreign.result)).toEqual(indistinguishable(nobody.result));
      // Nor can it be told by what was asked upstream, and by whom.
      const asked = ({ calls }: typeof foreign) => calls.map(({ operation }) => operation).sort();
      expect(asked(foreign)).toEqual(asked(nobody));
      expect(foreign.calls.filter((call) => call.tenantId !== tenantId)).toEqual([]);
      expect((await send(route, own(tenantId))).status).toBe(route.success.status);
    },
  );

  it('every call of a run goes out as the verified tenant, whatever else a request says [MA-008, MA-009, MA-015, MA-200]', async () => {
    for (const headers of [
      {},
      { 'X-Tenant-Id': otherTenant, 'X-Forwarded-Host': otherTenant, Tenant: otherTenant },
    ]) {
      for (const { route, own, naming, valueOf } of references) {
        const mine = await callsDuring(stack, () => send(route, { ...own(tenantId), headers }));
        expect(mine.result.status).toBe(route.success.status);
        expect(mine.calls.filter((call) => call.tenantId !== tenantId)).toEqual([]);
        expect(mine.calls.filter(({ path }) => path.includes(otherTenant))).toEqual([]);
        const theirs = await send(route, { ...naming(tenantId, valueOf(otherTenant)), headers });
        expect(refusalOf(theirs)).toBe('404 resource-not-found');
      }
    }
  });

  it('calls the owners with a credential that is not the caller’s: that one they refuse [MA-011]', async () => {
    const { calls } = await callsDuring(stack, () => send(startAdaptiveRun, { body: startBody(tenantId) }));
    const reads = calls.filter(({ method }) => method === 'GET');
    expect(reads.length).toBeGreaterThan(5);
    const Authorization = `Bearer ${await stack.tokenFor(tenantId, ['mastery:run', 'mastery:read'])}`;
    for (const { path, status } of reads) {
      expect(status).toBeLessThan(400);
      const refused = await fetch(`${stack.urls.platformUrl}${path}`, { headers: { Authorization } });
      expect(refused.status).toBe(403);
    }
  });

  it('a tenant in the query or in the body is refused, also one’s own [MA-187, MA-200]', async () => {
    for (const { route, own } of references) {
      for (const tenant of [tenantId, otherTenant]) {
        const inQuery = await send(route, { ...own(tenantId), query: `?tenantId=${tenant}` });
        expect(refusalOf(inQuery)).toBe('400 invalid-request /query/tenantId unsupported-parameter');
        if (route.request.body === undefined) continue;
        const call = own(tenantId);
        const inBody = await send(route, { ...call, body: { ...(call.body as object), tenantId: tenant } });
        expect(refusalOf(inBody)).toBe('400 invalid-request /body/tenantId unknown-field');
      }
    }
  });

  it('another tenant’s student is like nobody’s to the end, and gets no result [MA-169]', async () => {
    const own = runs.get(tenantId)!;
    const before = await runs.get(otherTenant)!.state();
    const endOf = async (resultsStudentId: string): Promise<RunReply> => {
      let run = await own.start({ ...startBody(tenantId), resultsStudentId }).sendForRun();
      for (;;) {
        const { etag } = await own.playAndInspect(run.body);
        const reply = await own.advance(run.body.continuationToken, etag).send();
        if (reply.kind === 'problem' || reply.body.status !== 'in_progress') return reply;
        run = reply;
      }
    };
    const ends = [await endOf(startBody(otherTenant)['resultsStudentId']!), await endOf(randomUUID())];
    const told = ends.map(({ body }) => {
      const { requestId, instance, upstream, ...rest } = body as Record<string, unknown>;
      const { service, operation } = upstream as Record<string, unknown>;
      return { ...rest, service, operation, named: [typeof requestId, typeof instance] };
    });
    expect(told[0]).toMatchObject({ status: 424, code: 'finalization-incomplete', service: 'results' });
    expect(told[0]).toEqual(told[1]);
    expect(await runs.get(otherTenant)!.state()).toEqual(before);
  });

  it('no answer to one holds anything of the other', async () => {
    const theirs = stack.seededTenants.get(otherTenant)!;
    const words = [
      otherTenant,
      ...theirs.platform.students,
      ...theirs.fixtures.mastery.banks.flatMap(({ kcGuids, testSpecId, testBankId, bankOperationId }) => [
        ...kcGuids,
        testSpecId,
        testBankId,
        bankOperationId,
      ]),
      ...Object.values(theirs.platform.credentials),
    ];
    const answers = await Promise.all(
      references.map(async ({ route, own }) => (await send(route, own(tenantId))).text),
    );
    for (const text of answers) expect(words.filter((word) => text.includes(word))).toEqual([]);
  });
});
