import type { Route } from '#shared/contract/route.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import type { StackUrls } from '#shared/stage/description.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { curlOf, tokenCommand } from '#local/call/curl.ts';
import { exampleRequest, type CallRequest } from '#local/call/example-request.ts';

/**
 * Example calls of every route that the stack serves, as commands for a POSIX shell. They work when pasted, in their order.
 * @param routes the served ones
 * @param tenant whose data the calls read
 */
export function renderExampleCalls(
  urls: StackUrls,
  routes: readonly Route[],
  tenant: SeededTenant | undefined,
): string {
  if (tenant === undefined) return '';
  const requests = routes.map((route) => exampleRequest(route, tenant.fixtures, {}));
  const complete = requests.filter(({ missing }) => missing.length === 0);
  const runs = requests.filter(({ missing }) => missing.length > 0).map(({ route }) => route.operationId);
  const calls = complete.map((request) => [
    `# ${request.route.summary}: npm run call -- ${request.route.operationId}`,
    curlOf(request, urls, `example-${request.route.operationId}`, '$TOKEN'),
  ]);
  return `${[
    '# The calls below work in a POSIX shell, in the folder of the project. npm run call does the same with less typing.',
    `TOKEN=$(${tokenCommand(tenant.tenantId, undefined, claimsOf(complete))})`,
    '',
    ...calls.flatMap((lines) => [...lines, '']),
    ...runCalls(runs),
    '# The sandbox: synthetic answers of the reports service, without a token',
    ...sandboxCalls(urls.sandboxUrl),
    '',
    '# Simulate an outage: Bank fails twice, and the next run retries until it recovers',
    `curl -sS -X POST ${urls.platformUrl}/_control/faults -d '{"operation":"bank.read_adaptive_pool_manifest","kind":"down","times":2}'`,
    'npm run journey',
    '',
    '# Withdraw a release gate: within 30 seconds its routes return 503. Then open it again.',
    'npm run gates -- apply --stage local --withdraw A',
    'npm run gates -- apply .local/manifest.jws --stage local',
  ].join('\n')}\n`;
}

/** The claims that a token needs for all of these requests. */
export function claimsOf(requests: readonly Pick<CallRequest, 'claims'>[]): CallRequest['claims'] {
  const claims: Record<string, string[]> = {};
  for (const [name, ids = []] of requests.flatMap((request) => Object.entries(request.claims)))
    claims[name] = [...new Set([...(claims[name] ?? []), ...ids])];
  return claims;
}

/** Calls that continue a run need the answer of an earlier one, which `npm run call` saves. */
function runCalls(operationIds: readonly string[]): readonly string[] {
  const adaptive = [
    '# Continue an adaptive run',
    'npm run call -- startAdaptiveRun',
    'npm run call -- answer --correct',
    'npm run call -- advanceAdaptiveRun',
    'npm run call -- inspectAdaptiveRun',
    '',
  ];
  const improvement = [
    '# Analyze an administration, then read the results',
    'npm run call -- analyzeAdministration',
    'npm run call -- readImprovementRun',
    'npm run call -- readAlignmentReport',
    'npm run call -- listRevisionOrders',
    '',
  ];
  return [
    ...(operationIds.includes('advanceAdaptiveRun') ? adaptive : []),
    ...(operationIds.includes('readImprovementRun') ? improvement : []),
  ];
}

function sandboxCalls(sandboxUrl: string): readonly string[] {
  const { masteryGateAttempt, adaptiveDiagnosticAttempt, candidate, form } = sandboxIds;
  return [
    `"${sandboxUrl}/v1/attempt-reports/${masteryGateAttempt}?view=evidence"`,
    `"${sandboxUrl}/v1/attempt-reports/${adaptiveDiagnosticAttempt}?view=standards"`,
    `"${sandboxUrl}/v1/attempt-reports/${masteryGateAttempt}/readiness"`,
    `"${sandboxUrl}/v1/candidates/${candidate}/attempt-reports?limit=1"`,
    `"${sandboxUrl}/v1/forms/${form}/equivalence"`,
    `-X POST "${sandboxUrl}/v1/attempt-reports:materialize"`,
  ].map((call) => `curl -sS ${call}`);
}
