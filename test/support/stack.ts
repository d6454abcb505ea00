import { inject } from 'vitest';
import * as z from 'zod';
import { createIssuerKey, type IssuerKey } from '#shared/stage/local-issuer.ts';
import type { Seed } from '#local/seeds/seed.ts';
import type { FunctionLogLine } from '#local/stack/function-log.ts';
import { startStack, type Stack } from '#local/stack/stack.ts';
import { describeFixtures, type StackDescription, type StackUrls } from '#shared/stage/description.ts';
import { localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { createClients, type Clients } from '#shared/stores/clients.ts';
import { localTenant } from '#local/seeds/tenants.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { backgroundFunctions } from '#shared/contract/background.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { provable, type Provable } from '#shared/contract/gates.ts';
import type { Scope } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { createMasteryClient, createReportsClient } from '#client/index.ts';
import type { MasteryClient, ReportsClient } from '#client/index.ts';
import { keepLine } from './function-lines.ts';
import { inProcess, sourceOf, type PortsOf } from './in-process.ts';
import { duringTests } from './lazily.ts';
import { controlOf, type Control } from './platform-control.ts';
import { soundSeed } from './sound-seed.ts';

const faults = z.object({ faults: z.array(z.object({ id: z.number() })) });

/** The whole product, on free ports, at a test file's own disposal until it closes it. */
export interface TestStack extends Omit<Stack, 'reset'>, AsyncDisposable {
  readonly seed: Seed;
  /** What its tokens are signed with, for a test that forges one. */
  readonly issuerKey: IssuerKey;
  /** Is called when the stack closes: for what was opened on it. */
  readonly defer: (close: () => void) => void;
  /** Everything that the functions have written so far. */
  readonly logs: () => readonly FunctionLogLine[];
  readonly control: Control;
  /** Arms a fault of the platform. */
  readonly fault: (body: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Resolves once every armed fault has struck as often as it should: with `latency`, its call is then in flight. */
  readonly faultsStruck: () => Promise<void>;
  /** Clients for a tenant, without any wait between their tries. */
  readonly masteryClient: (tenantId: string) => MasteryClient;
  /** @param claims the resources that its tokens name */
  readonly reportsClient: (tenantId: string, claims: Parameters<Stack['tokenFor']>[2]) => ReportsClient;
}

/** A stack that is out of the ordinary. */
interface TestStackOptions extends Partial<
  Pick<
    Parameters<typeof startStack>[0],
    | 'routes'
    | 'background'
    | 'allowedOrigins'
    | 'requestsPerTenant'
    | 'maxEnvironments'
    | 'site'
    | 'explorer'
    | 'signer'
    | 'now'
  >
> {
  readonly seed?: Seed;
  /** What the release proves; default: everything. */
  readonly proved?: readonly Provable[];
  /** Runs the bundles that deploy, each environment on a thread of its own. */
  readonly bundled?: boolean;
  /** Otherwise the handlers' sources run in this process; these are ports that they are bound to. */
  readonly inProcess?: PortsOf;
}

/** The functions as they deploy, built once for all test files. */
export function bundledFunctions(): readonly { readonly operationId: string; readonly file: string }[] {
  const bundles = inject('bundles');
  if (!bundles.ok) throw new Error(`the functions do not build:\n${bundles.message}`);
  return bundles.functions;
}

interface StartedStack {
  readonly stack: Stack;
  readonly seed: Seed;
  readonly issuerKey: IssuerKey;
  readonly lines: FunctionLogLine[];
}

/** The ordinary stack of this worker while no test file has it. */
let shelved: StartedStack | undefined;

/**
 * A stack of all functions as they are, in this process, unless the options say otherwise. Its sweeper runs when it is told to. Without options it goes
 * from file to file of a worker, reset in between; closing it is what gives it back. Closing fails when a route has returned a problem
 * that its row does not name, or a function was denied a call to AWS.
 */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  if (Object.keys(options).length > 0) {
    const started = await start(options);
    return testStack(started, started.stack.close);
  }
  const taken = shelved ?? (await start({}));
  shelved = undefined;
  return testStack(taken, async () => {
    // The second one of a file that had two.
    if (shelved !== undefined) return taken.stack.close();
    await taken.stack.reset();
    taken.lines.length = 0;
    shelved = taken;
  });
}

/** The stack of a test file, for all of its tests. */
export function useTestStack(options?: TestStackOptions): TestStack {
  return duringTests(() => startTestStack(options));
}

/**
 * Clients of the stack's AWS. They close with it.
 * @param credentials default: an operator's
 */
export function clientsOf(
  stack: Pick<TestStack, 'urls' | 'defer'>,
  credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } = localCredentials,
): Clients {
  const clients = createClients({ endpoint: stack.urls.awsUrl, region: localRegion, credentials });
  stack.defer(() => clients.destroy());
  return clients;
}

