import httpSecurityHeaders from '@middy/http-security-headers';
import type { Stage } from './stage.ts';

/** Adds the security headers that are meaningful for a JSON API; the package's other headers only concern pages. */
export function securityHeaders(): Stage {
  // SAFETY: the package changes the headers of the response that it finds; its types name no response.
  return httpSecurityHeaders({
    contentSecurityPolicy: false,
    crossOriginEmbedderPolicy: false,
    crossOriginOpenerPolicy: false,
    dnsPrefetchControl: false,
    downloadOptions: false,
    originAgentCluster: false,
    permissionsPolicy: false,
    permittedCrossDomainPolicies: false,
    reportTo: false,
    reportingEndpoints: false,
    xssProtection: false,
    strictTransportSecurity: { maxAge: 63_072_000, includeSubDomains: true, preload: false },
  }) as Stage;
}
