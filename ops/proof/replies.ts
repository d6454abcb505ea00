import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import type { Ask, Reply } from './target.ts';

/** What each service calls what nobody may see, and who nobody knows. */
const codes = {
  reports: { hidden: 'not-found', unknown: 'authentication-required', invalid: 'validation' },
  mastery: { hidden: 'resource-not-found', unknown: 'authentication-required', invalid: 'invalid-request' },
} as const satisfies Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;
export type Refusal = keyof (typeof codes)['reports'];

const statusOf: Readonly<Record<Refusal, number>> = { hidden: 404, unknown: 401, invalid: 400 };

/** An answer in a few words, without anything of its body but what the contract defines. */
export function describeReply(service: ServiceName, reply: Reply): string {
  if (reply.status === 0) return `no answer (${reply.text})`;
  const code = codeOf(service, reply);
  return code === undefined ? String(reply.status) : `${reply.status} ${code}`;
}

/** What a problem is called; undefined for what is none. */
export function codeOf(service: ServiceName, { status, text }: Reply): string | undefined {
  const json = parseStrictJson(text);
  if (!json.ok || status < 400) return undefined;
  if (service === 'mastery') return masteryProblem.safeParse(json.value).data?.code;
  const type = reportsProblem.safeParse(json.value).data?.type;
  return type === undefined ? undefined : new URL(type).pathname.split('/').at(-1);
}

/** What is wrong with an answer that has to be a refusal of the contract. */
export function refusalFindings(service: ServiceName, refusal: Refusal, reply: Reply): readonly string[] {
  const expected = `${statusOf[refusal]} ${codes[service][refusal]}`;
  const found = describeReply(service, reply);
  if (found !== expected) return [`answers ${found} in place of ${expected}`];
  const json = parseStrictJson(reply.text);
  const { retryable } = json.ok ? (json.value as { readonly retryable?: unknown }) : {};
  return [
    ...(mediaTypeOf(reply) === 'application/problem+json' ? [] : ['the problem has another media type']),
    ...(retryable === false ? [] : ['the problem says that it may be repeated']),
    ...storableFindings(reply),
  ];
}

/** What is wrong with an answer that has to be the route's success. */
export function successFindings(ask: Ask, reply: Reply): readonly string[] {
  const { service, success } = ask.route;
  if (reply.status !== success.status)
    return [`answers ${describeReply(service, reply)} in place of ${success.status}`];
  const json = parseStrictJson(reply.text);
  if (!json.ok) return ['the body is no JSON'];
  const parsed = success.schema.safeParse(json.value);
  const breaches = (parsed.error?.issues ?? [])
    .slice(0, 5)
    .map(({ path, message }) => `breaks the schema at /${path.map(String).join('/')}: ${plainText(message)}`);
  return [
    ...(mediaTypeOf(reply) === 'application/json' ? [] : ['the body has another media type']),
    ...breaches,
    ...storableFindings(reply),
  ];
}

/** The members of an answer that was found to be sound. */
export function bodyOf({ text }: Reply): Readonly<Record<string, unknown>> {
  const json = parseStrictJson(text);
  return json.ok && typeof json.value === 'object' && json.value !== null
    ? (json.value as Readonly<Record<string, unknown>>)
    : {};
}

/** An answer that a shared cache may keep is one that another tenant may be given. */
function storableFindings({ headers }: Reply): readonly string[] {
  const directives = (headers.get('cache-control') ?? '').toLowerCase().split(/\s*,\s*/);
  const kept = directives.includes('no-store') || directives.includes('private');
  return kept ? [] : ['a shared cache may keep the answer: Cache-Control is neither no-store nor private'];
}

function mediaTypeOf({ headers }: Reply): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
}
