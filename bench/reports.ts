import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { composeAttemptReport, projectAttemptReport } from '#functions/reports/composition/attempt-report.ts';
import type { AttemptFacts } from '#functions/reports/facts/facts.ts';
import type { ReportDependencies } from '#functions/reports/endpoints/support/owners.ts';
import { INDEX_PAGE } from '#functions/reports/endpoints/list-candidate-reports/read-facts.ts';
import { listCandidateReportsOperation } from '#functions/reports/endpoints/list-candidate-reports/operation.ts';
import { readAttemptReportOperation } from '#functions/reports/endpoints/read-attempt-report/operation.ts';
import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { readAttempt } from '#functions/reports/sources/attempt.ts';
import { createSourceReader } from '#functions/reports/sources/reader.ts';
import { awsLambda, isStreaming, ResponseStream, runStreaming } from '#local/gateway/response-stream.ts';
import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import type { Route } from '#shared/contract/route.ts';
import { checkBody, jsonPieces } from '#shared/http/check-response.ts';
import type { Operation, OperationRequest } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import * as operations from '#shared/platform/operations.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamCall } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import { addressOf } from '#shared/platform/transport/address.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { principalWith } from '#test/support/principal.ts';
import { wholeRelease } from '#test/support/release.ts';
import { ATTEMPT_ID, CANDIDATE_ID, makeAttempt, makeHistory, TENANT_ID } from './attempt.ts';
import type { OwnerAnswer } from './attempt.ts';
import { above, duration, guardIn, verdict, ratio, table, timeAll, unwrap } from './measure.ts';
import type { Part, Progress, Report, Timed } from './measure.ts';
import { buildReportFunction, functionVariables, makeReportRequest } from './report-function.ts';
import { openBenchRelease } from './report-release.ts';

/** The largest number of rows that a report may have, and what an item gives evidence for on average. */
const LARGE = { rows: 5_000, evidencePerRow: 5 };
const QUARTER = { rows: LARGE.rows / 4, evidencePerRow: LARGE.evidencePerRow };
const SMALL = { rows: 10, evidencePerRow: 3 };
const PAGE = 100;

/** Aims in milliseconds, on a machine like a Lambda with one whole processor: of CPU for the large report … */
const LARGE_CPU = 150;
/** … and from event to last byte for a small one, of owners who answer at once. */
const SMALL_P50 = 2;
/** Guards, ours: how many times dearer than the runtime's own parser reading a record may be, … */
const READ_GUARD = 6;
/** … than its writer writing a report, … */
const WRITE_GUARD = 2.5;
/** … and four times the rows than a quarter of them. */
const GROWTH_GUARD = 5;

const KEY_SET_URL = 'https://issuer.example/.well-known/jwks.json';
const profile: ServiceProfile = {
  tenantId: TENANT_ID,
  baseUrl: 'https://platform.example',
  credential: secret('credential'),
};
const principal = principalWith({
  tenantId: TENANT_ID,
  scopes: ['reports:read'],
  studentIds: [CANDIDATE_ID],
});
const { proved } = wholeRelease;
const STAGE = 'bench';

const addressIn = (
  operation: UpstreamOperation,
  { path = {}, query = {} }: Pick<UpstreamCall<UpstreamOperation>, 'path' | 'query'>,
): string | undefined => addressOf(operation, profile, path, query);

/** The owners without a wire: values as the client hands them over. */
function platformOf(answers: readonly OwnerAnswer[]): Platform {
  const values = new Map(answers.map((answer) => [addressIn(answer.operation, answer), answer.value]));
  return {
    call: (operation, call) => {
      const address = addressIn(operation, call);
      if (!values.has(address)) throw new Error(`no answer was made for ${operation.id}, ${address}`);
      return Promise.resolve(
        ok({
          // SAFETY: attempt.ts makes values of each operation's own schema.
          value: values.get(address) as never,
          etag: operation.id === operations.readPackage.id ? '"1"' : undefined,
          status: 200,
          upstreamRequestId: undefined,
          bodyHash: '',
        }),
      );
    },
    revalidate: () => Promise.resolve(ok('unchanged')),
    pause: () => Promise.resolve(),
    trace: () => [],
  };
}

function dependenciesOn(platform: Platform): ReportDependencies {
  return {
    profiles: { resolve: () => Promise.resolve(ok(profile)), forget: () => false },
    connect: () => platform,
    frameworks: createFrameworks(),
    now: Date.now,
  };
}

/** An operation from its checked request to the last piece of its answer. */
function answering<R extends Route>(
  route: R,
  operation: Operation<R>,
  { path, query }: Pick<OperationRequest<R>, 'path' | 'query'>,
): () => Promise<number> {
  return async () => {
    const answer = await operation({
      requestId: 'request',
      traceId: 'trace',
      problemsUrl: 'https://docs.example/problems',
      principal,
      path,
      query,
      // SAFETY: a route that reads takes no body.
      body: undefined as OperationRequest<R>['body'],
      ifMatch: undefined,
      proved,
      receivedAt: Date.now(),
      deadline: Infinity,
      log: () => undefined,
      idempotent: () => Promise.reject(new Error('a route that reads has no idempotency')),
    });
    return written(unwrap(checkBody(route.success.schema, unwrap(answer, ({ code }) => code).body), String));
  };
}

