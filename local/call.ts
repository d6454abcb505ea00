import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { Help, Option } from '@commander-js/extra-typings';
import * as z from 'zod';
import { waitingFor } from '#shared/contract/mastery/adaptive-run.ts';
import { routes } from '#shared/contract/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { findRunningStack, localFiles, type StackDescription } from '#shared/stage/description.ts';
import { createIssuer, readIssuerKey, type Issuer } from '#shared/stage/local-issuer.ts';
import { examples, exits, program, run, text, UsageError } from '#tools/terminal/command.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { paintFor } from '#tools/terminal/paint.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import { attemptRequest } from './attempt-request.ts';
import { addressOf, curlOf, headersOf, tokenCommand } from './call/curl.ts';
import { exampleRequest, type CallRequest } from './call/example-request.ts';
import { renderJson } from './call/render-json.ts';
import { parsedJson } from './parsed-json.ts';
import { readSavedRuns, withAnswer, writeSavedRuns, type SavedRuns } from './call/saved-runs.ts';

/** Headers worth showing; the others are the same on every answer. */
const SHOWN_HEADERS = [
  'etag',
  'retry-after',
  'deprecation',
  'sunset',
  'link',
  'idempotent-replayed',
  'x-request-id',
];
const LIMIT_MILLISECONDS = 35_000;

interface Session {
  readonly stack: StackDescription;
  readonly tenant: StackDescription['tenants'][number];
  readonly fixtures: StackDescription['fixtures'][string];
  readonly issueToken: Issuer['issueToken'];
  readonly saved: SavedRuns;
}

const given = z.record(z.string(), z.union([z.string(), z.boolean()]));

/** What every problem document of both services has; the gateway's own may have less. */
const problemDocument = z.object({
  type: z.string(),
  title: z.string(),
  detail: z.string().optional(),
});

/** A run that an owner keeps waiting. */
const waitingRun = z.object({ waitingFor });

const files = localFiles(process.cwd());
const tenantOption = [
  '--tenant <T>',
  'the tenant; default: the tenant of the saved run, else the first one',
  text,
] as const;

const command = program(
  'npm run call --',
  'Calls an operation of the stack that npm start runs in this folder: makes a token with the scope and claims that the operation needs, ' +
    'fills in example values from the fixtures, and prints status, main headers and body. Piped output is the JSON body alone. ' +
    `Runs are saved in .local/run.json, so that the next call continues them.`,
)
  // The operations are a list here; each one has a help of its own.
  .configureHelp({ formatHelp: (each, helper) => Help.prototype.formatHelp.call(helper, each, helper) })
  .addHelpText(
    'after',
    examples(
      'npm run call -- readAttemptReport',
      'npm run call -- readAttemptReport --view evidence --curl',
      'npm run --silent call -- readAttemptReport | jq .status',
      'npm run call -- startAdaptiveRun',
      'npm run call -- answer --correct',
      'npm run call -- advanceAdaptiveRun',
    ),
  );

for (const route of routes) {
  const { path, query, body, idempotencyKey, ifMatch } = route.request;
  const operation = command
    .command(route.operationId)
    .helpGroup(route.service === 'mastery' ? 'Mastery engine:' : 'Reports service:')
    .description(route.summary)
    .option(...tenantOption);
  for (const name of Object.keys(path.shape))
    operation.option(`--${name} <ID>`, 'path parameter; default: an example of the fixtures', text);
  for (const name of Object.keys(query.shape))
    operation.option(`--${name} <VALUE>`, `query parameter${choicesOf(query.shape[name])}`, text);
  if (body !== undefined)
    operation.option(
      '--body <FILE|-|JSON>',
      'the body: a file, standard input, or JSON; default: an example',
      text,
    );
  if (idempotencyKey)
    operation.option('--idempotency-key <KEY>', 'to repeat a request; default: a new key', text);
  if (ifMatch) operation.option('--if-match <ETAG>', 'default: the ETag of the saved run', text);
  operation
    .option('--curl', 'prints the curl command and sends nothing')
    .action(exits(() => call(route, given.parse(operation.opts()))));
}

command
  .command('answer')
  .helpGroup('Adaptive runs:')
  .description('Answer the offered item of the saved run, in the place of a QTI player')
  .option(...tenantOption)
  .addOption(new Option('--correct', 'QTI scores the answer 1').conflicts('wrong'))
  .option('--wrong', 'QTI scores the answer 0')
  .action(
    exits(({ tenant, correct, wrong }) =>
      correct === undefined && wrong === undefined
        ? err(new UsageError('missing: --correct or --wrong'))
        : answer(tenant, correct === true),
    ),
  );

