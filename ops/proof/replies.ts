import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { masteryProblem } from '#shared/contract/mastery/problem.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import type { Ask, Reply } from './target.ts';

const codes = {
  reports: { hidden: 'not-found', unknown: 'authentication-required', invalid: 'validation' },
  mastery: { hidden: 'resource-not-found', unknown: 'authentication-required', invalid: 'invalid-request' },
} as const satisfies Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;
export type Refusal = keyof (typeof codes)['reports'];

const statusOf: Readonly<Record<Refusal, number>> = { hidden: 404, unknown: 401, invalid: 400 };

/** Returns a response in a few words; of its body, only the code. */
export function describeReply(service: ServiceName, reply: Reply): string {
  if (reply.status === 0) return `no response (${reply.text})`;
  const code = codeOf(service, reply);
  return code === undefined ? String(reply.status) : `${reply.status} ${code}`;
}

/** Returns the code of a problem; undefined if the response is not a problem. */
export function codeOf(service: ServiceName, { status, text }: Reply): string | undefined {
  const json = parseStrictJson(text);
  if (!json.ok || status < 400) return undefined;
  if (service === 'mastery') return masteryProblem.safeParse(json.value).data?.code;
  const type = reportsProblem.safeParse(json.value).data?.type;
  return type === undefined ? undefined : new URL(type).pathname.split('/').at(-1);
}

/** Returns what is wrong with a response that must be the given problem. */
export function refusalFindings(service: ServiceName, refusal: Refusal, reply: Reply): readonly string[] {
  const expected = `${statusOf[refusal]} ${codes[service][refusal]}`;
  const found = describeReply(service, reply);
  if (found !== expected) return [`returned ${found} instead of ${expected}`];
  const json = parseStrictJson(reply.text);
  const { retryable } = json.ok ? (json.value as { readonly retryable?: unknown }) : {};
  return [
    ...(mediaTypeOf(reply) === 'application/problem+json'
      ? []
      : ['the problem does not have the media type application/problem+json']),
    ...(retryable === false ? [] : ['the problem has retryable: true']),
    ...storableFindings(reply),
  ];
}

/** Returns what is wrong with a response that must be the route's success. */
export function successFindings(ask: Ask, reply: Reply): readonly string[] {
  const { service, success } = ask.route;
  if (reply.status !== success.status)
    return [`returned ${describeReply(service, reply)} instead of ${success.status}`];
  const json = parseStrictJson(reply.text);
  if (!json.ok) return ['the body is not JSON'];
  const parsed = success.schema.safeParse(json.value);
  const breaches = (parsed.error?.issues ?? [])
    .slice(0, 5)
    .map(
      ({ path, message }) => `violates the schema at /${path.map(String).join('/')}: ${plainText(message)}`,
    );
  return [
    ...(mediaTypeOf(reply) === 'application/json'
      ? []
      : ['the body does not have the media type application/json']),
    ...breaches,
    ...storableFindings(reply),
  ];
}

/** Returns the members of a response's body. */
export function bodyOf({ text }: Reply): Readonly<Record<string, unknown>> {
  const json = parseStrictJson(text);
  return json.ok && typeof json.value === 'object' && json.value !== null
    ? (json.value as Readonly<Record<string, unknown>>)
    : {};
}

/** A response that a shared cache may store could be returned to another tenant. */
function storableFindings({ headers }: Reply): readonly string[] {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/);
  const kept = directives.includes('no-store') || directives.includes('private');
  return kept ? [] : ['a shared cache may store the response: Cache-Control is neither no-store nor private'];
}

function mediaTypeOf({ headers }: Reply): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
}
