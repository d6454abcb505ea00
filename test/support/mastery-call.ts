import { expect } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import { masteryProblem, type MasteryProblem } from '#shared/contract/mastery/problem.ts';
import { callGateway, type GatewayCall, type GatewayReply } from './gateway-call.ts';
import type { TestStack } from './stack.ts';

/** Sends one request of a route of the mastery engine to the gateway. */
export function callMastery(
  stack: Pick<TestStack, 'urls' | 'tokenFor'>,
  route: Route,
  call: GatewayCall,
): Promise<GatewayReply> {
  return callGateway(stack, stack.urls.masteryUrl, route, call);
}

/** The problem of an answer, held against the envelope. */
export function problemOf({ status, headers, text }: GatewayReply): MasteryProblem {
  expect(headers.get('content-type')).toBe('application/problem+json');
  const document = masteryProblem.parse(JSON.parse(text));
  expect(document.status).toBe(status);
  return document;
}

/** An answer in one line for tables of expectations: status, code, and the places and reasons of what is wrong. */
export function refusalOf(reply: GatewayReply): string {
  if (reply.status < 400) return `${reply.status}`;
  const { code, invalidParams = [] } = problemOf(reply);
  return [reply.status, code, ...invalidParams.map(({ name, reason }) => `${name} ${reason}`)].join(' ');
}
