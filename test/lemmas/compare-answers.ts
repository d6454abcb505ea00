import { expect } from 'vitest';
import * as z from 'zod';
import type { TestStack } from '#test/support/stack.ts';
import { reportsProblem, type ReportsProblem } from '#shared/contract/reports/problem.ts';
import { sourceRef } from '#shared/contract/reports/source-ref.ts';
import type { Route } from '#shared/contract/route.ts';
import { indistinguishable, type GatewayReply } from '#test/support/gateway-call.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';

/** A JSON value. */
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
interface JsonObject {
  readonly [name: string]: Json;
}

/** What a route answers without any fault, and what it answers for an id that nobody has. */
export interface Sound {
  readonly route: Route;
  readonly given: GatewayReply;
  readonly absent: GatewayReply;
}

/**
 * An answer in one line: of a problem its status, type and owner; of a report `200`, and in what it differs from the sound one, ids and times
 * of the request aside. Whatever nobody has a word for is named by its place, so that no table expects it. On the way it holds every report
 * to its schema, and every problem to its envelope, to `Retry-After` and to telling nothing.
 */
export function sentenceOf(stack: Pick<TestStack, 'urls'>, sound: Sound, reply: GatewayReply): string {
  const sentence = reportsAnswerOf(reply);
  if (reply.status === 200) {
    expectReport(sound.route, reply);
    return [sentence, ...deviationsOf(bodyOf(sound.given), bodyOf(reply))].join(', ');
  }
  const { retryable } = reportsProblemOf(reply);
  expect([reply.status, retryable]).toEqual([reply.status, reply.status !== 404]);
  expect([sentence, reply.headers.has('retry-after')]).toEqual([sentence, retryable]);
  if (reply.status === 404) expect(indistinguishable(reply)).toEqual(indistinguishable(sound.absent));
  // The request's own ids are random: any short text may occur in them.
  const told = JSON.stringify({ ...bodyOf(reply), requestId: '', traceId: '', instance: '' }).toLowerCase();
  const secrets = [...idsOf(bodyOf(sound.given)), ...upstreamWords, new URL(stack.urls.platformUrl).host];
  expect(secrets.filter((word) => told.includes(word.toLowerCase()))).toEqual([]);
  return sentence;
}

/** What only a body, an address or a header of an owner can have said. */
const upstreamWords = ['injected', 'no such entity', '<html', 'tenant-', '/ims/', '/core/', '/qti/'];

function bodyOf({ text }: GatewayReply): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** A report is what its schema says, and not older than what it stands on [RP-072]. */
export function expectReport({ success: { schema } }: Route, reply: GatewayReply): void {
  const body = bodyOf(reply);
  expect(schema.safeParse(body).error?.issues ?? []).toEqual([]);
  const times = [...leavesOf(body)].filter(([place]) => /^\/sources?(\/\d+)?\/observedAt$/.test(place));
  expect(times.length).toBeGreaterThan(0);
  for (const [, time] of times) expect(text(time) <= text(body['observedAt'])).toBe(true);
}

/** A time as the report has it: all of them have milliseconds and end in Z. */
function text(time: Json | undefined): string {
  return z.string().length(24).parse(time);
}

/** Every value that is no container, by its JSON Pointer; an empty container is one too, by what it looks like. */
function* leavesOf(value: Json, place = ''): Generator<readonly [string, null | boolean | number | string]> {
  if (typeof value !== 'object' || value === null) {
    yield [place, value];
    return;
  }
  const members = Object.entries(value);
  if (members.length === 0) yield [place, JSON.stringify(value)];
  for (const [name, member] of members) yield* leavesOf(member, `${place}/${name}`);
}

/** Ids and versions of an answer, and of everything that its receipts name. */
function idsOf(body: JsonObject): readonly string[] {
  return [...leavesOf(body)].flatMap(([place, value]) =>
    typeof value === 'string' && value.length >= 8 && /(Id|Ids\/\d+|Guid|Guids\/\d+|version)$/i.test(place)
      ? value
      : [],
  );
}

/** What one request has for itself. The time of an item's evidence is a fact and stays. */
const ofTheRequest =
  /(^|\/data\/\d+|\/(sources?|evidenceRefs)(\/\d+)?)\/(observedAt|requestId|traceId)$|^\/nextCursor$|^\/receipt\/(downloadUrl|expiresAt)$/;

/** A report without what one request has for itself: objects and arrays anew, so that it can stand beside an expectation. */
export function factsOf(report: unknown, place = ''): unknown {
  if (Array.isArray(report)) return report.map((member, at) => factsOf(member, `${place}/${at}`));
  // An expectation of the test runner is no plain object.
  if (typeof report !== 'object' || report === null || Object.getPrototypeOf(report) !== Object.prototype)
    return report;
  return Object.fromEntries(
    Object.entries(report)
      .map(([name, member]) => [`${place}/${name}`, name, member] as const)
      .filter(([at]) => !ofTheRequest.test(at))
      .map(([at, name, member]) => [name, factsOf(member, at)]),
  );
}

function deviationsOf(sound: JsonObject, body: JsonObject): readonly string[] {
  const before = new Map(leavesOf(sound));
  const after = new Map(leavesOf(body));
  const places = new Set([...before.keys(), ...after.keys()]);
  const differing = [...places].filter(
    (place) => !ofTheRequest.test(place) && before.get(place) !== after.get(place),
  );
  const words = differing.map((place) => wordFor(place, body) ?? `differs at ${place}`);
  return [...new Set(words)].toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Receipts first, then what follows from them. */
function rankOf(word: string): number {
  return [/ (newer|stale|unavailable)$/, /^indeterminate$/, /^without /].findIndex((kind) => kind.test(word));
}

const problems = z.tuple([reportsProblem], reportsProblem);

const withheldReasons = z.array(z.object({ reason: z.string() }));

function wordFor(place: string, body: JsonObject): string | undefined {
  const { data, withheld } = body;
  // A page that has passed over everything is another one in every place.
  if (Array.isArray(withheld) && Array.isArray(data) && data.length === 0)
    return `withheld ${withheldReasons
      .parse(withheld)
      .map(({ reason }) => reason)
      .join(' and ')}`;
  const receipt = /^(.*\/sources?(?:\/\d+)?)\/(?:version|status)$/.exec(place)?.[1];
  if (receipt !== undefined) {
    const { service, status, version } = sourceRef.parse(at(body, receipt));
    expect([status, version === null]).toEqual([status, status === 'unavailable']);
    return `${service} ${status === 'current' ? 'newer' : status}`;
  }
  if (/^\/entries\/\d+\/(decision|limitations(\/\d+)?)$/.test(place)) {
    const entries = body['entries'] as readonly JsonObject[];
    const isUndecided = ({ decision, limitations }: JsonObject): boolean =>
      decision === 'indeterminate' && (limitations as readonly Json[]).length > 0;
    return entries.every(isUndecided) ? 'indeterminate' : undefined;
  }
  if (place.startsWith('/incompleteSections')) {
    const [section, ...others] = problems.parse(body['incompleteSections']);
    expect([others, section.requestId]).toEqual([[], body['requestId']]);
    return withoutSection(section);
  }
  return undefined;
}

/** What a report goes without. */
export function withoutSection({ status, type, dependency }: ReportsProblem): string {
  return `without ${status} ${type.split('/').at(-1) ?? ''} ${dependency ?? ''}`;
}

function at(body: JsonObject, place: string): Json | undefined {
  return place
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((value, name) => (value as JsonObject | undefined)?.[name], body);
}
