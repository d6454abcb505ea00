import { pathToFileURL } from 'node:url';
import type { AwsFaults } from '#local/aws/faults.ts';
import {
  localCredentials,
  localKeyAlias,
  localStage,
  localTableName,
  localTables,
} from '#local/aws/environment.ts';
import { localRegion } from '#local/aws/kms.ts';
import { startAws } from '#local/aws/server.ts';
import { createFunctionPool } from '#local/gateway/function-pool.ts';
import { answerOfGateway } from '#local/gateway/gateway-response.ts';
import { startGateway } from '#local/gateway/gateway.ts';
import type { Access } from '#local/gateway/gateway.ts';
import { createIssuer } from '#local/issuer/issuer.ts';
import type { IssuerKey, TokenClaims } from '#local/issuer/issuer.ts';
import { startPlatform } from '#local/platform/platform.ts';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import type { TenantWorld } from '#local/seeds/instantiate.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { localTenant, localTenantIds } from '#local/seeds/tenants.ts';
import { createEndpointClients } from '#shared/aws/endpoint-clients.ts';
import type { EndpointClients } from '#shared/aws/endpoint-clients.ts';
import { createDataKeyMaker } from '#shared/aws/kms.ts';
import { createRecordsTable } from '#shared/aws/records-table.ts';
import { createServiceProfileParameters } from '#shared/aws/service-profile-parameters.ts';
import { createWritableKeySettings } from '#shared/aws/settings-table.ts';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { initKeyRing } from '#shared/keys/administration.ts';
import { releaseAnalysisPolicy, releaseCalibration, releasePolicy } from '#tools/release.ts';
import type { StackUrls } from './description.ts';
import { createLineReader } from './function-log.ts';
import type { FunctionLogLine } from './function-log.ts';
import { localProblemsUrl, localProfilesPath, variablesOf } from './function-variables.ts';
import { createPages } from './pages.ts';
import type { Documents } from './pages.ts';

/** A bundled function: the file that deploys. */
interface BundledFunction {
  readonly operationId: string;
  readonly file: string;
}

interface StackOptions {
  /** Of the gateway; 0 takes any free one. The doubles always do. */
  readonly port: number;
  readonly seed: Seed;
  readonly routes: readonly Route[];
  readonly bundles: readonly BundledFunction[];
  readonly issuerKey: IssuerKey;
  readonly documents: Documents;
  readonly onFunctionLog?: (line: FunctionLogLine) => void;
  readonly onAccess?: (access: Access) => void;
}

