import { CALLS_AT_ONCE } from '#functions/reports/endpoints/answer-report.ts';
import type { ReportDependencies } from '#functions/reports/endpoints/answer-report.ts';
import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import { ok } from '#shared/kernel/result.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import { addressOf } from '#shared/platform/transport/address.ts';
import { secret } from '#shared/platform/transport/secret.ts';

/** The dependencies of a read route in one container: the real client over the given network. */
export function dependenciesOver(tenantId: string, fetch: Fetch): ReportDependencies {
  const profile = profileOf(tenantId);
  return {
    profiles: { resolve: () => Promise.resolve(ok(profile)), forget: () => false },
    connect: (served) =>
      createPlatform({
        profile: served,
        fetch,
        now: () => 0,
        // Nothing is late, and nothing is waited for.
        sleep: (_, signal) => (signal === undefined ? Promise.resolve() : new Promise(() => undefined)),
        random: () => 0,
        deadline: 1,
        maxConcurrency: CALLS_AT_ONCE,
      }),
    frameworks: createFrameworks(),
    now: Date.now,
  };
}

function profileOf(tenantId: string): ServiceProfile {
  return { tenantId, baseUrl: 'https://platform.example', credential: secret('credential') };
}

/** Where the client of a tenant asks. */
export function addressAt(
  tenantId: string,
  operation: UpstreamOperation,
  { path = {}, query = {} }: Pick<UpstreamCall<UpstreamOperation>, 'path' | 'query'>,
): string {
  const address = addressOf(operation, profileOf(tenantId), path, query);
  if (address === undefined) throw new Error(`${operation.id}: no address`);
  return address;
}

/** An owner's answer. */
export function answerWith(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}
