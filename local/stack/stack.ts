import type { KeyObject } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { AwsFaults } from '#local/aws/faults.ts';
import {
  localCredentials,
  localKeyAlias,
  localQueueName,
  localStage,
  localTableName,
} from '#shared/stage/local-stage.ts';
import {
  accessKeyOf,
  localBuckets,
  localPolicies,
  localQueues,
  localRoles,
  localTables,
} from '#local/aws/resources.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { startAws, type LocalAws } from '#local/aws/server.ts';
import type { StartEnvironment } from '#local/gateway/environment.ts';
import { createFunctionPool, type FunctionPool } from '#local/gateway/function-pool.ts';
import { answerOfGateway } from '#local/gateway/gateway-response.ts';
import { startGateway, type Access } from '#local/gateway/gateway.ts';
import type { Throttle } from '#local/gateway/throttle.ts';
import type { ServedRoute } from '#local/gateway/route-match.ts';
import { createIssuer, type IssuerKey, type TokenClaims } from '#shared/stage/local-issuer.ts';
import { startPlatform } from '#local/platform/platform.ts';
import { instantiateSeed, type SeededTenant } from '#local/seeds/instantiate.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { localTenant, localTenantIds } from '#local/seeds/tenants.ts';
import { createClients, type Clients } from '#shared/stores/clients.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { analyzeRun, type BackgroundFunction } from '#shared/contract/background.ts';
import type { Provable } from '#shared/contract/gates.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { sandboxRoutes, serveSandbox } from '#shared/contract/sandbox.ts';
import { initKeyRing } from '#shared/keys/administration.ts';
import { releaseRecord } from '#ops/release.ts';
import { openProfiles } from '#ops/release/profiles.ts';
import type { StackUrls } from '#shared/stage/description.ts';
import { renderExampleCalls } from './example-calls.ts';
import { createLineReader, type FunctionLogLine } from './function-log.ts';
import { localProblemsUrl, receiptsUrlOf, variablesOf } from './function-variables.ts';
import { startImprovement, type Improvement } from './improvement.ts';
import { exampleRequest } from '#local/call/example-request.ts';
import { serveExplorer } from '#local/explorer/serve.ts';
import type { ExplorerFiles } from '#tools/bundling/explorer.ts';
import { createPages, type RenderLocalSite, type TokenToTry } from './pages.ts';
import { rehearse, ephemeralKey, type Rehearsal } from './rehearsal.ts';

/** A bundled function: the file that deploys. */
interface BundledFunction {
  readonly operationId: string;
  readonly file: string;
}

/** What a stack needs of an AWS, with the resources of `resources.ts` in it. */
export type StackAws = Pick<
  LocalAws,
  'url' | 'faults' | 'access' | 'calls' | 'queue' | 'snapshot' | 'close'
> &
  Partial<Pick<LocalAws, 'account'>>;

interface StackOptions {
  /** The port of the gateway; 0 takes any free one. The emulators always do. */
  readonly port: number;
  readonly seed: Seed;
  readonly routes: readonly Route[];
  /** What the release proves, a gate or what is finer than one; `routes` and `background` are for the caller to choose by it. */
  readonly proved: ReadonlySet<Provable>;
  /** The key that signs its manifest. Absent: a key that is gone as soon as it has signed. */
  readonly signer?: KeyObject;
  /** The background functions that run: those whose gates are open. */
  readonly background: readonly BackgroundFunction[];
  readonly bundles: readonly BundledFunction[];
  /** The AWS that the stack uses and closes. Default: our own emulator. */
  readonly aws?: StackAws;
  /** How the functions are run; default: each environment on a thread of its own. */
  readonly startEnvironment?: StartEnvironment;
  readonly issuerKey: IssuerKey;
  /** Origins of pages that may call the services, as the setting of a stage. Absent: none. */
  readonly allowedOrigins?: readonly string[];
  /** The bound on a tenant's requests in ten seconds, as the setting of a stage. Absent: more than a machine serves. */
  readonly requestsPerTenant?: number;
  /** How many requests of one function are served at a time before the next one waits. Absent: 8. */
  readonly maxEnvironments?: number;
  /** How many requests the gateway lets pass. Absent: any number. */
  readonly throttles?: readonly Throttle[];
  /** Renders the documentation site when it is first asked for. Absent: there is none. */
  readonly site?: RenderLocalSite;
  /** The explorer's files by path. Absent: there is no explorer. */
  readonly explorer?: ExplorerFiles;
  /** The clock of emulators, tokens and keys, in epoch milliseconds; default: this machine's. The functions have their own. */
  readonly now?: () => number;
  /** How often the sweeper of improvement runs is called. Absent: only by `improvement.sweep`. */
  readonly sweepRunsEverySeconds?: number;
  readonly onFunctionLog?: (line: FunctionLogLine) => void;
  readonly onAccess?: (access: Access) => void;
}

