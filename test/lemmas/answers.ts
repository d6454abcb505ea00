import { expect } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { problemOf } from '#test/support/mastery-call.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { reportsProblemOf } from '#test/support/reports-call.ts';
import type { TestStack } from '#test/support/stack.ts';
import { targetOf, type Draft } from './requests.ts';

/** The problem of what is not there, hidden or unknown. */
export const notFound = { mastery: '404 resource-not-found', reports: '404 not-found' } as const;

export function sendDraft(
  { urls }: Pick<TestStack, 'urls'>,
  route: Route,
  draft: Draft,
  method: string = route.method,
): Promise<GatewayReply> {
  const { headers, body } = draft;
  const url = route.service === 'mastery' ? urls.masteryUrl : urls.reportsUrl;
  return callRaw(url, targetOf(route, draft), { method, headers, body });
}

/** Status and problem; then the places and reasons of what is wrong, and whether to repeat the request. */
export function answerOf({ service }: Pick<Route, 'service'>, reply: GatewayReply): readonly string[] {
  if (reply.status < 400) return [`${reply.status}`];
  if (service === 'mastery') {
    const { code, invalidParams = [], retryable } = problemOf(reply);
    const places = invalidParams.map(({ name, reason }) => `${name} ${reason}`);
    return [`${reply.status} ${code}`, ...places, ...(retryable ? ['retryable'] : [])];
  }
  const { type, fieldErrors, retryable } = reportsProblemOf(reply);
  const places = (fieldErrors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
  return [`${reply.status} ${type.split('/').at(-1) ?? ''}`, ...places, ...(retryable ? ['retryable'] : [])];
}

/** Which rules the cases with such titles guard. */
export type Rules = readonly (readonly [title: RegExp, ids: string])[];

/** `<operation> <status> <problem>: <case> [<rules>]`: which test proves an answer of a route is found by its name. */
export function openTitles(rules: Rules): {
  readonly titled: (title: string) => string;
  /** Rows that no title has matched. */
  readonly unused: () => Rules;
} {
  const used = new Set<RegExp>();
  return {
    titled(title) {
      const ids = rules.flatMap(([pattern, listed]) => {
        if (!pattern.test(title)) return [];
        used.add(pattern);
        return listed.split(', ');
      });
      return ids.length === 0 ? title : `${title} [${[...new Set(ids)].sort().join(', ')}]`;
    },
    unused: () => rules.filter(([pattern]) => !used.has(pattern)),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function expectHeadersOfEvery({ headers }: GatewayReply): void {
  expect(headers.get('x-request-id')).toMatch(UUID);
  expect(headers.get('cache-control')).toBe('no-store, no-transform');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('strict-transport-security')).toContain('max-age=63072000');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const telling of ['server', 'x-powered-by', 'set-cookie'])
    expect([telling, headers.get(telling)]).toEqual([telling, null]);
}
