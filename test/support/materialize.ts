import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { materializeResponse } from '#shared/contract/reports/materialize.ts';
import { materializeAttemptReport as route } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { openControlRecords, type Controlled } from './control-records.ts';
import type { GatewayCall, GatewayReply } from './gateway-call.ts';
import { countsOf, stateOf, type PlatformState } from './platform-control.ts';
import { isReplayed, openReportsCaller, reportsAnswerOf, reportsProblemOf } from './reports-call.ts';
import type { ReportsCaller } from './reports-call.ts';
import type { TestStack } from './stack.ts';

type Role = keyof ReturnType<ReportsCaller['fixtures']>['attempts'];
export type Materialized = z.output<typeof materializeResponse>;

/** One request, which can be sent as often as wanted: the same body under the same key. */
export interface Materialization extends Controlled {
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly send: (changes?: GatewayCall) => Promise<GatewayReply>;
  /** Sends it and fails the test unless it succeeds. */
  readonly succeed: () => Promise<Materialized & { readonly replayed: boolean }>;
}

/** Materializes attempts of one tenant's fixtures. */
export interface Materializer {
  readonly caller: ReportsCaller;
  readonly body: (role: Role, more?: object) => Readonly<Record<string, unknown>>;
  readonly request: (role: Role, more?: object) => Materialization;
  readonly of: (body: Readonly<Record<string, unknown>>) => Materialization;
  /** What the tenant's owners hold. */
  readonly state: () => Promise<PlatformState>;
  /** How many attempts, components, records and events of materializations they hold. */
  readonly written: () => Promise<Written>;
}

export interface Written {
  readonly settlements: number;
  readonly components: number;
  readonly records: number;
  readonly events: number;
}

/** Opens the materializations of a tenant. */
export function openMaterializer(
  stack: Pick<TestStack, 'urls' | 'defer' | 'tokenFor' | 'seed' | 'control'>,
  tenantId: string,
): Materializer {
  const caller = openReportsCaller(stack);
  const control = openControlRecords(stack);

  const body: Materializer['body'] = (role, more = {}) => {
    const { attempts, administrationOf } = caller.fixtures(tenantId);
    return { attemptId: attempts[role], administrationId: administrationOf[role], ...more };
  };
  const of: Materializer['of'] = (asked) => {
    const key = randomUUID();
    const { method, path: canonicalPath } = route;
    const identified = {
      tenantId,
      method,
      canonicalPath,
      idempotencyKey: key,
      ifMatch: undefined,
      body: { view: 'summary', ...asked },
      sentBody: asked,
    };
    const send: Materialization['send'] = (changes) =>
      caller.call(route, { tenantId, key, body: asked, ...changes });
    return {
      key,
      body: asked,
      send,
      async succeed() {
        return materialized(await send());
      },
      ...control.of(identified),
    };
  };
  return {
    caller,
    body,
    of,
    request: (role, more) => of(body(role, more)),
    state: () => stateOf(stack, tenantId),
    async written() {
      const held = await countsOf(stack, tenantId);
      return {
        settlements: held['results.settlement']!,
        components: held['results.settled_component']!,
        records: held['results.settled_record']!,
        events: held['caliper.event']!,
      };
    },
  };
}

/** A success, held against the contract. */
export function materialized(reply: GatewayReply): Materialized & { readonly replayed: boolean } {
  return { replayed: isReplayed(reply), ...route.success.schema.parse(JSON.parse(reply.text)) };
}

/** A problem in one line, with whether it names an operation. */
export function outcomeOf(reply: GatewayReply): string {
  const sentence = reportsAnswerOf(reply);
  if (reply.status < 400) return sentence;
  return reportsProblemOf(reply).operationId === null ? sentence : `${sentence}, operation`;
}
