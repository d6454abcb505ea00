import {
  count,
  instant,
  proportion,
  reference,
  requestReference,
} from '#shared/contract/reports/primitives.ts';
import { fieldError, reportsProblem, sourceService } from '#shared/contract/reports/problem.ts';
import { sourceRef } from '#shared/contract/reports/source-ref.ts';
import type { StopReason } from '#shared/contract/stop-reason.ts';
import { component } from './text.ts';
import type { ValueText } from './text.ts';

/** The request headers of every document. */
export const requestHeaderTexts = {
  'Idempotency-Key':
    'A key that you generate for this request, for example a UUID: 1-255 visible ASCII characters. To retry, send the identical request with the same key; the service keeps the key for 24 hours. A different request needs a different key.',
  'If-Match':
    'The current `ETag` of the run, exactly as you received it. A newly scored attempt changes it: inspect the run first. Without the header the service returns 428; with any other tag it returns 412 and the current one.',
  traceparent:
    'The W3C trace context of your request. The service continues a valid trace and ignores an invalid one.',
} as const;

/** The response headers of every document. */
export const responseHeaderTexts = {
  'X-Request-Id':
    'The id that the service gave to this request. Problem documents repeat it as `requestId`; quote it when you report a failure.',
  'Cache-Control':
    'Always `no-store, no-transform`: do not store the response. A proxy that compresses it would weaken its entity tag.',
  'WWW-Authenticate':
    'Always `Bearer`. Behind a REST API of API Gateway the header is named `x-amzn-Remapped-WWW-Authenticate`.',
  'Retry-After':
    'Seconds to wait before you send the identical request again. Present on retryable problems, unless only an operator can remove the cause. On a success it means that an owner has not finished yet: wait this long before the next request.',
  ETag: 'The strong entity tag of the run’s current state. A newly scored answer changes it: send the tag of inspect as `If-Match`. Opaque: do not parse it.',
  Deprecation:
    'When the resource was or will be deprecated: an RFC 9745 date, `@` and Unix seconds. Present on deprecated resources only; the response keeps its meaning.',
  Sunset:
    'When the deprecated resource will be withdrawn: an RFC 8594 HTTP-date, never before `Deprecation`. Absent while no withdrawal is planned.',
  Link: 'The page that explains the deprecation (`rel="deprecation"`). Present with `Deprecation`.',
  'Idempotent-Replayed':
    '`true` if an earlier request with the same key had already succeeded; absent otherwise.',
} as const;

/** The fields that problem documents of both services have. */
export const problemFields = {
  type: 'The URI of the page that documents this problem type. It ends in the problem’s code and never changes.',
  title: 'A short summary of the problem type, for people. Do not branch on it.',
  status: 'The HTTP status of the problem, from 400 to 599.',
  detail: 'What went wrong in this request, for people. It never repeats submitted values or learner data.',
  instance: 'A URI that identifies this occurrence. Opaque.',
  requestId: 'The id of the request, equal to the header `X-Request-Id`. Quote it when you report a failure.',
} as const;

/** The meaning of each reason that ends an adaptive test. */
export const stopReasonMeanings: Readonly<Record<StopReason, string>> = {
  classifications_complete: 'every knowledge component in scope is `mastered` or `gap`',
  precision_target_met: 'the precision target of the policy is met, and so is every coverage floor',
  max_items: 'the policy’s largest number of items is reached, or no other item can be offered',
  time_budget: 'the policy’s time budget is over',
};

const traceId = 'The W3C trace id of the request. Quote it, with `requestId`, when you report a failure.';

/** The fields of every report that is composed from its owners. */
export const compositionFields = {
  sources: 'One receipt per source that the report was composed from.',
  observedAt: 'When the service composed this response.',
  requestId: 'The id of the request, equal to the header `X-Request-Id`.',
  traceId,
} as const;

/** The fields of every page of a list, except its rows. */
export const pageFields = {
  nextCursor: 'The cursor of the next page: send it as `cursor`. Null on the last page.',
  hasMore: 'Whether another page follows. True exactly if `nextCursor` is not null.',
  observedAt: compositionFields.observedAt,
} as const;

