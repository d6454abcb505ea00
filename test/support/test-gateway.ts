import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFunctionPool, type FunctionPool } from '#local/gateway/function-pool.ts';
import { startGateway, type Access, type Patience } from '#local/gateway/gateway.ts';
import type { Throttle } from '#local/gateway/throttle.ts';
import type { gatewayRow } from './probe-routes.ts';

interface TestGatewayOptions {
  /** The code of each function's bundle, by its name. */
  readonly functions: Readonly<Record<string, string>>;
  readonly routes: readonly ReturnType<typeof gatewayRow>[];
  readonly timeoutSeconds: number;
  /** How many environments a function may have. */
  readonly limit: number;
  readonly throttles?: readonly Throttle[];
  readonly patience?: Patience;
  /** Takes the place of the pool's `invoke`, or stands before it. */
  readonly invoke?: (invoke: FunctionPool['invoke']) => FunctionPool['invoke'];
}

export interface TestGateway {
  readonly url: string;
  readonly pool: FunctionPool;
  readonly accesses: readonly Access[];
  /** What the functions have printed since it was last cleared: `name: text`. */
  output: string;
  readonly close: () => Promise<void>;
}

/** Functions of a test behind a pool and a gateway, which serves their routes below `/mastery` and one page, `/docs`. */
export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  const accesses: Access[] = [];
  const { functions, timeoutSeconds, routes } = options;
  const definitions = Object.keys(functions).map((name) => {
    const bundleUrl = pathToFileURL(join(directory, `${name}.mjs`)).href;
    return { name, bundleUrl, memoryMb: 128, timeoutSeconds, variables: { STAGE: name } };
  });
  for (const { name, bundleUrl } of definitions) await writeFile(new URL(bundleUrl), functions[name]!);
  const test: Pick<TestGateway, 'output'> = { output: '' };
  const pool = createFunctionPool(definitions, options.limit, (name) => (text) => {
    test.output += `${name}: ${text}`;
  });
  const invoke = options.invoke?.(pool.invoke) ?? pool.invoke;
  const behind: Parameters<typeof startGateway>[1] = () => ({
    stage: 'local',
    services: [{ service: 'mastery', basePath: '/mastery', routes }],
    pool: { ...pool, invoke },
    gatewayResponse: (service, failure) => ({
      status: { 'no-route': 404, 'too-large': 413, filtered: 400, throttled: 429 }[failure as string] ?? 500,
      headers: { 'Content-Type': 'application/problem+json' },
      body: JSON.stringify({ service, failure }),
    }),
    page: ({ method, rawPath: path }) =>
      method === 'GET' && path === '/docs' ? { status: 200, headers: {}, body: 'documents' } : undefined,
    onAccess: (access) => accesses.push(access),
    ...(options.throttles === undefined ? {} : { throttles: options.throttles }),
  });
  const { url, close } = await startGateway(0, behind, options.patience);
  return Object.assign(test, {
    url,
    pool,
    accesses,
    close,
  });
}
