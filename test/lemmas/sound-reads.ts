import { expect } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import type { TestStack } from '#test/support/stack.ts';
import { sentenceOf, type Sound } from './compare-answers.ts';

export const tenantId = 'tenant-aurora';

let strangers = 0;

/** The permissions of a caller who has not asked before. */
export function somebody(): readonly string[] {
  strangers += 1;
  return ['reports:read', `stranger:${strangers}`];
}

/** A subject's route, as one asks it. */
export interface Reads {
  readonly sound: Sound;
  readonly send: (scopes: readonly string[]) => Promise<GatewayReply>;
  /** The answer in one line, beside what the route answers without any fault. */
  readonly ask: (scopes: readonly string[]) => Promise<string>;
}

/** Asks a subject's route while no fault is armed, for what it has and for what nobody has. */
export async function openReads(
  stack: Pick<TestStack, 'urls'>,
  caller: ReportsCaller,
  subject: {
    readonly route: Route;
    readonly call: (fixtures: ReturnType<ReportsCaller['fixtures']>) => GatewayCall;
  },
): Promise<Reads> {
  const { route } = subject;
  const { path = {}, ...call } = subject.call(caller.fixtures(tenantId));
  const { grade, ...ids } = path;
  const nobodys = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, `${id}-of-nobody`]));
  const send = (scopes: readonly string[]): Promise<GatewayReply> =>
    caller.call(route, { ...call, path, tenantId, scopes });
  const sound = {
    route,
    given: await send(somebody()),
    absent: await caller.call(route, {
      ...call,
      tenantId,
      claims: {
        studentIds: [nobodys['candidateSourcedId'] ?? ''],
        classSourcedIds: [nobodys['classSourcedId'] ?? ''],
        schoolSourcedIds: [nobodys['schoolSourcedId'] ?? ''],
      },
      path: { ...nobodys, ...(grade === undefined ? {} : { grade }) },
    }),
  };
  expect([sound.given.status, sound.absent.status]).toEqual([200, 404]);
  return { sound, send, ask: async (scopes) => sentenceOf(stack, sound, await send(scopes)) };
}
