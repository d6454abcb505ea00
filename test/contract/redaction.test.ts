import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localCredentials, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import {
  advanceAdaptiveRun,
  inspectAdaptiveRun,
  readScaleCalibration,
  readSelectionPolicy,
  simulateScoreRecovery,
  startAdaptiveRun,
} from '#shared/contract/mastery/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { lineMembers } from '#shared/observability/line-formatter.ts';
import { logCodes } from '#shared/observability/log-codes.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, PlatformState } from '#test/support/adaptive-run.ts';
import { callMastery } from '#test/support/mastery-call.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { profile, simulationBody } from '#test/support/score-recovery.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { bankOf, takeJourney } from '#test/support/take-journey.ts';
import type { Journey } from '#test/support/take-journey.ts';

/** Says what it is, in whatever form it turns up. */
const CANARY = 'canary5eed0fca11';
const forms = [
  CANARY,
  Buffer.from(CANARY).toString('base64url').slice(0, -1),
  Buffer.from(CANARY).toString('hex'),
];

let stack: TestStack;
let runs: AdaptiveRuns;
let journey: Journey;
let state: PlatformState;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  runs = openAdaptiveRuns(stack);
  const bank = bankOf(stack.seed, 'tenant-aurora', 'fraction-subtraction-short');
  journey = await takeJourney(runs, { bank, learner: 1, mode: 'production_learner' });
  state = await runs.state();
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

const routes = [
  startAdaptiveRun,
  inspectAdaptiveRun,
  advanceAdaptiveRun,
  readSelectionPolicy,
  readScaleCalibration,
  simulateScoreRecovery,
] as const;

/** A request of each route that would be served. */
function good(route: Route): GatewayCall {
  const body = runs.startBody() as Readonly<Record<string, string>>;
  const { continuationToken } = journey.last.body;
  switch (route) {
    case startAdaptiveRun:
      return { body };
    case inspectAdaptiveRun:
      return { body: { continuationToken } };
    case advanceAdaptiveRun:
      return { body: { continuationToken }, ifMatch: journey.last.etag };
    case readSelectionPolicy:
      return { path: { policyId: body['selectionPolicyId']! } };
    case simulateScoreRecovery:
      return { body: simulationBody(stack) };
    default:
      return { path: { calibrationId: body['scaleCalibrationId']! } };
  }
}

/** The same request with the canary in one place, good or bad. */
function spoilt(route: Route): readonly (readonly [string, GatewayCall])[] {
  const call = good(route);
  const body = call.body ?? {};
  const token = `${journey.last.body.continuationToken.split('.').slice(0, 4).join('.')}.${CANARY}`;
  const headers = [
    'Authorization',
    'Content-Type',
    'If-Match',
    'User-Agent',
    'Accept',
    'Cookie',
    'Referer',
    'Origin',
    'X-Tenant-Id',
    'X-Request-Id',
    'X-Amzn-RequestId',
    'X-Amzn-Trace-Id',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-HTTP-Method',
    'X-Learner-Name',
    'traceparent',
    'tracestate',
    'baggage',
  ];
  return [
    ...headers.map((name) => [name, { ...call, headers: { [name]: CANARY } }] as const),
    ['Authorization, a scheme', { ...call, headers: { Authorization: `Basic ${CANARY}` } }],
    [
      'Authorization, a token',
      { ...call, headers: { Authorization: `Bearer ${CANARY}.${CANARY}.${CANARY}` } },
    ],
    ['a query value', { ...call, query: `?view=${CANARY}` }],
    ['a query name that is no name', { ...call, query: `?%20${CANARY}=1` }],
    ...Object.keys(call.path ?? {}).map((name) => [name, { ...call, path: { [name]: CANARY } }] as const),
    ...(route.request.idempotencyKey
      ? ([
          ['Idempotency-Key', { ...call, key: `${CANARY}-${randomUUID()}` }],
          ['Idempotency-Key, malformed', { ...call, key: `${CANARY} ${CANARY}` }],
        ] as const)
      : []),
    ...(route.request.body === undefined
      ? []
      : ([
          ...Object.keys(body).map((name) => [name, { ...call, body: { ...body, [name]: CANARY } }] as const),
          ...Object.keys(body).map(
            (name) => [`${name}, a list`, { ...call, body: { ...body, [name]: [CANARY] } }] as const,
          ),
          ['a token’s tag', { ...call, body: { ...body, continuationToken: token } }],
          ['an unknown field', { ...call, body: { ...body, studentName: CANARY } }],
          ['a name that is no name', { ...call, body: { ...body, [`my ${CANARY}`]: 1 } }],
          ['no JSON', { ...call, body: `{"a": ${CANARY}` }],
          ['a member twice', { ...call, body: `{"a x": 1, "b": "${CANARY}", "b": "${CANARY}"}` }],
          ['a bare text', { ...call, body: `"${CANARY}"` }],
        ] as const)),
    ...(route === simulateScoreRecovery ? spoiltProfiles() : []),
  ];
}

