import * as z from 'zod';
import { isOutage } from '#shared/kernel/store-calls.ts';
import {
  proofFaults,
  type Proof,
  type VersionCheck,
  type VersionReport,
} from '#shared/lambda/version-check.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import type { openVersionCheckClients } from '#shared/stores/version-check-clients.ts';

/** What is known of a version, and the first reason. */
export interface Verdict {
  readonly kind: 'works' | NonNullable<Proof['fault']>;
  readonly reason?: string;
}

/** A rollback must never wait for the version that it leaves. */
const rollbacks: ReadonlySet<string | undefined> = new Set(['codeDeployRollback', 'CloudFormationRollback']);

const MINUTE_MS = 60_000;
const PAUSE_MS = 30_000;

/** Returns for how many milliseconds a version is called again before a verdict stands. */
function patienceWith({ kind, reason = '' }: Verdict): number {
  // It may pass, but must not stop the release that repairs it.
  if (kind === 'unreachable') return 10 * MINUTE_MS;
  // A permission that the same deployment has given takes a moment to be known everywhere.
  return kind === 'broken' && reason.includes('AccessDenied') ? MINUTE_MS : 0;
}

type Clients = ReturnType<typeof openVersionCheckClients>;

/**
 * Returns whether the version that a deployment brings works: it can be loaded, responds, and can use what its grants let it read. A deployment group is
 * named after its function.
 */
export async function checkDeployment(
  deploymentId: string,
  { codeDeploy, lambda }: Clients,
  { environment, now, sleep }: Pick<Runtime, 'environment' | 'now' | 'sleep'>,
): Promise<Verdict> {
  const { deploymentInfo = {} } = await codeDeploy.getDeployment({ deploymentId });
  const { applicationName, creator, deploymentGroupName = '', revision } = deploymentInfo;
  if (rollbacks.has(creator)) return { kind: 'works' };
  // The revision of a deployment comes without its content.
  const found = await codeDeploy.getApplicationRevision({ applicationName, revision });
  // oxlint-disable-next-line typescript/no-deprecated -- CloudFormation's deployments may still have this form
  const { content = '' } = found.revision?.string ?? found.revision?.appSpecContent ?? {};
  // An AppSpec is JSON or YAML.
  const [, number] = /TargetVersion['"]?\s*:\s*['"]?(\d+)/.exec(content) ?? [];
  if (number === undefined) return { kind: 'broken', reason: 'the revision names no version' };
  const version = `${deploymentGroupName}:${number}`;
  const { CANARY_TENANT: tenantId } = environment;
  const startedAt = now();
  for (;;) {
    const verdict = await callVersion(lambda, version, tenantId);
    if (now() - startedAt >= patienceWith(verdict)) return verdict;
    await sleep(PAUSE_MS);
  }
}

/** Calls a version once. */
async function callVersion(
  lambda: Clients['lambda'],
  version: string,
  tenantId: string | undefined,
): Promise<Verdict> {
  const event: VersionCheck = { versionCheck: tenantId === undefined ? {} : { tenantId } };
  let answer;
  try {
    answer = await lambda.invoke({ FunctionName: version, Payload: JSON.stringify(event) });
  } catch (error) {
    if (!isOutage(error)) throw error;
    return { kind: 'unreachable', reason: `${version}: ${nameOf(error)}` };
  }
  const { FunctionError, Payload } = answer;
  if (FunctionError !== undefined) return { kind: 'broken', reason: `${version}: ${FunctionError}` };
  const report = parseReport(new TextDecoder().decode(Payload));
  if (report === undefined) return { kind: 'broken', reason: `${version}: it does not answer the check` };
  for (const kind of proofFaults) {
    const fault = report.versionCheck.find((proof) => proof.fault === kind);
    if (fault !== undefined) return { kind, reason: `${version}: ${fault.of}: ${fault.error ?? ''}` };
  }
  return { kind: 'works' };
}

const versionReport = z.strictObject({
  versionCheck: z
    .array(
      z.strictObject({
        of: z.string(),
        fault: z.enum(proofFaults).exactOptional(),
        error: z.string().exactOptional(),
      }),
    )
    .min(1),
}) satisfies z.ZodType<VersionReport>;

/** Returns the report that a version has answered; undefined for any other answer. */
function parseReport(text: string): VersionReport | undefined {
  try {
    return versionReport.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
