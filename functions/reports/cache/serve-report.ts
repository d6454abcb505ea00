import type * as z from 'zod';
import type { Moment } from '#functions/reports/facts/facts.ts';
import { createSourceReader } from '#functions/reports/sources/create-reader.ts';
import type { Consulted, SourceReader } from '#functions/reports/sources/reader.ts';
import type { Route } from '#shared/contract/route.ts';
import { checkBody } from '#shared/http/checked-body.ts';
import type { BodyTemplate, CheckedBody } from '#shared/http/checked-body.ts';
import type { OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { OpenedPlatform } from '#shared/platform/open-platform.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { ClockReading, ResponseCache, Validator } from './response-cache.ts';
import { createPlaceholders } from './placeholders.ts';
import type { Placeholders } from './placeholders.ts';

/** What every report goes out through, once per container. */
export interface ReportServing {
  readonly cache: ResponseCache;
  readonly clock: () => ClockReading;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

/** One request for a report, with the platform of its verified tenant. */
export interface ReportRequest<R extends Route> extends OpenedPlatform {
  readonly route: R;
  readonly request: Correlated & Pick<OperationRequest, 'principal' | 'path' | 'query' | 'proved'>;
}

/** What of a request stands in its answer. */
type Correlated = Pick<OperationRequest, 'requestId' | 'traceId' | 'problemsUrl'>;

/** Composes a report of what its owners say. Of the moment it may only pass on what it is given: these are placeholders. */
export type Compose<R extends Route> = (
  sources: SourceReader,
  moment: Moment,
) => Promise<Result<z.input<R['success']['schema']>, Problem>>;

/**
 * Answers a GET route of reports. An answer that this container gave the same caller to the same request less than 30 seconds ago is given
 * again, with this request's ids and times, once every source that it stands on has confirmed in this very request that it has not changed
 * (RFC 9110 section 13.1.2). In every other case, failures included, the report is composed as if there had been none, so that no answer
 * depends on what the cache holds.
 *
 * Who may read is not judged again on a confirmed answer: the entry is bound to all of the caller's claims, and what they were compared with
 * is among the confirmed sources.
 */
export async function serveReport<R extends Route>(
  serving: ReportServing,
  { route, request, platform, profile }: ReportRequest<R>,
  compose: Compose<R>,
): Promise<Result<OperationAnswer<R>, Problem>> {
  const { cache, clock, random } = serving;
  const key = cache.keyOf({ profile, route, request });

  const known = cache.get(key);
  if (known !== undefined) {
    const observed = await confirm(platform, known.validators, clock);
    // It may have grown too old while its sources were asked.
    if (observed !== undefined && cache.get(key) === known)
      return ok({ body: write(known.template, request, clock().now, observed) });
    cache.drop(key);
  }

  const made = await makeReport({ clock, random }, { route, request, platform }, compose);
  if (!made.ok) return made;
  const { value, template, placeholders, consulted, composedAt } = made.value;
  // The pipeline refuses it for the same reasons, and says them.
  if (template === undefined) return ok({ body: value });
  const validators = isComplete(value) ? validatorsOf(placeholders, consulted) : undefined;
  // A body that is too large for the cache never becomes one text: its gaps are filled as it is written.
  const kept = validators === undefined ? undefined : template.keep(cache.maxLength);
  if (validators !== undefined && kept !== undefined)
    cache.set(key, { template: kept, validators, composedAt });
  return ok({ body: write(kept ?? template, request, composedAt.now, observedBy(placeholders)) });
}

/** Answers a route that writes before it reads: always composed, and never kept. */
export async function serveFreshReport<R extends Route>(
  serving: Pick<ReportServing, 'clock' | 'random'>,
  about: Making<R>,
  compose: Compose<R>,
): Promise<Result<OperationAnswer<R>, Problem>> {
  const made = await makeReport(serving, about, compose);
  if (!made.ok) return made;
  const { value, template, placeholders, composedAt } = made.value;
  const body =
    template === undefined ? value : write(template, about.request, composedAt.now, observedBy(placeholders));
  return ok({ body });
}

interface Making<R extends Route> {
  readonly route: R;
  readonly request: Correlated;
  readonly platform: Platform;
}

/** A composition with placeholders in the places of what is known when it is written. */
interface Made<R extends Route> {
  readonly value: z.input<R['success']['schema']>;
  /** Undefined: the value breaks the route's schema. */
  readonly template: BodyTemplate | undefined;
  readonly placeholders: Placeholders;
  readonly consulted: readonly Consulted[];
  readonly composedAt: ClockReading;
}

async function makeReport<R extends Route>(
  { clock, random }: Pick<ReportServing, 'clock' | 'random'>,
  { route, request, platform }: Making<R>,
  compose: Compose<R>,
): Promise<Result<Made<R>, Problem>> {
  const placeholders = createPlaceholders(random);
  const sources = createSourceReader({ platform, stamp: placeholders.observation, now: () => clock().now });
  const composed = await compose(sources, {
    observedAt: placeholders.composedAt,
    requestId: placeholders.requestId,
    traceId: placeholders.traceId,
    problemsUrl: request.problemsUrl,
  });
  if (!composed.ok) return composed;
  const composedAt = clock();
  const checked = checkBody(route, composed.value);
  const template = checked.ok ? templateOf(checked.value, placeholders) : undefined;
  return ok({ value: composed.value, template, placeholders, consulted: sources.consulted(), composedAt });
}

/** The times of its observations, in the order of their placeholders. */
function observedBy({ observations }: Placeholders): readonly number[] {
  return [...observations().values()];
}

/** The times at which each source was confirmed; undefined when any of them was not. All are asked, side by side. */
async function confirm(
  platform: Platform,
  validators: readonly Validator[],
  clock: () => ClockReading,
): Promise<readonly number[] | undefined> {
  const times = await Promise.all(
    validators.map(async ({ operation, call, etag }) => {
      const answer = await platform.revalidate(operation, call, etag);
      return answer.ok && answer.value === 'unchanged' ? clock().now : undefined;
    }),
  );
  return times.every((time) => time !== undefined) ? times : undefined;
}

/** The gaps of a body, in the order in which `write` fills them. */
function templateOf(
  body: CheckedBody,
  { requestId, traceId, composedAt, observations }: Placeholders,
): BodyTemplate {
  return body.template([requestId, traceId, composedAt, ...observations().keys()]);
}

/**
 * The body of one request.
 * @param now epoch milliseconds; a report is never older than what it stands on, even when the clock is set back meanwhile
 * @param observed the times of its observations, in the order of their placeholders
 */
function write(
  template: Pick<BodyTemplate, 'fill'>,
  { requestId, traceId }: Pick<OperationRequest, 'requestId' | 'traceId'>,
  now: number,
  observed: readonly number[],
): CheckedBody {
  const observedAt = Math.max(now, ...observed);
  return template.fill([requestId, traceId, ...[observedAt, ...observed].map(formatInstant)]);
}

/**
 * What confirms a composition, in the order of its placeholders; undefined when something in it cannot be confirmed: a source without a strong
 * entity tag, one that did not answer, or an answer that a later one of the same source has replaced.
 */
function validatorsOf(
  { observations }: Placeholders,
  consulted: readonly Consulted[],
): readonly Validator[] | undefined {
  const sources = new Map(consulted.map((source) => [source.stamp, source]));
  const validators = [...observations().keys()].map((placeholder): Validator | undefined => {
    const source = sources.get(placeholder);
    if (source?.etag === undefined || !isStrongEntityTag(source.etag)) return undefined;
    const { operation, call, etag } = source;
    return operation.method === 'GET' ? { operation, call, etag } : undefined;
  });
  return validators.length > 0 && validators.every((validator) => validator !== undefined)
    ? validators
    : undefined;
}

/** Whether neither the body nor a row of it goes without a section that the next composition might have. */
function isComplete(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { incompleteSections = [], data = [] } = body as {
    readonly incompleteSections?: readonly unknown[];
    readonly data?: readonly unknown[];
  };
  return incompleteSections.length === 0 && data.every(isComplete);
}
