import { expect } from 'vitest';
import { analyzeRun } from '#shared/contract/background.ts';
import { openImprovementRuns, type ImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';
import { anyhow, type Dependency } from './faults-expected.ts';
import { openWaits, walk, type FaultRules, type Flow } from './faults-walk.ts';

// Every fault of every upstream call of the worker on improvement runs, over the functions in this process; then the sweeper sends the run on.

const waits = openWaits();
const stack = useTestStack({ inProcess: waits.ports });
const runs = lazily(() => openImprovementRuns(stack));

/** What the run has pinned: it waits for an owner that returns nothing usable, and fails without its evidence. */
const evidence = (owner: 'analytics' | 'blueprint'): Dependency => ({
  ...anyhow(`analyzing, owner ${owner}`),
  'not-found': `failed, evidence_gone ${owner}`,
  'wrong-entity': `failed, evidence_moved ${owner}`,
  driftedOnce: 'completed',
  drifted: `failed, evidence_changed ${owner}`,
  staleOnce: 'completed',
  stale: `failed, evidence_changed ${owner}`,
});
/** A receiver: only an acknowledgement of the order that was sent is one, of whichever version. */
const receiver = (module: 'bank' | 'blueprint'): Dependency => ({
  ...anyhow(`blocked_upstream, ${module} without acknowledgements`),
  driftedOnce: 'completed',
  drifted: 'completed',
});

const flow: Flow<ImprovementRuns> = {
  route: analyzeRun,
  calm: 'completed',
  areWritesApart: true,
  dependencies: {
    readAnalysisArtifact: evidence('analytics'),
    readAlignmentSources: evidence('blueprint'),
    readAlignmentCrosswalk: evidence('blueprint'),
    orderBankRevision: receiver('bank'),
    orderBlueprintRevision: receiver('blueprint'),
  },
  open: ({ administration, analyze, progress, leaveAlone }) =>
    Promise.resolve(async () => {
      stack.improvement.pause();
      const run = await analyze(administration('spring-gate'));
      let isSwept = false;
      return {
        async send() {
          const from = stack.logs().length;
          if (isSwept) {
            await leaveAlone(run);
            await stack.improvement.sweep();
          }
          isSwept = true;
          // Each time a worker that knows of no outage: one that does calls the owner again only after seconds.
          await stack.killWorkers(analyzeRun.operationId);
          stack.improvement.resume();
          await stack.improvement.settled();
          stack.improvement.pause();
          const { run: record, orders } = await progress(run);
          expect(record.receipt !== undefined).toBe(record.state.startsWith('completed'));
          const waiting = orders.filter(({ ack }) => ack === null);
          const modules = new Set(waiting.map(({ targetModule }) => targetModule));
          const said = stack
            .logs()
            .slice(from)
            .flatMap(({ function: name, line }) => {
              const { code, reason, owner } = line as Readonly<Record<string, string>>;
              const isReason = code === 'IMPROVEMENT_RUN_STALLED' || code === 'IMPROVEMENT_RUN_FAILED';
              return name === analyzeRun.operationId && isReason ? `${reason} ${owner}` : [];
            });
          const sentence = [
            record.state,
            ...new Set(said),
            ...(record.state === 'blocked_upstream'
              ? [`${[...modules].join()} without acknowledgements`]
              : []),
          ];
          return { sentence: sentence.join(', '), isProblem: false, retryAfter: null };
        },
        // A run that has failed stays so: the next analysis is another one.
        isRepeated: ({ sentence }) => !sentence.startsWith('failed'),
        async afterwards() {
          for (const { status, ack } of (await progress(run)).orders)
            expect([status, ack === null]).toEqual([expect.stringMatching(/^(accepted|replayed)$/), false]);
        },
      };
    }),
};

const rules: FaultRules = {
  byAnswer: {
    [analyzeRun.operationId]: [
      ['completed', 'RP-150'],
      ['failed', 'RP-154, RP-155'],
      ['blocked_upstream', 'RP-217, RP-219'],
      ['analyzing', 'RP-150'],
    ],
  },
};

walk(flow, { stack: () => stack, world: () => runs, waits, rules });