/** Writes a checked body piece by piece, as an answer goes out: its number of bytes. */
function written(body: unknown): number {
  let bytes = 0;
  for (const piece of jsonPieces(body)) bytes += Buffer.byteLength(piece);
  return bytes;
}

function attemptAnswering(answers: readonly OwnerAnswer[]): () => Promise<number> {
  return answering(readAttemptReport, readAttemptReportOperation(dependenciesOn(platformOf(answers))), {
    path: { attemptId: ATTEMPT_ID },
    query: { view: 'evidence' },
  });
}

async function largeReport(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('making the attempt');
  const answers = makeAttempt(LARGE);
  const reader = createSourceReader(platformOf(answers), Date.now);
  const facts: AttemptFacts = unwrap(
    await readAttempt(reader, createFrameworks().of(profile), principal, ATTEMPT_ID),
    ({ code }) => code,
  );
  const moment = { observedAt: new Date().toISOString(), requestId: 'request', traceId: 'trace' };
  const compose = () =>
    projectAttemptReport(
      unwrap(composeAttemptReport({ ...facts, proved }), ({ code }) => code),
      'evidence',
      moment,
      'https://docs.example/problems',
    );
  const report = compose();
  const check = () => unwrap(checkBody(readAttemptReport.success.schema, report), String);
  const checked = check();
  const recordText = JSON.stringify(facts.record.value);
  const readRecord = (text: string) => {
    const parsed = unwrap(parseStrictJson(text), ({ kind }) => kind);
    return operations.readSettledRecord.answer.parse(parsed);
  };
  const cases = [
    { name: 'record, JSON.parse', calls: [() => JSON.parse(recordText) as unknown] },
    {
      name: 'record, parsed strictly and validated',
      calls: [() => readRecord(recordText)],
      guard: guardIn(READ_GUARD, isQuick),
    },
    { name: 'composed and projected', calls: [compose] },
    { name: 'checked', calls: [check] },
    { name: 'JSON.stringify', calls: [() => Buffer.byteLength(JSON.stringify(report))] },
    { name: 'written', calls: [() => written(checked)], guard: guardIn(WRITE_GUARD, isQuick) },
    { name: 'all of it, a quarter of the rows', calls: [attemptAnswering(makeAttempt(QUARTER))] },
    { name: 'all of it', calls: [attemptAnswering(answers)], guard: guardIn(GROWTH_GUARD, isQuick) },
  ] satisfies readonly (Timed & { readonly guard?: number })[];
  const timings = await timeAll(cases, isQuick ? 2 : 10, progress);
  /** A guarded case is compared with the case one line above. Calls as long as these are never undisturbed, so CPU is compared. */
  const ratios = timings.map(({ cpu }, n) => cpu / (timings[n - 1]?.cpu ?? NaN));
  const whole = timings.at(-1)?.cpu ?? NaN;
  return {
    text: table(
      [
        `${LARGE.rows.toLocaleString('en')} rows, ${(LARGE.rows * LARGE.evidencePerRow).toLocaleString('en')} evidence rows, ${(written(checked) / 1e6).toFixed(1)} MB`,
        'p50',
        'p95',
        'CPU, mean',
        'CPU to above',
        'guard',
        `aim: CPU ≤ ${LARGE_CPU} ms`,
      ],
      timings.map(({ name, p50, p95, cpu }, n) => {
        const { guard }: { readonly guard?: number } = cases[n] ?? {};
        return [
          name,
          ...[p50, p95, cpu].map(duration),
          ...(guard === undefined ? ['', ''] : [ratio(ratios[n] ?? NaN), `≤ ${guard}`]),
          n === cases.length - 1 ? verdict(whole <= LARGE_CPU) : '',
        ];
      }),
    ),
    missed: cases.flatMap(({ name, guard }, n) =>
      guard === undefined ? [] : above(`report, ${name}, to the line above`, ratios[n] ?? NaN, guard),
    ),
  };
}

