import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { improvementRun } from '#shared/contract/reports/improvement-run.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { analyzeAdministration as route, readImprovementRun } from '#shared/contract/reports/routes.ts';
import type { ControlRecord } from '#shared/idempotency/control-record.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import type { ControlRecords } from './control-records.ts';
import type { GatewayCall, GatewayReply } from './gateway-call.ts';
import { setProfileParameter } from './profile-parameter.ts';
import { reportsAnswerOf } from './reports-call.ts';
import type { ReportsCaller } from './reports-call.ts';
import type { TestStack } from './stack.ts';

/** A run as a request has been answered with it. */
export interface Analyzed {
  readonly run: ImprovementRun;
  readonly replayed: boolean;
}

/** One request to analyze an administration, which can be sent as often as wanted under the same key. */
export interface Analysis {
  readonly key: string;
  readonly send: (changes?: GatewayCall) => Promise<GatewayReply>;
  /** Sends it and fails the test unless it succeeds. */
  readonly succeed: (changes?: GatewayCall) => Promise<Analyzed>;
  readonly record: () => Promise<ControlRecord | undefined>;
  readonly endLease: () => Promise<void>;
}

/** A request to analyze an administration. */
export function analysisOf(
  { caller, control }: { readonly caller: ReportsCaller; readonly control: ControlRecords },
  tenantId: string,
  administrationId: string,
  key: string = randomUUID(),
): Analysis {
  const identified = {
    tenantId,
    method: route.method,
    canonicalPath: canonicalPath(route.path, { administrationId }),
    idempotencyKey: key,
    ifMatch: undefined,
    body: undefined,
  };
  const send: Analysis['send'] = (changes) =>
    caller.call(route, { tenantId, key, path: { administrationId }, ...changes });
  return {
    key,
    send,
    succeed: async (changes) => analyzed(await send(changes)),
    record: () => control.find(identified),
    endLease: () => control.endLease(identified),
  };
}

/** A success, held against the contract. */
export function analyzed(reply: GatewayReply): Analyzed {
  expect(reportsAnswerOf(reply)).toBe('200');
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  const replayed = reply.headers.get('idempotent-replayed');
  expect([null, 'true']).toContain(replayed);
  return { run: improvementRun.parse(JSON.parse(reply.text)), replayed: replayed === 'true' };
}

/** A request for how far a run is. */
export function readRun(
  caller: ReportsCaller,
  improvementRunId: string,
  call: GatewayCall = {},
): Promise<GatewayReply> {
  return caller.call(readImprovementRun, { path: { improvementRunId }, ...call });
}

/** Names another analysis policy in a tenant's service profile, or none, and lets the functions read it anew. */
export async function choosePolicy(
  stack: Pick<TestStack, 'urls' | 'killWorkers'>,
  tenantId: string,
  analysisPolicyId: string | undefined,
): Promise<void> {
  await setProfileParameter(stack, route.operationId, tenantId, {
    name: 'ANALYSIS_POLICY_ID',
    value: analysisPolicyId,
  });
}
