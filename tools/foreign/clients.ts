import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { exampleRequest } from '#local/call/example-request.ts';
import type { SavedRuns } from '#local/call/saved-runs.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { projectRoot } from '../checks/checks.ts';
import { drivers, folder } from './clients/drivers.ts';
import type { Call, Made } from './clients/drivers.ts';
import { lost, planted } from './clients/plant.ts';
import type { OpenApi } from './clients/plant.ts';
import type { Part, Tried } from './part.ts';
import { pythonSnippets } from './clients/snippets.ts';
import { analyzed, startProduct, startRuns, tenantsOf } from './stack.ts';
import type { Tenant } from './stack.ts';

export const clients: Part = {
  about: 'clients of five generators, each route once, and once more with what a later version may return',
  async run() {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const ready = await Promise.all(
      Object.entries(drivers).map(async ([name, prepare]) => ({ name, make: await prepare() })),
    );
    const missing = ready.flatMap(({ make }) => (make.ok ? [] : [make.error]));
    if (missing.length > 0) return err(missing.join('; '));
    const stack = await startProduct();
    const proxy = await startProxy(stack);
    try {
      const [tenant] = await tenantsOf(stack);
      if (tenant === undefined) throw new Error('the stack has no tenant');
      const improvement = await analyzed(stack, tenant);
      const all: Tried[] = [];
      for (const { name, make } of ready) {
        if (!make.ok) continue;
        const calls = await callsOf(name, stack, tenant, improvement, proxy.url);
        all.push(check(name, calls, await make.value(calls), proxy.answers));
      }
      all.push(await pythonSnippets(stack, tenant, improvement));
      return ok({
        tried: `${all.reduce((sum, { tried }) => sum + Number(tried), 0)} calls`,
        differences: all.flatMap(({ differences }) => differences),
      });
    } finally {
      proxy.close();
      await stack.close();
    }
  },
};

const modes = ['as it is', 'of a later version'] as const;

/** Every route once, and a request per service that is rejected, in both modes. */
async function callsOf(
  client: string,
  stack: Stack,
  tenant: Tenant,
  improvement: SavedRuns,
  proxy: string,
): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (const [mode] of modes.entries()) {
    const runs = await startRuns(stack, tenant, `${client}-${mode}`, [startAdaptiveRun]);
    const saved = { ...improvement, ...runs };
    const given = routes.map((route) => [route, {}] as const);
    for (const [at, [route, parameters]] of [...given, ...rejected()].entries())
      calls.push(
        callOf(route, {
          saved,
          tenant,
          parameters,
          key: `${client}/${mode}/${at}`,
          proxy,
        }),
      );
  }
  return calls;
}

/** A route with the name of what does not exist. */
function rejected(): readonly (readonly [Route, Readonly<Record<string, string>>])[] {
  return [
    { name: 'policyId', value: 'policy-of-nobody' },
    { name: 'attemptId', value: 'attempt-of-nobody' },
  ].flatMap(({ name, value }) =>
    routes
      .filter(({ path }) => path.endsWith(`{${name}}`))
      .map((route) => [route, { [name]: value }] as const),
  );
}

