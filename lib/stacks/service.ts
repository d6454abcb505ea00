import { CfnOutput, Fn, Stack, type App } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { readReceipt } from '#shared/contract/background.ts';
import { deployedFunctions, deploymentOf, isRoute } from '#shared/contract/functions.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { restApi } from '../constructs/rest-api.ts';
import type { GrantedResources } from '../constructs/grants.ts';
import { inReleaseOrder, rollout, type LiveFunction } from '../constructs/rollout.ts';
import { attachQueue, attachSchedule } from '../constructs/triggers.ts';
import { isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { SANDBOX_URL_OUTPUT, stackName } from '#shared/stage/stack-names.ts';
import { SANDBOX_PATH, SITE_REGION } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { storeReferences } from './records-and-keys.ts';
import { stackProps } from '../names.ts';

export interface ServiceOptions {
  /** What is open; everything else is absent. */
  readonly release: ReleaseState;
  /** The stack of the tables, the receipts, the queue of runs and the key. */
  readonly stores: Stack;
  /** The folder with `<operationId>/index.mjs`. */
  readonly assets: string;
}

/**
 * Creates one service: a function per released row, the REST API for those of routes, and the triggers of the others. The APIs, and with them their
 * addresses, exist whether or not a route is released.
 */
export function service(
  app: App,
  stage: Stage,
  name: ServiceName,
  { release, stores, assets }: ServiceOptions,
): Stack {
  const stack = new Stack(app, name === 'mastery' ? 'Mastery' : 'Reports', {
    ...stackProps(stage, name),
    description: `Mastery reports: the ${name} service`,
  });
  stack.addStackDependency(stores);
  const references = storeReferences(stores);

  const released = inReleaseOrder(
    deployedFunctions.filter((row) => deploymentOf(row) === name && isReleased(row, release)),
  );
  const live = rollout(stack, stage, name, released, assets);

  let link: LiveFunction | undefined;
  for (const row of released) {
    if (isRoute(row)) continue;
    const built = live(row, { ...references, ...publicAddresses(stage) });
    if (row.trigger === 'queue') attachQueue(built, stage, references.runs);
    else if (row.trigger === 'schedule') attachSchedule(built, row.everyMinutes);
    else link = built;
  }

  const places =
    name === 'reports' ? { ...references, receiptsUrl: receiptsApi(stack, stage, link) } : references;
  const served = released
    .filter(isRoute)
    .map((operation) => ({ operation, function: live(operation, places) }));
  const { url } = restApi(stack, stage, name, served);
  new CfnOutput(stack, 'BaseUrl', {
    value: url,
    description: 'The {base_url} of the API document: routes follow as /v1/…',
  });
  return stack;
}

/** Returns the addresses that the canary calls, as weak references: neither stack blocks this one after its first deployment. */
function publicAddresses({ name, config }: Stage): Pick<GrantedResources, 'sandboxUrl' | 'masteryUrl'> {
  return {
    sandboxUrl:
      config.documentation === undefined
        ? Fn.getStackOutput(stackName(name, 'documentation'), SANDBOX_URL_OUTPUT, SITE_REGION)
        : `https://${config.documentation.domain}${SANDBOX_PATH}`,
    masteryUrl: Fn.getStackOutput(stackName(name, 'mastery'), 'BaseUrl'),
  };
}

/**
 * Creates the API that serves receipts. It is separate, so that the functions that make links can have its address without a circular reference, and
 * so that X-Ray can be turned off only for its URLs.
 * @param built undefined while it is not released
 * @returns `{receipts_url}`
 */
function receiptsApi(stack: Stack, stage: Stage, built: LiveFunction | undefined): string {
  const { operationId, summary } = readReceipt;
  const { url } = restApi(
    new Construct(stack, 'ReceiptsApi'),
    stage,
    'receipts',
    built === undefined
      ? []
      : [
          {
            // A bundle can outgrow the 6 MB of a buffered response.
            operation: {
              ...{ operationId, summary, method: 'GET', path: '/{sha256}' },
              success: { status: 200, transfer: 'stream' },
            },
            function: built,
          },
        ],
  );
  new CfnOutput(stack, 'ReceiptsUrl', {
    value: url,
    description: 'The {receipts_url} of the API document: links to receipts begin with it',
  });
  return url;
}
