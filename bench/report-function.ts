import type { APIGatewayProxyEvent } from 'aws-lambda';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { createTestIssuer, proxyEvent, testAudience, testIssuerUrl } from '#test/support/lambda.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { ATTEMPT_ID, CANDIDATE_ID, TENANT_ID } from './attempt.ts';
import { unwrap } from './measure.ts';

/** The bundle of the function that reads a report, as it deploys: its path. */
export async function buildReportFunction(): Promise<string> {
  const [built] = unwrap(await buildFunctions({ only: [readAttemptReport.operationId] }));
  return built?.file ?? '';
}

/** A request for the whole report of the made-up attempt, and the key set that its token is verified with. */
export async function makeReportRequest(
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly event: APIGatewayProxyEvent; readonly jwks: string }> {
  const issuer = await createTestIssuer();
  const seconds = Math.floor(Date.now() / 1000);
  const token = await issuer.sign({
    tenantId: TENANT_ID,
    studentIds: [CANDIDATE_ID],
    iat: seconds,
    exp: seconds + 3_600,
  });
  const event = proxyEvent(
    readAttemptReport,
    { path: { attemptId: ATTEMPT_ID }, query: { view: 'evidence' }, headers },
    { Authorization: `Bearer ${token}` },
  );
  return { event, jwks: JSON.stringify(issuer.jwks) };
}

/** The variables that the function finds. Only the stage `local` speaks plain http. */
export function functionVariables(
  stage: string,
  keySetUrl: string,
  platformUrl: string,
): Readonly<Record<string, string>> {
  return {
    STAGE: stage,
    TOKEN_ISSUER: testIssuerUrl,
    TOKEN_AUDIENCE: testAudience.reports,
    TOKEN_JWKS_URL: keySetUrl,
    TOKEN_ALGORITHMS: 'ES256',
    PROBLEMS_URL: 'https://docs.example/problems',
    REQUESTS_PER_TENANT: '100000',
    PLATFORM_TENANT: TENANT_ID,
    PLATFORM_JWT: 'credential',
    PLATFORM_URL: platformUrl,
    APPROVED_HOSTS: new URL(platformUrl).host,
    LOG_LEVEL: 'error',
  };
}