await run(command);

/** Returns the values that a query parameter may have, where they are few. */
function choicesOf(schema: unknown): string {
  const { enum: choices } = z
    .object({ enum: z.array(z.string()).optional() })
    .parse(z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }));
  return choices === undefined ? '' : `: ${choices.join(', ')}`;
}

async function openSession(tenantId: string | undefined): Promise<Result<Session, string>> {
  const stack = await findRunningStack(files.stack);
  if (!stack.ok) return stack;
  const key = await readIssuerKey(files.issuerKey);
  if (!key.ok) return key;
  const read = await readSavedRuns(files.run);
  if (!read.ok) return read;
  const saved = read.value;
  const { tenants, fixtures } = stack.value;
  const wanted = tenantId ?? saved.tenantId ?? tenants[0]?.tenantId;
  const tenant = tenants.find((each) => each.tenantId === wanted);
  const own = fixtures[tenant?.tenantId ?? ''];
  if (tenant === undefined || own === undefined)
    return err(
      `unknown tenant "${wanted ?? ''}": expected ${tenants.map((each) => each.tenantId).join(' or ')}`,
    );
  const { issueToken } = await createIssuer(key.value);
  return ok({
    stack: stack.value,
    tenant,
    fixtures: own,
    issueToken,
    saved: saved.tenantId === tenant.tenantId ? saved : {},
  });
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

async function call(
  route: Route,
  { tenant, body, idempotencyKey, ifMatch, curl, ...parameters }: z.infer<typeof given>,
): Promise<Result<undefined, string>> {
  const session = await openSession(textOf(tenant));
  if (!session.ok) return session;
  const read = body === undefined ? ok(undefined) : await readBody(String(body));
  if (!read.ok) return read;
  const request = exampleRequest(route, session.value.fixtures, session.value.saved, {
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    body: read.value,
    ifMatch: textOf(ifMatch),
  });
  if (request.missing.length > 0) return err(explainMissing(request.missing, session.value.tenant.tenantId));
  const key = textOf(idempotencyKey) ?? randomUUID();
  const { stack } = session.value;
  if (curl === true) {
    const token = `$(${tokenCommand(session.value.tenant.tenantId, request.scope, request.claims)})`;
    process.stdout.write(`${curlOf(request, stack, key, token)}\n`);
    return ok(undefined);
  }
  const sent = await send(session.value, request, key);
  if (!sent.ok) return sent;
  show(request, addressOf(request, stack), sent.value);
  if (sent.value.status >= 400) {
    const stale =
      sent.value.status === 412 ? '\nGet the current ETag with npm run call -- inspectAdaptiveRun' : '';
    return err(`${describeProblem(sent.value.json, stack)}${stale}`);
  }
  const runs = await remember(session.value, sent.value);
  const next = nextCommand(route, runs);
  if (next !== undefined) process.stderr.write(`\n${next}\n`);
  return ok(undefined);
}

/** Lets the emulator of QTI score the offered item, then inspects the run: a scored attempt changes its ETag. */
async function answer(tenantId: string | undefined, correct: boolean): Promise<Result<undefined, string>> {
  const session = await openSession(tenantId);
  if (!session.ok) return session;
  const { stack, tenant, saved, fixtures } = session.value;
  if (saved.adaptive === undefined) return err(explainMissing(['body'], tenant.tenantId));
  const { deliverySessionId } = saved.adaptive;
  if (deliverySessionId === null)
    return err('the saved run offers no item: npm run call -- inspectAdaptiveRun');
  const { platformUrl } = stack;
  const scored = await exchange(...attemptRequest({ ...tenant, platformUrl, deliverySessionId, correct }));
  if (!scored.ok) return scored;
  if (scored.value.status >= 400)
    return err(`QTI rejected the attempt with ${scored.value.status}: ${JSON.stringify(scored.value.json)}`);
  const inspect = routes.find(({ operationId }) => operationId === 'inspectAdaptiveRun');
  if (inspect === undefined) throw new Error('the contract has no inspectAdaptiveRun');
  const inspected = await send(session.value, exampleRequest(inspect, fixtures, saved), randomUUID());
  if (!inspected.ok) return inspected;
  if (inspected.value.status >= 400) return err(describeProblem(inspected.value.json, stack));
  await remember(session.value, inspected.value);
  process.stdout.write(
    `QTI scored the item as ${correct ? 'correct' : 'wrong'}.\n\nNext: npm run call -- advanceAdaptiveRun\n`,
  );
  return ok(undefined);
}

async function readBody(given: string): Promise<Result<string, string>> {
  if (/^\s*[[{]/.test(given)) return ok(given);
  try {
    return ok(given === '-' ? await readStream(process.stdin) : await readFile(given, 'utf8'));
  } catch (error) {
    return err(`cannot read the body from ${given}: ${fileFailure(error)}`);
  }
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, or its text where that is not JSON. */
  readonly json: unknown;
}

async function send(session: Session, request: CallRequest, key: string): Promise<Result<Received, string>> {
  const { tenantId, sub, role } = session.tenant;
  const token = await session.issueToken(
    { tenantId, sub, role, scopes: [request.scope], ...request.claims },
    Date.now(),
  );
  return exchange(addressOf(request, session.stack), {
    method: request.route.method,
    headers: { Authorization: `Bearer ${token}`, ...headersOf(request, key) },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
}

async function exchange(url: string, init: RequestInit): Promise<Result<Received, string>> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(LIMIT_MILLISECONDS) });
    const body = await response.text();
    return ok({ status: response.status, headers: response.headers, json: parsedJson(body) ?? body });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return err(
      `no answer from ${new URL(url).origin}: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/** Status and headers go to standard error, so that a pipe receives only JSON. */
function show({ route }: CallRequest, address: string, { status, headers, json }: Received): void {
  const paint = paintFor(process.stderr, process.env);
  const colour = status < 400 ? 'green' : 'red';
  const lines = [
    `${paint('bold', route.method)} ${plainText(address)} ${paint(colour, String(status))}`,
    ...SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [paint('dim', plainText(`${name}: ${value}`))];
    }),
  ];
  const waiting = waitingRun.safeParse(json).data?.waitingFor;
  if (waiting !== undefined)
    lines.push(
      plainText(
        `waiting for ${waiting.service}: ${waiting.operation}${waiting.since === undefined ? '' : ` since ${waiting.since}`}`,
      ),
    );
  process.stderr.write(`${lines.join('\n')}\n\n`);
  process.stdout.write(`${renderJson(json, paintFor(process.stdout, process.env))}\n`);
}

function describeProblem(json: unknown, { problemsUrl }: StackDescription): string {
  const problem = problemDocument.safeParse(json);
  if (!problem.success) return 'the answer is not a problem document';
  const { type, title, detail } = problem.data;
  const code = /^https:.*\/([^/]+)$/.exec(type)?.[1];
  const lines = [title, detail, code === undefined ? undefined : `See ${problemsUrl}/${code}`];
  return `\n${lines.flatMap((line) => (line === undefined ? [] : [plainText(line)])).join('\n')}`;
}

async function remember({ saved, tenant }: Session, { json, headers }: Received): Promise<SavedRuns> {
  const runs = withAnswer(saved, tenant.tenantId, json, headers.get('etag'));
  if (runs !== saved) await writeSavedRuns(files.run, runs);
  return runs;
}

/** Returns a call that continues the run of an answer. */
function nextCommand({ operationId }: Route, { adaptive, improvement }: SavedRuns): string | undefined {
  switch (operationId) {
    case 'startAdaptiveRun':
    case 'inspectAdaptiveRun':
    case 'advanceAdaptiveRun':
      if (adaptive === undefined) return undefined;
      return adaptive.deliverySessionId === null
        ? 'The run offers no item. While it is finalizing: npm run call -- advanceAdaptiveRun'
        : operationId === 'inspectAdaptiveRun'
          ? 'Next: npm run call -- advanceAdaptiveRun, once the offered item is answered: npm run call -- answer --correct (or --wrong)'
          : 'Next: npm run call -- answer --correct (or --wrong)';
    case 'analyzeAdministration':
      return (
        improvement && 'Next: npm run call -- readImprovementRun (or readAlignmentReport, listRevisionOrders)'
      );
    default:
      return undefined;
  }
}

function explainMissing(missing: readonly string[], tenantId: string): string {
  const first = missing.includes('body') ? 'startAdaptiveRun' : 'analyzeAdministration';
  const options = missing.map((name) => `--${name}`).join(', ');
  return missing.includes('body') || missing.includes('improvementRunId')
    ? `no saved run of ${tenantId}: start one with npm run call -- ${first}, or set ${options}`
    : `the fixtures of ${tenantId} have no example: set ${options}`;
}
