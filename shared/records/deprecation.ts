import { parseInstant } from '#shared/kernel/instant.ts';
import type { DeprecationHeaders } from '#shared/problems/problem.ts';
import type { Lifecycle } from './table.ts';

/**
 * Returns the headers of every response about a deprecated record, and none for any other [MA-049, MA-050]: `Deprecation` as an RFC 9745 date,
 * `Sunset` as an RFC 8594 HTTP-date, and a link to the page that explains both.
 */
export function deprecationHeaders(lifecycle: Lifecycle, documentationUrl: string): DeprecationHeaders {
  const deprecated = lifecycle.deprecatedAt === undefined ? undefined : parseInstant(lifecycle.deprecatedAt);
  if (deprecated === undefined) return {};
  const sunset = lifecycle.sunsetAt === undefined ? undefined : parseInstant(lifecycle.sunsetAt);
  return {
    Deprecation: `@${Math.floor(deprecated / 1000)}`,
    ...(sunset === undefined ? {} : { Sunset: new Date(sunset).toUTCString() }),
    Link: `<${documentationUrl}>; rel="deprecation"; type="text/html"`,
  };
}