/** Simulations with the canary inside a profile. One in the id of a good profile comes back, as it must. */
function spoiltProfiles(): readonly (readonly [string, GatewayCall])[] {
  const body = simulationBody(stack);
  const [first] = body.profiles;
  return [
    { syntheticProfileId: CANARY, knownMastery: first!.knownMastery },
    { ...first, learnerName: CANARY },
    { ...first, knownMastery: CANARY },
    profile('synthetic:canary', [CANARY], () => 0.5),
    profile('synthetic:canary', [`my ${CANARY}`], () => 0.5),
    { ...first, knownMastery: { [Object.keys(first!.knownMastery)[0]!]: CANARY } },
  ].map((spoiltProfile, at) => [`profile ${at}`, { body: { ...body, profiles: [spoiltProfile] } }] as const);
}

const writtenOut = (): string => JSON.stringify(stack.logs());

describe.each(routes)('a canary sent to $operationId', (route) => {
  it('in any place comes back in no answer and stands in no log line [MA-007, MA-063, MA-089, MA-206, MA-210]', async () => {
    const statuses = new Set<number>();
    let requests = 0;
    for (const [place, call] of spoilt(route)) {
      const reply = await callMastery(stack, route, call);
      statuses.add(reply.status);
      requests += 1;
      expect([place, said(reply, forms)]).toEqual([place, []]);
    }
    // A 424 or a 500 would say that a stranger’s text had got somewhere.
    expect([...statuses].filter((status) => status >= 500 || status === 424)).toEqual([]);
    expect(statuses).toContain(400);
    expect(statuses).toContain(401);
    expect(statuses).toContain(route.success.status);
    await vi.waitFor(() => {
      const completed = stack
        .logs()
        .filter(
          ({ function: name, line }) => name === route.operationId && codeOf(line) === 'REQUEST_COMPLETED',
        );
      expect(completed.length).toBeGreaterThanOrEqual(requests);
    });
    const text = writtenOut();
    expect(forms.filter((form) => text.includes(form))).toEqual([]);
  });
});

