import type { BackgroundFunction } from './background.ts';
import { listCandidateReports } from './reports/routes/list-candidate-reports.ts';
import { materializeAttemptReport } from './reports/routes/materialize-attempt-report.ts';
import { readAttemptReport } from './reports/routes/read-attempt-report.ts';
import { readEquivalence } from './reports/routes/read-equivalence.ts';
import { readReadiness } from './reports/routes/read-readiness.ts';
import type { Route } from './route.ts';

/**
 * Serves the synthetic sandbox of the reports service: one function for all of its routes, without any grant. It has no tenant's data and opens no
 * gate, so it exists whether or not gates are open [RP-032, RP-033].
 */
export const serveSandbox: BackgroundFunction = {
  service: 'reports',
  operationId: 'serveSandbox',
  summary: 'Serves requests of the reports service from synthetic fixtures, without checking a token',
  trigger: 'sandbox',
  gates: [],
  handler: 'functions/sandbox/handler.ts',
  lambda: {
    memoryMb: 256,
    timeoutSeconds: 5,
    grants: [],
    reservedConcurrency: 10,
    impact: 'Client developers cannot test against the sandbox. Production does not depend on it.',
  },
};

/** Returns a route as the sandbox serves it: no gate, no token, no call to an owner, and a small body that is sent as a whole. */
function inSandbox<R extends Route>(row: R): R {
  const { handler, lambda } = serveSandbox;
  return {
    ...row,
    gates: [],
    receipts: [],
    handler,
    lambda,
    success: { ...row.success, transfer: 'buffered', headers: [] },
    problems: [],
    budget: { calls: 0, depth: 0 },
  };
}

/** The routes of the sandbox, with paths, parameters and schemas of production [RP-033]. It serves no other route of the service. */
export const sandboxRoutes = {
  readAttemptReport: inSandbox(readAttemptReport),
  readReadiness: inSandbox(readReadiness),
  listCandidateReports: inSandbox(listCandidateReports),
  readEquivalence: inSandbox(readEquivalence),
  materializeAttemptReport: inSandbox(materializeAttemptReport),
} as const;
