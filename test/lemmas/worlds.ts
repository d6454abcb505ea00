import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes, type OperationId } from '#shared/contract/routes.ts';
import { openAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { callGateway, type GatewayCall, type GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { openReportsCaller, type ReportsCaller } from '#test/support/reports-call.ts';
import { simulationBody } from '#test/support/score-recovery.ts';
import type { TestStack } from '#test/support/stack.ts';

// What cannot be derived from a route's row: how a request is served in the fixtures, and what of it belongs to a tenant.

/** Resource claims of a token. */
export type Claims = NonNullable<GatewayCall['claims']>;
/** A part of a request and the name of a value in it. */
export type Place = readonly [part: 'path' | 'body', name: string];

interface Recipe {
  /** A request that is served, and can be sent as often as wanted. */
  readonly request: (tenant: Tenant) => Promise<GatewayCall> | GatewayCall;
  /** The values that name something of the tenant's own; none if the route returns the same to every tenant. */
  readonly owned: readonly Place[];
  /** Another body that is served, for a route with a key and a body in which no value is owned. */
  readonly otherBody?: unknown;
  /**
   * Resource claims, each sufficient for the request and none with more than it takes; absent: it takes none. The first is that of the
   * request itself.
   */
  readonly openers?: (tenant: Tenant) => readonly [Claims, ...Claims[]];
}

/** One tenant's things that requests name. What takes a request to make is made when it is first asked for. */
interface Tenant {
  readonly fixtures: ReturnType<ReportsCaller['fixtures']>;
  readonly startBody: StartAdaptiveRunRequest;
  readonly simulationBody: ReturnType<typeof simulationBody>;
  /** The candidate of an attempt. */
  readonly candidateOf: (attemptId: string) => string;
  /** Claims that let in to an administration, each alone: itself, its class or its school. */
  readonly administrationClaims: (administrationId: string) => readonly Claims[];
  readonly startedRun: () => Promise<RunGiven>;
  /** Of the first administration of the fixtures, ended. */
  readonly improvementRun: () => Promise<string>;
}

const testIds = [
  'selectionPolicyId',
  'scaleCalibrationId',
  'testSpecId',
  'testBankId',
  'bankOperationId',
].map((name): Place => ['body', name]);
const attempt = {
  owned: [['path', 'attemptId']],
  request: ({ fixtures }: Tenant) => ({ path: { attemptId: fixtures.attempts.gateFail } }),
  openers: ({ fixtures, candidateOf }: Tenant) => [{ studentIds: [candidateOf(fixtures.attempts.gateFail)] }],
} satisfies Recipe;
const continued = async ({ startedRun }: Tenant): Promise<GatewayCall> => ({
  body: { continuationToken: (await startedRun()).body.continuationToken },
});
const ofFirstAdministration = ({
  fixtures,
  administrationClaims,
}: Tenant): readonly [Claims, ...Claims[]] => {
  const [first = {}, ...others] = administrationClaims(fixtures.administrations[0] ?? '');
  return [first, ...others];
};
const improvementRun = {
  owned: [['path', 'improvementRunId']],
  request: async (tenant: Tenant) => ({ path: { improvementRunId: await tenant.improvementRun() } }),
  openers: ofFirstAdministration,
} satisfies Recipe;

const recipes: { readonly [Operation in OperationId]: Recipe } = {
  startAdaptiveRun: { owned: testIds, request: ({ startBody }) => ({ body: startBody }) },
  inspectAdaptiveRun: { owned: [['body', 'continuationToken']], request: continued },
  advanceAdaptiveRun: {
    owned: [['body', 'continuationToken']],
    request: async (tenant) => ({
      ...(await continued(tenant)),
      ifMatch: (await tenant.startedRun()).etag,
    }),
  },
  readSelectionPolicy: {
    owned: [['path', 'policyId']],
    request: ({ startBody }) => ({ path: { policyId: startBody.selectionPolicyId } }),
  },
  readScaleCalibration: {
    owned: [['path', 'calibrationId']],
    request: ({ startBody }) => ({ path: { calibrationId: startBody.scaleCalibrationId } }),
  },
  simulateScoreRecovery: { owned: testIds, request: (tenant) => ({ body: tenant.simulationBody }) },
  readAttemptReport: attempt,
  readReadiness: attempt,
  listCandidateReports: {
    owned: [['path', 'candidateSourcedId']],
    request: ({ fixtures }) => ({ path: { candidateSourcedId: fixtures.candidates.withHistory } }),
    openers: ({ fixtures }) => [{ studentIds: [fixtures.candidates.withHistory] }],
  },
  readClassCohort: {
    owned: [['path', 'classSourcedId']],
    request: ({ fixtures }) => ({ path: { classSourcedId: fixtures.classes[0] ?? '' } }),
    openers: ({ fixtures }) => [{ classSourcedIds: fixtures.classes.slice(0, 1) }],
  },
  readSchoolGradeCohort: {
    owned: [['path', 'schoolSourcedId']],
    request: ({ fixtures }) => ({ path: { ...fixtures.schools[0] } }),
    openers: ({ fixtures }) => [{ schoolSourcedIds: [fixtures.schools[0]?.schoolSourcedId ?? ''] }],
  },
  readEquivalence: {
    owned: [['path', 'qtiTestId']],
    request: ({ fixtures }) => ({ path: { qtiTestId: fixtures.forms.equivalent } }),
  },
  materializeAttemptReport: {
    owned: [['body', 'attemptId']],
    request: ({ fixtures: { attempts, administrationOf } }) => ({
      body: { attemptId: attempts.gatePass, administrationId: administrationOf.gatePass },
    }),
    openers: ({ fixtures: { attempts, administrationOf }, candidateOf, administrationClaims }) => {
      const student = { studentIds: [candidateOf(attempts.gatePass)] };
      const [first, ...others] = administrationClaims(administrationOf.gatePass).map((claims) => ({
        ...student,
        ...claims,
      }));
      return [first ?? student, ...others];
    },
  },
  analyzeAdministration: {
    owned: [['path', 'administrationId']],
    request: ({ fixtures }) => ({ path: { administrationId: fixtures.administrations[0] ?? '' } }),
    openers: ofFirstAdministration,
  },
  readImprovementRun: improvementRun,
  readAlignmentReport: {
    ...improvementRun,
    owned: [...improvementRun.owned, ['path', 'sourceKey']],
    request: async (tenant) => {
      const { path } = await improvementRun.request(tenant);
      return { path: { ...path, sourceKey: tenant.fixtures.sourceKeys[0] ?? '' } };
    },
  },
  listRevisionOrders: improvementRun,
};

/** What is done for all routes alike, each with its entry. */
export const operations: readonly { readonly route: Route; readonly operation: OperationId }[] = routes.map(
  (route) => {
    if (!Object.hasOwn(recipes, route.operationId))
      throw new Error(`${route.operationId}: export its row under its operation id`);
    return { route, operation: route.operationId as OperationId };
  },
);

/** Requests of every operation on one stack, for any of its tenants. */
export interface Worlds {
  /**
   * A request that is served, whose claims name just what it takes.
   * @param tenantId default: `tenant-aurora`
   */
  readonly request: (operation: OperationId, tenantId?: string) => Promise<GatewayCall>;
  /** See `Recipe`. */
  readonly openers: (operation: OperationId, tenantId?: string) => readonly Claims[];
  readonly send: (operation: OperationId, call: GatewayCall) => Promise<GatewayReply>;
}

/** The values of an operation's request that name something of the tenant's own. */
export function ownedBy(operation: OperationId): readonly Place[] {
  return recipes[operation].owned;
}

/** The call with another body that has the form of its route. */
export function withOtherBody(operation: OperationId, call: GatewayCall): GatewayCall {
  const { owned, otherBody } = recipes[operation];
  const place = owned.find(([part]) => part === 'body');
  if (place !== undefined) return naming(call, place, nobodys(valueAt(call, place)));
  if (otherBody === undefined)
    throw new Error(
      `${operation}: no value of its body is in "owned"; add a second body as "otherBody" to its entry in test/lemmas/worlds.ts`,
    );
  return { ...call, body: otherBody };
}

export function valueAt(call: GatewayCall, [part, name]: Place): string {
  const value = (call[part] as Readonly<Record<string, string>> | undefined)?.[name];
  if (value === undefined)
    throw new Error(
      `the request has no /${part}/${name}, which "owned" of its entry in test/lemmas/worlds.ts names`,
    );
  return value;
}

/** The call with another value in a place. */
export function naming(call: GatewayCall, [part, name]: Place, value: string): GatewayCall {
  return { ...call, [part]: { ...(call[part] as object), [name]: value } };
}

/** Whether an operation's request takes resource claims. */
export function takesClaims(operation: OperationId): boolean {
  return recipes[operation].openers !== undefined;
}

/** @example const reply = await worlds.send('readReadiness', await worlds.request('readReadiness')); */
export function openWorlds(stack: TestStack): Worlds {
  const caller = openReportsCaller(stack);
  const known = new Map<string, Tenant>();

  function open(tenantId: string): Tenant {
    const runs = openAdaptiveRuns(stack, tenantId);
    const improvement = openImprovementRuns(stack, tenantId);
    const { reports: held } = stack.seededTenants.get(tenantId)!.platform;
    const fixtures = caller.fixtures(tenantId);
    let started: Promise<RunGiven> | undefined;
    let analyzed: Promise<string> | undefined;
    return {
      fixtures,
      startBody: runs.startBody(),
      simulationBody: simulationBody(stack, { tenantId }),
      candidateOf: (id) => held.attempts.find(({ attemptId }) => attemptId === id)!.candidateSourcedId,
      administrationClaims(id) {
        const { classSourcedId, schoolSourcedId } = held.administrations.find(
          ({ administrationId }) => administrationId === id,
        )!;
        return [
          { administrationIds: [id] },
          ...(classSourcedId === null ? [] : [{ classSourcedIds: [classSourcedId] }]),
          ...(schoolSourcedId === null ? [] : [{ schoolSourcedIds: [schoolSourcedId] }]),
        ];
      },
      startedRun: () => (started ??= runs.start().sendForRun()),
      improvementRun: () =>
        (analyzed ??= improvement.analyze(fixtures.administrations[0] ?? '').then(async (run) => {
          await stack.improvement.settled();
          return run.improvementRunId;
        })),
    };
  }
  const tenant = (tenantId: string): Tenant => {
    const found = known.get(tenantId) ?? open(tenantId);
    known.set(tenantId, found);
    return found;
  };
  const openers: Worlds['openers'] = (operation, tenantId = 'tenant-aurora') =>
    recipes[operation].openers?.(tenant(tenantId)) ?? [];

  return {
    async request(operation, tenantId = 'tenant-aurora') {
      const call = await recipes[operation].request(tenant(tenantId));
      return { tenantId, ...call, claims: openers(operation, tenantId)[0] ?? {} };
    },
    openers,
    send(operation, call) {
      const { route } = operations.find((row) => row.operation === operation)!;
      const url = route.service === 'mastery' ? stack.urls.masteryUrl : stack.urls.reportsUrl;
      return callGateway(stack, url, route, call);
    },
  };
}

/** A value of the same form that nobody has. */
export function nobodys(value: string): string {
  const at = value.length - 8;
  return `${value.slice(0, at)}${value[at] === '0' ? '1' : '0'}${value.slice(at + 1)}`;
}

export const claimNames = ['studentIds', 'classSourcedIds', 'schoolSourcedIds', 'administrationIds'] as const;

/** Every claim with every id. */
export const everyClaim = (ids: readonly string[]): Claims =>
  Object.fromEntries(claimNames.map((name) => [name, ids]));