describe('a learner’s whole run', () => {
  /** Everything that the service must not keep, by what it is. */
  function secrets(): Readonly<Record<string, readonly string[]>> {
    const answers = journey.steps.map(({ given }) => given.body);
    const sessions = Object.entries(state.entities['qti.session']!);
    const { credentials } = stack.seededTenants.get('tenant-aurora')!.platform;
    return {
      learner: [(runs.startBody() as { resultsStudentId: string }).resultsStudentId],
      candidate: sessions.map(([, held]) => (held as { candidateRef: string }).candidateRef),
      session: sessions.map(([id]) => id),
      item: journey.answered.map(({ item }) => item.artifactVersionId),
      attempt: sessions.flatMap(([, held]) =>
        (held as { session: { attempts: { attemptId: string }[] } }).session.attempts.map(
          ({ attemptId }) => attemptId,
        ),
      ),
      continuation: answers.map(({ continuationToken }) => continuationToken.split('.')[3]!.slice(0, 40)),
      score: answers.flatMap(({ scale }) =>
        scale === null ? [] : [String(scale.scaleScore), String(scale.standardError)],
      ),
      posterior: answers.flatMap(({ kcClassifications }) =>
        kcClassifications.map(({ posteriorProbability }) => String(posteriorProbability)),
      ),
      result: [journey.last.body.resultRecordRef!, journey.last.body.caliperEventRef!],
      credential: Object.values(credentials),
    };
  }

  it('leaves none of its facts in any log line [MA-007, MA-058, MA-063, MA-088]', () => {
    const text = writtenOut();
    expect(text).toContain('RUN_RECEIPT');
    for (const [what, values] of Object.entries(secrets())) {
      expect(values.length).toBeGreaterThan(0);
      expect([what, values.filter((value) => text.includes(value))]).toEqual([what, []]);
    }
    expect(text).not.toMatch(/mastered|not_yet|"gap"|Bearer|eyJ[\w-]+\./);
  });

  it('leaves lines of registered codes alone, with their registered fields', () => {
    for (const { line } of stack.logs()) {
      const code = codeOf(line);
      expect(Object.keys(logCodes)).toContain(code);
      expect(code).not.toBe('LOG_CODE_UNKNOWN');
      const allowed: string[] = [
        ...lineMembers,
        ...Object.keys(logCodes[code as keyof typeof logCodes].fields),
      ];
      expect(Object.keys(line as object).filter((name) => !allowed.includes(name))).toEqual([]);
    }
  });

  it('leaves in the control table digests, states, times and ids of operations, and no more [MA-002, MA-004, MA-006, MA-058, MA-145, MA-146]', async () => {
    const clients = createEndpointClients({
      endpoint: stack.urls.awsUrl,
      region: localRegion,
      credentials: localCredentials,
    });
    const scan = async (table: 'control' | 'records') =>
      (await clients.dynamo.send(new ScanCommand({ TableName: localTableName(table) }))).Items ?? [];
    const [control, records] = await Promise.all([scan('control'), scan('records')]);
    clients.destroy();
    expect(control.length).toBeGreaterThanOrEqual(journey.steps.length);
    const allowed = [
      'attemptId',
      'createdAt',
      'hash',
      'id',
      'leaseUntil',
      'operationId',
      'purgeAt',
      'state',
      'terminalStatus',
    ];
    for (const item of control) {
      expect(Object.keys(item).filter((name) => !allowed.includes(name))).toEqual([]);
      const state = item['state']?.S;
      expect(['started', 'completed', 'failed']).toContain(state);
      expect(item['terminalStatus'] !== undefined).toBe(state !== 'started');
      expect(item['id']?.S).toMatch(/^[\w-]{43}$/);
      expect(item['hash']?.S).toMatch(/^[\w-]{43}$/);
      expect(item['operationId']?.S).toMatch(/^op_[\w-]+$/);
    }
    const text = JSON.stringify(control);
    for (const [what, values] of Object.entries({ ...secrets(), forms }))
      expect([what, values.filter((value) => text.includes(value))]).toEqual([what, []]);
    // The records are those of the release, to which no run has added.
    const kinds = new Set(
      records.map((item) => /#(policy|calibration|analysis-policy)#/.exec(item['pk']?.S ?? '')?.[1]),
    );
    expect(kinds).toEqual(new Set(['policy', 'calibration', 'analysis-policy']));
  });
});

/** Which of the words an answer says, in its body or a header. */
function said({ headers, text }: GatewayReply, words: readonly string[]): readonly string[] {
  const all = `${JSON.stringify([...headers])}\n${text}`;
  return words.filter((word) => all.includes(word));
}

function codeOf(line: unknown): unknown {
  return typeof line === 'object' && line !== null && 'code' in line ? line.code : undefined;
}