/** The whole product on this machine. */
export interface Stack {
  readonly urls: StackUrls;
  /** What each tenant's owners hold and the records say, by tenant id. */
  readonly worlds: ReadonlyMap<string, TenantWorld>;
  /** A client's token of a local tenant; subject and role are the tenant's unless claims say otherwise. */
  readonly tokenFor: (
    tenantId: string,
    scopes: readonly string[],
    claims?: Partial<Omit<TokenClaims, 'tenantId' | 'scopes'>>,
  ) => Promise<string>;
  /** Failures of the AWS double on demand. */
  readonly awsFaults: AwsFaults;
  /**
   * Ends the environments of one function, or of all, at whatever point they are.
   * @returns how many of them were serving a request
   */
  readonly killWorkers: (operationId?: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** How many requests of one route are served at a time before the next one waits. */
const MAX_ENVIRONMENTS = 8;
/** Where each service stands on the gateway's port. */
const basePaths = [
  ['mastery', '/mastery'],
  ['reports', '/reports'],
  ['reports', '/sandbox'],
  ['reports', '/receipts'],
] as const satisfies readonly (readonly [ServiceName, string])[];

/**
 * Starts AWS double, platform double and gateway, with key ring, records and service profiles in place. Rejects, with everything ended
 * again, when a part cannot start (`EADDRINUSE`) or the seed holds a record that the release command refuses.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  await using started = new AsyncDisposableStack();
  const issuer = await createIssuer(options.issuerKey);
  const worlds = new Map(
    localTenantIds.map((tenantId) => [tenantId as string, instantiateSeed(options.seed, tenantId)]),
  );

  const aws = await startAws({ tables: localTables(), keyAliases: [localKeyAlias], sweepEverySeconds: 60 });
  started.defer(() => aws.close());
  const platform = await startPlatform({
    port: 0,
    seed: [...worlds.values()].map((world) => world.platform),
    verifyClientToken: issuer.tenantOf,
  });
  started.defer(() => platform.close());

  const clients = createEndpointClients({
    endpoint: aws.url,
    region: localRegion,
    credentials: localCredentials,
  });
  try {
    await provision(clients, [...worlds.values()], platform.url);
  } finally {
    clients.destroy();
  }

  let pool: ReturnType<typeof createFunctionPool> | undefined;
  const gateway = await startGateway(options.port, (gatewayUrl) => {
    pool = createFunctionPool(
      options.routes.map((route) => ({
        name: route.operationId,
        bundleUrl: pathToFileURL(bundleOf(route, options.bundles)).href,
        memoryMb: route.lambda.memoryMb,
        timeoutSeconds: route.lambda.timeoutSeconds,
        variables: variablesOf(route, { awsUrl: aws.url, gatewayUrl }),
      })),
      MAX_ENVIRONMENTS,
      (name) => createLineReader(name, options.onFunctionLog ?? (() => undefined)),
    );
    return {
      stage: localStage,
      services: basePaths.map(([service, basePath]) => ({
        service,
        basePath,
        // Sandbox and receipts are reached through no function: whatever is asked of them is the service's 404.
        routes: basePath === `/${service}` ? options.routes.filter((route) => route.service === service) : [],
      })),
      pool,
      gatewayResponse: answerOfGateway(localProblemsUrl),
      page: createPages({
        gatewayUrl,
        platformUrl: platform.url,
        jwks: issuer.jwks,
        documents: options.documents,
      }),
      ...(options.onAccess === undefined ? {} : { onAccess: options.onAccess }),
    };
  });
  started.defer(() => gateway.close());

  const running = started.move();
  return {
    urls: {
      reportsUrl: `${gateway.url}/reports`,
      masteryUrl: `${gateway.url}/mastery`,
      sandboxUrl: `${gateway.url}/sandbox`,
      problemsUrl: `${gateway.url}/problems`,
      receiptsUrl: `${gateway.url}/receipts`,
      docsUrl: `${gateway.url}/docs`,
      platformUrl: platform.url,
      awsUrl: aws.url,
    },
    worlds,
    tokenFor: (tenantId, scopes, claims) => {
      const { sub, role } = localTenant(tenantId);
      return issuer.issueToken({ sub, role, ...claims, tenantId, scopes }, Date.now());
    },
    awsFaults: aws.faults,
    killWorkers: (operationId) => pool?.kill(operationId) ?? Promise.resolve(0),
    close: () => running.disposeAsync(),
  };
}

function bundleOf(route: Route, bundles: readonly BundledFunction[]): string {
  const bundle = bundles.find(({ operationId }) => operationId === route.operationId);
  if (bundle === undefined) throw new Error(`${route.operationId} has no bundle`);
  return bundle.file;
}

/** What an operator does once for a stage: keys, records, service profiles. */
async function provision(
  { dynamo, kms, ssm }: EndpointClients,
  worlds: readonly TenantWorld[],
  platformUrl: string,
): Promise<void> {
  const keys = initKeyRing({
    settings: createWritableKeySettings(dynamo, localTableName('settings')),
    kms: createDataKeyMaker(kms, localKeyAlias),
    stage: localStage,
    clock: Date.now,
  });
  const profiles = createServiceProfileParameters(ssm, localProfilesPath);
  const profilesWritten = worlds.map(({ tenantId, platform }) =>
    profiles.write(tenantId, {
      tenant: tenantId,
      jwt: platform.credentials.platformJwt,
      url: platformUrl,
    }),
  );
  const table = createRecordsTable(dynamo, localTableName('records'));
  const released = Promise.all(
    worlds.flatMap(({ policies, calibrations, analysisPolicy }) => [
      ...policies.map((record) => releasePolicy(table, record)),
      ...calibrations.map((record) => releaseCalibration(table, record)),
      releaseAnalysisPolicy(table, analysisPolicy),
    ]),
  );
  await Promise.all([keys, ...profilesWritten]);
  for (const result of await released) {
    if (!result.ok) throw new SeedRefusedError(JSON.stringify(result.error));
  }
}

/** The seed's files are well-formed, but make a record that nobody could release. */
export class SeedRefusedError extends Error {
  override readonly name = 'SeedRefusedError';
}