/** The query parameters of every list. */
export const pageParameters = {
  limit:
    'The most rows of a page, from 1 to 100. Default: 25. A page may have fewer rows although more follow.',
  cursor:
    'The `nextCursor` of the previous page. Send it within an hour, with the same filters, sort and limit, and with a token of the same subject and rights. Opaque. Absent: the first page.',
} as const;

/** Whether Analytics withholds the values of a snapshot. */
export const suppressionStatus: ValueText<'not_suppressed' | 'suppressed' | 'unknown'> = {
  text: 'Whether Analytics withholds the values, usually because the population is too small.',
  values: {
    not_suppressed: 'the values are published',
    suppressed: 'the values are withheld',
    unknown: 'Analytics does not state it, and the values are withheld',
  },
};

/** The components that every route of the reports service has. */
export const reportsCommonComponents = {
  ReportsProblem: component(reportsProblem, {
    about:
      'Why a request failed (RFC 9457). Every field is present; a field that does not apply is null. Branch on `type`.',
    fields: {
      ...problemFields,
      traceId,
      retryable:
        'Whether the identical request can succeed later. If true, wait for the seconds in `Retry-After` and send it again.',
      dependency: 'The source that caused the failure. Null if the failure has nothing to do with a source.',
      fieldErrors: 'The invalid places of the request, at most 100. Null if the request was valid.',
      operationId:
        'The id of the operation that a write began, so that you can find out what became of it. Null if no write began.',
    },
  }),
  FieldError: component(fieldError, {
    about: 'One invalid place of a request.',
    fields: {
      pointer:
        'A JSON Pointer to the place, below `/path`, `/query`, `/headers` or `/body`. A name of more than 100 characters is cut and ends in `…`.',
      code: 'A stable code for what is wrong, for example `required` or `out-of-range`.',
      message: 'What is wrong, for people. It never repeats the submitted value.',
    },
  }),
  SourceService: component(sourceService, {
    text: 'A source of facts.',
    values: {
      qti: 'test delivery: attempts, items, forms and their outcomes',
      results: 'durable results: settled scores, mastery and gate decisions',
      analytics: 'cohort roll-ups, equivalence studies and item statistics',
      content: 'test specifications (blueprints), gate criteria, and crosswalks to external assessments',
      case: 'standards and knowledge components',
      oneroster: 'classes, schools and enrollments',
      caliper: 'learning events',
      mastery_engine: 'adaptive diagnostics',
      bank: 'item banks; the receiver of revision orders for items',
      blueprint: 'the receiver of revision orders for calibrations and crosswalks',
      unknown: 'a source that this version has no name for',
    },
  }),
  SourceRef: component(sourceRef, {
    about: 'The receipt of one source: what the service read, and how fresh it was.',
    fields: {
      service: 'The source.',
      resourceId: 'The id of the resource at its source.',
      observedAt: 'When the service read the source for this response.',
      version: 'The entity tag or version that the source gave. Null if it gave neither.',
      status: {
        text: 'How fresh the source was. A required source is always `current`.',
        values: {
          current: 'up to date',
          stale: 'out of date, according to the source',
          unavailable: 'could not be read',
          unknown: 'the source does not state it',
        },
      },
    },
  }),
  PlatformReference: component(
    reference,
    'An id that its owner assigned: 1-255 bytes of UTF-8 without white space. Opaque and case-sensitive: pass it on exactly as you received it, percent-encoded as one segment in a path.',
  ),
  RequestReference: component(
    requestReference,
    'An id that its owner assigned: 1-255 bytes of UTF-8 without white space and without U+FFFD, which replaces bytes that are not UTF-8. Opaque and case-sensitive: pass it on exactly as you received it, percent-encoded as one segment in a path.',
  ),
  Instant: component(instant, 'An instant in UTC (RFC 3339, ending in `Z`).'),
  Proportion: component(
    proportion,
    'A number from 0 to 1 with at most six decimal places. The schema does not count them: in binary arithmetic `multipleOf` would reject valid numbers.',
  ),
  Count: component(count, 'A whole number from 0 to 2,147,483,647.'),
};