function callOf(
  route: Route,
  {
    saved,
    tenant,
    parameters,
    key,
    proxy,
  }: Readonly<{ saved: SavedRuns; tenant: Tenant; parameters: object; key: string; proxy: string }>,
): Call {
  const view = 'view' in route.request.query.shape ? { view: 'evidence' } : {};
  const { path, query, body, ifMatch } = exampleRequest(route, tenant.fixtures, saved, {
    parameters: { ...view, ...parameters },
  });
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return {
    key,
    operationID: route.operationId,
    service: route.service,
    tag: /^\/v1\/([^/:]+)/.exec(route.path)?.[1] ?? '',
    url: `${proxy}/${key}/${route.service}`,
    token: tenant.token,
    path: names.map((name) => path[name] ?? ''),
    named: {
      ...path,
      ...query,
      ...(route.request.idempotencyKey && { 'Idempotency-Key': key }),
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
    },
    ...(body !== undefined && { body: JSON.parse(body) as unknown }),
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Starts a proxy before the product that keeps each answer under the key of its call, and plants what a later version may return where the key asks for it. */
async function startProxy({
  urls,
}: Stack): Promise<Readonly<{ url: string; answers: ReadonlyMap<string, Answer>; close: () => void }>> {
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    void (async () => {
      const [, client = '', mode = '', at = '', service = '', ...rest] = request.url?.split('/') ?? [];
      // Others concern the connection: Java's client asks for HTTP/2.
      const headers = Object.entries(request.headers).filter(([name]) =>
        /^(?:accept|authorization|content-type|idempotency-key|if-match)$/.test(name),
      );
      const sent = await text(request);
      const target = service === 'mastery' ? urls.masteryUrl : urls.reportsUrl;
      const answered = await fetch(`${target}/${rest.join('/')}`, {
        method: request.method ?? 'GET',
        headers: Object.fromEntries(headers) as Record<string, string>,
        ...(sent !== '' && { body: sent }),
      });
      const body: unknown = await answered.json();
      const path = `/${rest.join('/').split('?')[0] ?? ''}`;
      const changed =
        mode === '0' ? body : plantedIn(service, request.method ?? '', path, answered.status, body);
      answers.set(`${client}/${mode}/${at}`, { status: answered.status, body: changed });
      const others = new Headers(answered.headers);
      // The body is neither compressed nor as long as it was.
      for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) others.delete(name);
      response.writeHead(answered.status, Object.fromEntries(others));
      response.end(JSON.stringify(changed));
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, answers, close: () => server.close() };
}

const documents = new Map<string, OpenApi>();

function plantedIn(service: string, method: string, path: string, status: number, body: unknown): unknown {
  // SAFETY: generated from the rows of the routes.
  const document =
    documents.get(service) ??
    (JSON.parse(readFileSync(join(projectRoot, `docs/openapi/${service}.json`), 'utf8')) as OpenApi);
  documents.set(service, document);
  const route = routes.find(
    (each) => each.method === method && each.service === service && matches(each.path, path),
  );
  const media = document.paths[route?.path ?? '']?.[method.toLowerCase()]?.responses[status]?.['content'] as
    | Readonly<Record<string, Readonly<{ schema: Readonly<Record<string, unknown>> }>>>
    | undefined;
  const schema = media?.['application/json']?.schema ?? {
    $ref:
      service === 'mastery' ? '#/components/schemas/MasteryProblem' : '#/components/schemas/ReportsProblem',
  };
  return planted(document, schema, body);
}

function matches(template: string, path: string): boolean {
  const [parts, given] = [template.split('/'), path.split('/')];
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith('{') || part === given[at])
  );
}

/** Compares what a client made of each answer with the answer. */
function check(
  client: string,
  calls: readonly Call[],
  made: readonly Made[],
  answers: ReadonlyMap<string, Answer>,
): Tried {
  const byKey = new Map(made.map((each) => [each.key, each]));
  const differences = calls.flatMap(({ key, operationID }) => {
    const mode = modes[Number(key.split('/')[1])] ?? '';
    const [answer, one] = [answers.get(key), byKey.get(key)];
    const isRejected = Number(key.split('/')[2]) >= routes.length;
    const found =
      answer === undefined
        ? [one?.error ?? 'sent no request']
        : answer.status >= 400 !== isRejected
          ? [`the service returned ${answer.status}: ${JSON.stringify(answer.body)}`]
          : one?.error !== undefined || one?.status !== answer.status
            ? [one?.error ?? `read the status ${one?.status ?? 'none'} in place of ${answer.status}`]
            : lost(answer.body, one.answer);
    return found.map((line) => `${client}: ${operationID}, ${mode}: ${line}`);
  });
  return { tried: String(calls.length), differences };
}
