import type { Route } from './route.ts';

/**
 * A function that no route of the registry calls. Like a route it is declared once: bundles, stacks and the local runtime read this row. It is
 * deployed only while all of its gates are open. `queue`: one message at a time; `schedule`: every given number of minutes; `link`: GET below
 * `{receipts_url}`, without a token; `sandbox`: the routes of the sandbox below `{sandbox_url}`, with any token or none.
 */
export type BackgroundFunction = Pick<Route, 'service' | 'operationId' | 'summary' | 'gates' | 'handler'> & {
  readonly lambda: Route['lambda'] & {
    /** The most executions at once, unless the stage sets another number: a function that any client may call must not use up the account's pool. */
    readonly reservedConcurrency?: number;
  };
} & (
    | { readonly trigger: 'queue' | 'link' | 'sandbox' }
    | {
        readonly trigger: 'schedule';
        readonly everyMinutes: number;
        /** The anchor of the heading in docs/runbook.md for when the function is no longer called. */
        readonly silence: string;
        /** After how many missing calls its silence is an alarm. Absent: 3. */
        readonly missing?: 2 | 3;
      }
  );

/** Returns whether a caller waits for the function's response, which may then be a problem. */
export function answersCaller({ trigger }: Pick<BackgroundFunction, 'trigger'>): boolean {
  return trigger === 'link' || trigger === 'sandbox';
}

/** Processes an improvement run as far as possible: one message of the queue names one run. */
export const analyzeRun: BackgroundFunction = {
  service: 'reports',
  operationId: 'analyzeImprovementRun',
  summary: 'Aligns the sources of an improvement run, evaluates its metrics and delivers its revision orders',
  trigger: 'queue',
  gates: ['D', 'F'],
  handler: 'functions/reports/background/analyze-run/handler.ts',
  lambda: {
    memoryMb: 1769,
    timeoutSeconds: 300,
    grants: [
      'improvement:read',
      'improvement:read-part',
      'improvement:create',
      'improvement:change',
      'improvement:queue',
      'receipts:write',
      'records:read',
      'profiles:read',
    ],
    impact: 'Improvement runs do not progress, and their orders do not reach Bank or Blueprint.',
  },
};

/** Watches the runs that have not ended. */
export const sweepRuns: BackgroundFunction = {
  service: 'reports',
  operationId: 'sweepImprovementRuns',
  summary: 'Sends stalled runs on, retries missing receivers, and ends exhausted runs',
  trigger: 'schedule',
  everyMinutes: 5,
  silence: 'sweeper-silent',
  gates: ['D', 'F'],
  handler: 'functions/reports/background/sweep-runs/handler.ts',
  lambda: {
    memoryMb: 256,
    timeoutSeconds: 60,
    grants: ['improvement:read', 'improvement:read-part', 'improvement:change', 'improvement:queue'],
    impact: 'Interrupted improvement runs do not continue, even after a missing receiver is back.',
  },
};

/** Serves one receipt bundle to the holder of an unexpired link to it. */
export const readReceipt: BackgroundFunction = {
  service: 'reports',
  operationId: 'readReceipt',
  summary: 'Serves a receipt bundle to the holder of an unexpired link',
  trigger: 'link',
  gates: ['D', 'F'],
  handler: 'functions/reports/background/read-receipt/handler.ts',
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 29,
    grants: ['receipts:read', 'keys:receipt-link'],
    impact: 'Clients cannot download the receipts of improvement runs.',
  },
};

/** Rotates the keys of tokens. It unwraps none. */
export const rotateKeys: BackgroundFunction = {
  service: 'reports',
  operationId: 'rotateKeys',
  summary:
    'Rotates the keys of continuations, cursors and receipt links, and retires those that nothing needs',
  trigger: 'schedule',
  everyMinutes: 60,
  silence: 'keys-not-rotated',
  gates: [],
  handler: 'functions/reports/background/rotate-keys/handler.ts',
  lambda: {
    memoryMb: 256,
    timeoutSeconds: 60,
    grants: ['ring:rotate', 'ring:wrap'],
    impact: 'Keys seal for longer than the stage allows. Requests are not affected.',
  },
};

/** Looks at the stage as `npm run doctor` does, and changes nothing. */
export const watchStage: BackgroundFunction = {
  service: 'reports',
  operationId: 'watchStage',
  summary: 'Checks every hour what npm run doctor checks, and counts what is left of whatever ends',
  trigger: 'schedule',
  everyMinutes: 60,
  silence: 'watcher-silent',
  missing: 2,
  gates: [],
  handler: 'functions/reports/background/watch-stage/handler.ts',
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 120,
    grants: ['stage:watch'],
    impact: 'Nobody learns of what will end or has been switched off. Requests are not affected.',
  },
};
/** Calls the stage from outside, as clients do, also while no learner is online. */
export const runCanary = {
  service: 'reports',
  operationId: 'runCanary',
  summary:
    'Calls the sandbox and, where the stage names one, starts and inspects a conformance run, as a client does',
  trigger: 'schedule',
  everyMinutes: 15,
  silence: 'canary-silent',
  gates: [],
  handler: 'functions/reports/background/run-canary/handler.ts',
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 75,
    grants: ['sandbox:call', 'canary:run'],
    impact: 'An outage while no learner is online is noticed only when the first learner meets it.',
  },
} as const satisfies BackgroundFunction;

export const backgroundFunctions: readonly BackgroundFunction[] = [
  analyzeRun,
  sweepRuns,
  readReceipt,
  rotateKeys,
  watchStage,
  runCanary,
];