/** The whole product on this machine. */
export interface Stack {
  readonly urls: StackUrls;
  /** What each tenant's owners hold and the records contain, by tenant id. */
  readonly seededTenants: ReadonlyMap<string, SeededTenant>;
  /** A client's token of a local tenant; subject and role are the tenant's unless claims override them. */
  readonly tokenFor: (
    tenantId: string,
    scopes: readonly string[],
    claims?: Partial<Omit<TokenClaims, 'tenantId' | 'scopes'>>,
  ) => Promise<string>;
  /** How its gates came to be open. */
  readonly rehearsal: Rehearsal;
  /** What runs behind the routes of improvement runs. */
  readonly improvement: Improvement;
  /** Failures of the AWS emulator on demand. */
  readonly awsFaults: AwsFaults;
  /** What the emulator's account has besides the stores: stacks, subscriptions, APIs. Undefined: another emulator. */
  readonly awsAccount: LocalAws['account'] | undefined;
  /** How often the AWS emulator was called. */
  readonly awsCalls: LocalAws['calls'];
  /** What the functions' roles were used for. */
  readonly access: LocalAws['access'];
  /**
   * Ends the environments of one function, or of all, at any point of their work.
   * @returns how many of them were serving a request
   */
  readonly killWorkers: (operationId?: string) => Promise<number>;
  /**
   * Ends what is under way and brings every part back to what it was when the stack was ready: what the owners and the stores hold, armed
   * faults, counted calls, environments (there are none) and whether messages are taken. Addresses and tokens stay good.
   */
  readonly reset: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The base path of each service on the gateway's port. */
const basePaths = [
  ['mastery', '/mastery'],
  ['reports', '/reports'],
  ['reports', '/sandbox'],
  ['reports', '/receipts'],
] as const satisfies readonly (readonly [ServiceName, string])[];

/**
 * Starts AWS emulator, platform emulator and gateway, with key ring, records, service profiles and release in place. Rejects, with everything ended
 * again, when a part cannot start (`EADDRINUSE`) or the seed holds a record that the release command refuses.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  await using started = new AsyncDisposableStack();
  const { allowedOrigins = [], now = Date.now } = options;
  const issuer = await createIssuer(options.issuerKey);
  const tokenFor: Stack['tokenFor'] = (tenantId, scopes, claims) => {
    const { sub, role } = localTenant(tenantId);
    return issuer.issueToken({ sub, role, ...claims, tenantId, scopes }, now());
  };
  const seededTenants = new Map(
    localTenantIds.map((tenantId) => [tenantId as string, instantiateSeed(options.seed, tenantId)]),
  );

  const aws = options.aws ?? (await startOwnAws(options, now));
  started.defer(() => aws.close());
  const platform = await startPlatform({
    port: 0,
    seed: [...seededTenants.values()].map((seeded) => seeded.platform),
    clock: now,
    verifyClientToken: issuer.tenantOf,
  });
  started.defer(() => platform.close());

  const clients = createClients({
    endpoint: aws.url,
    region: localRegion,
    credentials: localCredentials,
  });
  let rehearsal: Rehearsal;
  try {
    [rehearsal] = await Promise.all([
      rehearse(clients, options.proved, options.signer ?? ephemeralKey(), now()),
      provision(clients, [...seededTenants.values()], platform.url, now),
    ]);
  } finally {
    clients.destroy();
  }
  const { releaseKey } = rehearsal;
  const queue = aws.queue(
    localQueueName,
    options.background.includes(analyzeRun) ? accessKeyOf(analyzeRun) : undefined,
  );
  const restoreAws = await aws.snapshot();

  let pool: FunctionPool | undefined;
  const gateway = await startGateway(options.port, (gatewayUrl) => {
    pool = createFunctionPool(
      [...options.routes, ...options.background, serveSandbox].map((row) => ({
        name: row.operationId,
        bundleUrl: pathToFileURL(bundleOf(row, options.bundles)).href,
        memoryMb: row.lambda.memoryMb,
        timeoutSeconds: row.lambda.timeoutSeconds,
        variables: variablesOf(row, { ...options, awsUrl: aws.url, gatewayUrl, releaseKey }),
      })),
      options.maxEnvironments ?? 8,
      (name) => createLineReader(name, options.onFunctionLog ?? (() => undefined)),
      options.startEnvironment,
    );
    const pages = createPages({
      gatewayUrl,
      platformUrl: platform.url,
      jwks: issuer.jwks,
      site: options.site,
      tokens: () => tokensToTry([...seededTenants.values()], options.routes, tokenFor),
      exampleCalls: renderExampleCalls(
        urlsOf(gatewayUrl, platform.url, aws.url),
        options.routes,
        [...seededTenants.values()][0],
      ),
    });
    const explorer = serveExplorer({
      files: options.explorer ?? new Map(),
      seed: options.seed,
      tenants: seededTenants,
      operationIds: options.routes.map(({ operationId }) => operationId),
      sandbox: sandboxIds,
      platformUrl: platform.url,
      tokenFor,
      playerToken: (tenantId) => localTenant(tenantId).credentials.playerToken,
      fetch,
    });
    return {
      stage: localStage,
      services: basePaths.map(([service, basePath]) => ({
        service,
        basePath,
        routes: servedBelow(basePath, service, options),
      })),
      pool,
      gatewayResponse: answerOfGateway(localProblemsUrl, allowedOrigins),
      allowedOrigins,
      throttles: options.throttles ?? [],
      page: (request) => explorer(request) ?? pages(request.method, request.rawPath),
      onAccess: options.onAccess,
    };
  });
  started.defer(() => gateway.close());
  if (pool === undefined) throw new Error('the gateway has asked for no functions');
  const functions = pool;
  const improvement = startImprovement({
    queue,
    pool: functions,
    deployed: options.background,
    sweepEverySeconds: options.sweepRunsEverySeconds,
  });
  // Ended before the functions are: it would invoke others in their place.
  started.defer(() => improvement.stop());

  const running = started.move();
  return {
    urls: urlsOf(gateway.url, platform.url, aws.url),
    seededTenants,
    tokenFor,
    rehearsal,
    improvement,
    awsFaults: aws.faults,
    awsAccount: aws.account,
    awsCalls: (service, operation) => aws.calls(service, operation),
    access: aws.access,
    killWorkers: (operationId) => functions.kill(operationId),
    async reset() {
      improvement.pause();
      await functions.kill();
      // What a worker had is on the queue again by now, and goes with the rest of it.
      await improvement.settled();
      platform.reset();
      await restoreAws();
      improvement.resume();
    },
    close: () => running.disposeAsync(),
  };
}

function startOwnAws(
  { routes, background }: Pick<StackOptions, 'routes' | 'background'>,
  now: () => number,
): Promise<StackAws> {
  return startAws({
    tables: localTables(),
    queues: localQueues(),
    buckets: localBuckets(),
    keyAliases: [localKeyAlias],
    roles: localRoles([...routes, ...background]),
    policies: localPolicies(),
    now,
    sweepEverySeconds: 60,
  });
}

function urlsOf(gatewayUrl: string, platformUrl: string, awsUrl: string): StackUrls {
  return {
    reportsUrl: `${gatewayUrl}/reports`,
    masteryUrl: `${gatewayUrl}/mastery`,
    sandboxUrl: `${gatewayUrl}/sandbox`,
    problemsUrl: `${gatewayUrl}/problems`,
    receiptsUrl: receiptsUrlOf(gatewayUrl),
    docsUrl: `${gatewayUrl}/docs`,
    explorerUrl: `${gatewayUrl}/explorer/`,
    platformUrl,
    awsUrl,
  };
}

function bundleOf({ operationId }: Route | BackgroundFunction, bundles: readonly BundledFunction[]): string {
  const bundle = bundles.find((candidate) => candidate.operationId === operationId);
  if (bundle === undefined) throw new Error(`${operationId} has no bundle`);
  return bundle.file;
}

/** What is served below a base path. The sandbox is one function and depends on no gate. */
function servedBelow(
  basePath: (typeof basePaths)[number][1],
  service: ServiceName,
  { routes, background }: StackOptions,
): readonly ServedRoute[] {
  switch (basePath) {
    case '/mastery':
    case '/reports':
      return routes.filter((route) => route.service === service);
    case '/sandbox':
      return Object.values(sandboxRoutes).map(({ method, path, success }) => ({
        operationId: serveSandbox.operationId,
        method,
        path,
        success,
      }));
    case '/receipts':
      return background
        .filter(({ trigger }) => trigger === 'link')
        .map(({ operationId }) => ({
          operationId,
          method: 'GET',
          path: '/{sha256}',
          success: { transfer: 'stream' },
        }));
  }
}

/** For each tenant a token that may do and see everything of its own. */
function tokensToTry(
  tenants: readonly SeededTenant[],
  routes: readonly Route[],
  tokenFor: Stack['tokenFor'],
): Promise<readonly TokenToTry[]> {
  const scopes = [...new Set(routes.map(({ scope }) => scope))];
  return Promise.all(
    tenants.map(async ({ tenantId, fixtures, fixtures: { reports } }) => ({
      tenantId,
      examples: Object.fromEntries(
        routes
          .map((route) => exampleRequest(route, fixtures, {}))
          .filter(({ missing }) => missing.length === 0)
          .map(({ route, path }) => [route.operationId, path]),
      ),
      token: await tokenFor(tenantId, scopes, {
        studentIds: reports.students,
        classSourcedIds: reports.classes,
        schoolSourcedIds: [...new Set(reports.schools.map(({ schoolSourcedId }) => schoolSourcedId))],
        administrationIds: [
          ...new Set([...Object.values(reports.administrationOf), ...reports.administrations]),
        ],
      }),
    })),
  );
}

/** What an operator does once for a stage: keys, records, service profiles. */
async function provision(
  { dynamo, kms, ssm }: Clients,
  seededTenants: readonly SeededTenant[],
  platformUrl: string,
  now: () => number,
): Promise<void> {
  const keys = initKeyRing({
    settings: createWritableKeySettings(dynamo, localTableName('settings')),
    kms: createDataKeyMaker(kms, localKeyAlias),
    stage: localStage,
    clock: now,
  });
  const profiles = openProfiles({
    ...{ dynamo, kms, ssm, now, stage: localStage, approvedHosts: [] },
    ...{ settingsTable: localTableName('settings'), keyId: localKeyAlias },
  });
  const profilesWritten = seededTenants.map(async ({ tenantId, platform, fixtures }) => {
    await profiles.parameters.write(tenantId, {
      PLATFORM_TENANT: tenantId,
      PLATFORM_JWT: platform.credentials.platformJwt,
      PLATFORM_URL: platformUrl,
      ANALYSIS_POLICY_ID: fixtures.reports.analysisPolicyId,
      RESULTS_KC_COMPONENTS: 'supported',
    });
    const moved = await profiles.move(tenantId);
    if (!moved.ok) throw new Error(moved.error);
  });
  const table = createRecordsTable(dynamo, localTableName('records'));
  const released = Promise.all(
    seededTenants.flatMap(({ policies, calibrations, analysisPolicy }) => [
      ...policies.map((record) => releaseRecord(table, 'policy', record)),
      ...calibrations.map((record) => releaseRecord(table, 'calibration', record)),
      releaseRecord(table, 'analysis-policy', analysisPolicy),
    ]),
  );
  await Promise.all([keys, ...profilesWritten]);
  for (const result of await released) {
    if (!result.ok) throw new SeedRefusedError(JSON.stringify(result.error));
  }
}

/** The seed's files are well-formed, but make a record that could not be released. */
export class SeedRefusedError extends Error {
  override readonly name = 'SeedRefusedError';
}
