import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { localTableName } from '#shared/stage/local-stage.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { PlatformState } from '#test/support/platform-control.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';
import { bankOf, takeJourney, type Journey } from '#test/support/take-journey.ts';

const stack = useTestStack({ bundled: true });
const runs = useAdaptiveRuns(stack);
let journey: Journey;
let state: PlatformState;
beforeAll(async () => {
  const bank = bankOf(stack.seed, 'tenant-aurora', 'fraction-subtraction-short');
  journey = await takeJourney(runs, { bank, learner: 1, mode: 'production_learner' });
  state = await runs.state();
});

describe('a learner’s whole run', () => {
  /** Everything that the service must not keep, by what it is. */
  function secrets(): Readonly<Record<string, readonly string[]>> {
    const answers = journey.steps.map(({ given }) => given.body);
    const sessions = Object.entries(state.entities['qti.session']!);
    const { credentials } = stack.seededTenants.get('tenant-aurora')!.platform;
    return {
      learner: [runs.startBody().resultsStudentId!],
      candidate: sessions.map(([, held]) => (held as { candidateRef: string }).candidateRef),
      session: sessions.map(([id]) => id),
      item: journey.answered.map(({ item }) => item.artifactVersionId),
      attempt: sessions.flatMap(([, held]) =>
        (held as { session: { attempts: { attemptId: string }[] } }).session.attempts.map(
          ({ attemptId }) => attemptId,
        ),
      ),
      continuation: answers.map(({ continuationToken }) => continuationToken.split('.')[3]!.slice(0, 40)),
      score: answers.flatMap(({ scale }) =>
        scale === null ? [] : [String(scale.scaleScore), String(scale.standardError)],
      ),
      posterior: answers.flatMap(({ kcClassifications }) =>
        kcClassifications.map(({ posteriorProbability }) => String(posteriorProbability)),
      ),
      result: [journey.last.body.resultRecordRef!, journey.last.body.caliperEventRef!],
      credential: Object.values(credentials),
    };
  }

  it('leaves none of its facts in any log line [MA-007, MA-058, MA-063, MA-088]', () => {
    const text = JSON.stringify(stack.logs());
    expect(text).toContain('RUN_RECEIPT');
    for (const [what, values] of Object.entries(secrets())) {
      expect(values.length).toBeGreaterThan(0);
      expect([what, values.filter((value) => text.includes(value))]).toEqual([what, []]);
    }
    expect(text).not.toMatch(/mastered|not_yet|"gap"|Bearer|eyJ[\w-]+\./);
  });

  it('leaves in the control table digests, states, times and ids of operations, and no more [MA-002, MA-004, MA-006, MA-058, MA-145, MA-146]', async () => {
    const { dynamo } = clientsOf(stack);
    const scan = async (table: 'control' | 'records') =>
      (await dynamo.send(new ScanCommand({ TableName: localTableName(table) }))).Items ?? [];
    const [items, records] = await Promise.all([scan('control'), scan('records')]);
    // Counts of requests: a hash of the tenant, a window, a number.
    const counts = items.filter((item) => 'requests' in item);
    expect(counts).not.toHaveLength(0);
    for (const item of counts) {
      expect(Object.keys(item).toSorted()).toEqual(['id', 'purgeAt', 'requests']);
      expect(item['id']?.S).toMatch(/^rate#[0-9a-f]{64}#\d+#\d+$/);
    }
    const control = items.filter((item) => !counts.includes(item));
    expect(control.length).toBeGreaterThanOrEqual(journey.steps.length);
    const allowed = [
      'attemptId',
      'createdAt',
      'hash',
      'id',
      'leaseUntil',
      'operationId',
      'purgeAt',
      'state',
      'terminalStatus',
    ];
    for (const item of control) {
      expect(Object.keys(item).filter((name) => !allowed.includes(name))).toEqual([]);
      const state = item['state']?.S;
      expect(['started', 'completed', 'failed']).toContain(state);
      expect(item['terminalStatus'] !== undefined).toBe(state !== 'started');
      expect(item['id']?.S).toMatch(/^[\w-]{43}$/);
      expect(item['hash']?.S).toMatch(/^[\w-]{43}$/);
      expect(item['operationId']?.S).toMatch(/^op_[\w-]+$/);
    }
    const text = JSON.stringify(items);
    for (const [what, values] of Object.entries(secrets()))
      expect([what, values.filter((value) => text.includes(value))]).toEqual([what, []]);
    // The records are those of the release, to which no run has added.
    const kinds = new Set(
      records.map((item) => /#(policy|calibration|analysis-policy)#/.exec(item['pk']?.S ?? '')?.[1]),
    );
    expect(kinds).toEqual(new Set(['policy', 'calibration', 'analysis-policy']));
  });
});
