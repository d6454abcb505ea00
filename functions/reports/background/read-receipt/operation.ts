import type { APIGatewayProxyEvent } from 'aws-lambda';
import { openReceiptLink, type LinkParts } from '#functions/reports/receipts/link.ts';
import { readReceipt } from '#shared/contract/background.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { acceptsGzip } from '#shared/http/content-coding.ts';
import { exchangeOf, type BaseRuntime, type Exchange } from '#shared/http/exchange.ts';
import { baseMiddleware, type Pipeline } from '#shared/http/base-middleware.ts';
import { once } from '#shared/http/once.ts';
import { Refusal } from '#shared/http/refusal.ts';
import { releaseState } from '#shared/http/stages/release-state.ts';
import { headerValues } from '#shared/http/syntax/headers.ts';
import { readQuery } from '#shared/http/syntax/parameters.ts';
import type { ReceiptStore } from '#shared/improvement/receipts.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { problem } from '#shared/problems/registry.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';

export interface ReceiptDependencies {
  readonly keys: KeyRing;
  readonly store: Pick<ReceiptStore, 'get'>;
}

/**
 * Serves GET `{receipts_url}/<sha256>?expires=…&signature=…`, without a token: returns the bytes of the link's bundle, as a download. Every faulty
 * request returns the same 404, and only a request with an unexpired link reads the bucket. An outage of keys or bucket, and a withdrawn gate, return
 * 503 for every request.
 * @param bind runs once per container, at its first request; a failure is not cached
 * @param watch the release; runs once per container
 */
export function createReceiptFunction(
  runtime: BaseRuntime,
  bind: () => ReceiptDependencies,
  watch: () => ReleaseWatch,
): Pipeline {
  const bound = once(bind);
  return baseMiddleware(
    { ...readReceipt, method: 'GET', transfer: 'stream' },
    runtime,
    async (event, context) => answer(await bound(), exchangeOf(context), event),
  ).use(releaseState(readReceipt, once(watch)));
}

async function answer(
  { keys, store }: ReceiptDependencies,
  { headers, receivedAt, log }: Exchange,
  event: APIGatewayProxyEvent,
): Promise<PipelineAnswer> {
  const parts = readLink(event);
  const receipt = parts === undefined ? undefined : await openReceiptLink(keys, parts, receivedAt);
  if (receipt === undefined) throw notFound();
  const { tenantId, sha256, mediaType } = receipt;
  const bytes = await store.get(tenantId, sha256);
  if (bytes === undefined) {
    log('RECEIPT_ABSENT');
    throw notFound();
  }
  return {
    statusCode: 200,
    headers: {
      'Content-Type': mediaType,
      'Content-Disposition': `attachment; filename="${sha256}.${fileExtensions[mediaType]}"`,
    },
    body: bytes,
    gzip: acceptsGzip(headerValues(headers, 'accept-encoding')),
    log,
  };
}

const fileExtensions = { 'application/json': 'json', 'application/zip': 'zip' } as const;

const query = ['expires', 'signature'] as const;

/** Returns the link of a request; undefined if the request has anything else. */
function readLink(event: APIGatewayProxyEvent): LinkParts | undefined {
  if (event.httpMethod !== 'GET' || (event.body ?? '') !== '') return undefined;
  const { values, invalid, unknown } = readQuery(event, query);
  const { expires, signature } = values;
  // Percent-encoded as it arrived: another spelling of the digest is another path.
  const sha256 = event.pathParameters?.['sha256'];
  if (invalid.length > 0 || unknown.length > 0) return undefined;
  if (sha256 === undefined || expires === undefined || signature === undefined) return undefined;
  return { sha256, expires, signature };
}

/** Returns the one response to a request that gets no bundle. */
function notFound(): Refusal {
  return new Refusal(problem('reports', 'not-found', 404));
}