async function start({
  seed: given,
  proved = provable,
  bundled = false,
  inProcess: ports,
  ...rest
}: TestStackOptions): Promise<StartedStack> {
  const seed = given ?? (await soundSeed());
  const lines: FunctionLogLine[] = [];
  const issuerKey = await createIssuerKey();
  const stack = await startStack({
    port: 0,
    seed,
    routes,
    proved: new Set(proved),
    background: backgroundFunctions,
    ...(bundled
      ? { bundles: bundledFunctions() }
      : {
          bundles: deployedFunctions.map((row) => ({ operationId: row.operationId, file: sourceOf(row) })),
          startEnvironment: inProcess(ports),
        }),
    issuerKey,
    onFunctionLog: (line) => {
      lines.push(line);
      keepLine(line);
    },
    ...rest,
  });
  return { stack, seed, issuerKey, lines };
}

function testStack({ stack, seed, issuerKey, lines }: StartedStack, close: () => Promise<void>): TestStack {
  const control = controlOf(stack.urls.platformUrl);
  const opened: (() => void)[] = [];
  const end = async (): Promise<void> => {
    for (const closeOwn of opened) closeOwn();
    const undeclared = lines.filter(({ line }) => JSON.stringify(line).includes('"PROBLEM_UNDECLARED"'));
    const denials = stack.access.denials();
    await close();
    if (denials.length > 0)
      throw new Error(`a function did what its role does not allow: ${denials.join('\n')}`);
    if (undeclared.length > 0)
      throw new Error(`a route returned a problem that its row does not name: ${JSON.stringify(undeclared)}`);
  };
  return {
    ...stack,
    defer: (closeOwn) => {
      opened.push(closeOwn);
    },
    close: end,
    [Symbol.asyncDispose]: end,
    seed,
    issuerKey,
    logs: () => lines,
    control,
    fault: async (body) => {
      await control('POST', 'faults', body);
    },
    async faultsStruck() {
      while (faults.parse(await control('GET', 'faults')).faults.length > 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    masteryClient: (tenantId) =>
      createMasteryClient({
        baseUrl: stack.urls.masteryUrl,
        token: ({ scope }) => stack.tokenFor(tenantId, [scope as Scope]),
        sleep: () => Promise.resolve(),
      }),
    reportsClient: (tenantId, claims) =>
      createReportsClient({
        baseUrl: stack.urls.reportsUrl,
        token: ({ scope }) => stack.tokenFor(tenantId, [scope as Scope], claims),
        sleep: () => Promise.resolve(),
      }),
  };
}

/** What `npm start` would say of a stack in `.local/stack.json`, as far as commands call it by it. */
export function localDescription({
  urls,
  seededTenants,
}: TestStack): Pick<StackDescription, keyof StackUrls | 'tenants' | 'fixtures'> {
  const all = [...seededTenants.values()];
  return {
    ...urls,
    tenants: all.map(({ tenantId }) => {
      const { sub, role, credentials } = localTenant(tenantId);
      return { tenantId, sub, role, playerToken: credentials.playerToken };
    }),
    fixtures: describeFixtures(
      Object.fromEntries(all.map(({ tenantId, fixtures }) => [tenantId, fixtures])),
      sandboxIds,
    ),
  };
}
