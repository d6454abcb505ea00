import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { Reply } from './target.ts';

/** Headers whose value depends on the single request or its network path. Only their presence is compared. */
const VOLATILE_HEADERS: ReadonlySet<string> = new Set([
  'date',
  'set-cookie',
  'via',
  'x-amz-apigw-id',
  'x-amz-cf-id',
  'x-amz-cf-pop',
  'x-amzn-requestid',
  'x-amzn-trace-id',
  'x-request-id',
]);

/** Hop-by-hop headers (RFC 9110 section 7.6.1). They are ignored, since the service does not set them. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive']);

/** Members of a problem document that identify one occurrence. */
const VOLATILE_MEMBERS = ['requestId', 'traceId', 'instance'] as const;

/**
 * Returns the differences between two responses that a caller could see: only the status if that differs, else the headers with their values and the
 * body byte for byte. The ids of the occurrence may differ but must have the same format [RP-316, MA-214].
 * @returns one sentence per difference, without any value of a header or body; empty if nothing differs
 */
export function compareResponses(one: Reply, other: Reply): readonly string[] {
  if (one.status !== other.status)
    return [`the status is ${one.status} in one and ${other.status} in the other`];
  return [...compareHeaders(one.headers, other.headers), ...compareBodies(one.text, other.text)];
}

function compareHeaders(one: Headers, other: Headers): readonly string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => !HOP_BY_HOP.has(name))
    .toSorted();
  return names.flatMap((name) => {
    if (!one.has(name) || !other.has(name)) return [`only one of the two has the header ${name}`];
    if (VOLATILE_HEADERS.has(name)) return [];
    return one.get(name) === other.get(name) ? [] : [`the header ${name} differs`];
  });
}

function compareBodies(one: string, other: string): readonly string[] {
  const masked = [maskVolatileMembers(one), maskVolatileMembers(other)];
  if (masked[0] === masked[1]) return [];
  const [first, second] = [membersOf(one), membersOf(other)];
  const places = [...new Set([...first.keys(), ...second.keys()])].filter(
    (name) => !VOLATILE_MEMBERS.some((member) => member === name) && first.get(name) !== second.get(name),
  );
  return places.length === 0
    ? ['the bodies have the same members but different bytes']
    : [`the bodies differ at ${places.map((name) => `/${name}`).join(', ')}`];
}

/** Returns the text with every hexadecimal digit of its requestId, traceId and instance masked, so that only their format is compared. */
function maskVolatileMembers(text: string): string {
  const members = membersOf(text);
  return VOLATILE_MEMBERS.reduce((masked, name) => {
    const value = members.get(name);
    return value === undefined ? masked : masked.replace(value, () => value.replace(/[0-9a-f]/g, 'x'));
  }, text);
}

/** Returns the members of a JSON object, each as JSON text; none for any other text. */
function membersOf(text: string): ReadonlyMap<string, string> {
  const json = parseStrictJson(text);
  if (!json.ok || typeof json.value !== 'object' || json.value === null) return new Map();
  return new Map(Object.entries(json.value).map(([name, value]) => [name, JSON.stringify(value)]));
}