async function page(progress: Progress, isQuick: boolean): Promise<Report> {
  const cases = [PAGE / 4, PAGE].map((limit): Timed => {
    const dependencies = dependenciesOn(platformOf(makeHistory(INDEX_PAGE)));
    const operation = listCandidateReportsOperation({ ...dependencies, keys: createMemoryKeyRing() });
    const call = answering(listCandidateReports, operation, {
      path: { candidateSourcedId: CANDIDATE_ID },
      query: { sort: '-modifiedAt', limit },
    });
    return { name: `${limit} rows`, calls: Array.from({ length: isQuick ? 5 : 20 }, () => call) };
  });
  const timings = await timeAll(cases, isQuick ? 2 : 10, progress);
  const [quarter, whole] = timings.map(({ best }) => best);
  const growthGuard = guardIn(GROWTH_GUARD, isQuick);
  const growth = (whole ?? NaN) / (quarter ?? NaN);
  return {
    text: table(
      ['', 'p50', 'p95', 'CPU, mean', 'best', 'to a quarter', 'guard'],
      timings.map(({ name, p50, p95, cpu, best }, n) => [
        name,
        ...[p50, p95, cpu, best].map(duration),
        ...(n === 0 ? [] : [ratio(growth), `≤ ${growthGuard}`]),
      ]),
    ),
    missed: above(`page, ${PAGE} rows, to a quarter of them`, growth, growthGuard),
  };
}

/** The bundle as Lambda runs it, on this thread. */
async function smallReport(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('building');
  const file = await buildReportFunction();
  const { event, jwks } = await makeReportRequest();
  await using release = await openBenchRelease(STAGE);
  const restore = replaceProcess(jwks, makeAttempt(SMALL), release.variables);
  try {
    const { handler: lambda } = (await import(pathToFileURL(file).href)) as { handler: unknown };
    if (!isStreaming(lambda)) throw new Error('the handler does not stream its answer');
    const invoke = async (): Promise<void> => {
      const chunks: Uint8Array[] = [];
      const stream = new ResponseStream((chunk) => {
        chunks.push(chunk);
        return Promise.resolve();
      });
      const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 29_000 };
      await runStreaming(lambda, event, stream, context);
      const text = Buffer.concat(chunks).toString();
      if (!text.startsWith('{"statusCode":200,')) throw new Error(`no report: ${text.slice(0, 2_000)}`);
    };
    const calls = Array.from({ length: isQuick ? 20 : 100 }, () => invoke);
    const timings = await timeAll([{ name: 'report', calls }], isQuick ? 1 : 5, progress);
    return {
      text: table(
        ['p50', 'p95', 'CPU, mean', 'best', `aim: p50 ≤ ${SMALL_P50} ms`],
        timings.map(({ p50, p95, cpu, best }) => [
          ...[p50, p95, cpu, best].map(duration),
          verdict(p50 <= SMALL_P50),
        ]),
      ),
      missed: [],
    };
  } finally {
    restore();
  }
}

/**
 * Gives this process what a function finds in its own: variables, the runtime's `awslambda`, an output for its log lines, and a network where
 * the issuer and all owners answer at once.
 * @returns puts back what was there
 */
function replaceProcess(
  jwks: string,
  answers: readonly OwnerAnswer[],
  variables: Readonly<Record<string, string>>,
): () => void {
  const texts = new Map(
    answers.map((answer) => [addressIn(answer.operation, answer), JSON.stringify(answer.value)]),
  );
  const answer = (url: string): OwnersReply => {
    const json = { 'content-type': 'application/json' };
    if (url === KEY_SET_URL) return { status: 200, headers: json, text: jwks };
    const text = texts.get(url);
    return text === undefined ? { status: 404, headers: {}, text: '' } : { status: 200, headers: json, text };
  };
  const { request } = https;
  const environment = { ...process.env };
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = () => true;
  Object.assign(globalThis, { awslambda: awsLambda });
  https.request = requestTo(answer);
  syncBuiltinESMExports();
  Object.assign(process.env, functionVariables(STAGE, KEY_SET_URL, profile.baseUrl), variables);
  return () => {
    process.stdout.write = write;
    https.request = request;
    syncBuiltinESMExports();
    Reflect.deleteProperty(globalThis, 'awslambda');
    process.env = environment;
  };
}

interface OwnersReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** `https.request` without a network: its answers come at once. */
function requestTo(answer: (url: string) => OwnersReply): typeof https.request {
  const request = (url: URL): ClientRequest => {
    const { status, headers, text } = answer(url.href);
    const sent = Object.assign(new EventEmitter(), {
      destroy: () => sent,
      end: () => {
        const response = new Readable({ read: () => undefined });
        if (text !== '') response.push(Buffer.from(text));
        response.push(null);
        queueMicrotask(() => sent.emit('response', Object.assign(response, { statusCode: status, headers })));
      },
    });
    // SAFETY: the client listens, ends and destroys, and does nothing else with a request.
    return sent as unknown as ClientRequest;
  };
  return request as typeof https.request;
}

export const reportPart: Part = {
  title: 'Report: the largest number of rows, of owners’ values, to the last byte',
  run: largeReport,
};

export const pagePart: Part = {
  title: 'Page: summaries of a candidate’s attempts, of owners’ values',
  run: page,
};

export const functionPart: Part = {
  title: `Function: a report of ${SMALL.rows} rows from event to last byte, of owners who answer at once`,
  run: smallReport,
};
