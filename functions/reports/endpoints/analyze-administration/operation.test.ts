import { describe, expect, it } from 'vitest';
import { analyzeAdministration } from '#shared/contract/reports/routes.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { ImprovementStore, RunKey } from '#shared/improvement/records.ts';
import { ok } from '#shared/kernel/result.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { createMemoryImprovementStore } from '#test/support/improvement-store.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { wholeRelease } from '#test/support/release.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import { analyzeAdministrationOperation } from './operation.ts';

// Two requests of one key at once, the second of which begins while the first is still at it: one run, shown as it is.

const NOW = Date.UTC(2026, 2, 2);
const HASH = '0'.repeat(64);
const spec = { contentTestSpecId: 'spec-1', contentTestSpecVersion: '7' };
const owners = {
  readAdministration: {
    value: {
      tenantId: 'tenant-1',
      administrationId: 'administration-1',
      version: '3',
      freshness: 'current',
      status: 'scored',
      ...spec,
      classSourcedId: null,
      schoolSourcedId: null,
    },
  },
  readAlignmentSources: {
    value: {
      tenantId: 'tenant-1',
      testSpecId: 'spec-1',
      testSpecVersion: '7',
      sourceSetId: 'sources-1',
      version: '4',
      sources: [
        {
          sourceKey: 'state-a',
          sourceAssessment: 'State',
          sourceVersion: '2025',
          crosswalkId: 'crosswalk-1',
          sha256: HASH,
        },
      ],
    },
  },
  readAdministrationAnalysis: {
    value: {
      tenantId: 'tenant-1',
      administrationId: 'administration-1',
      version: '9',
      freshness: 'current',
      ...spec,
      metrics: [],
      comparisons: [],
    },
  },
};

const request = {
  requestId: 'request-1',
  traceId: 'trace-1',
  problemsUrl: 'https://docs.example/problems',
  principal: {
    tenantId: 'tenant-1',
    sub: 'client-1',
    role: 'teacher',
    scopes: ['reports:write'],
    studentIds: [],
    classSourcedIds: [],
    schoolSourcedIds: [],
    administrationIds: ['administration-1'],
  },
  path: { administrationId: 'administration-1' },
  query: {},
  body: undefined,
  ifMatch: undefined,
  proved: wholeRelease.proved,
  receivedAt: NOW,
  deadline: NOW + 20_000,
  log: () => undefined,
  idempotent: (work) => work({ operationId: 'op_1', createdAt: NOW, replayed: false, completed: false }),
} as OperationRequest<typeof analyzeAdministration>;

/** @param meanwhile what happens between the reading of the owners and the record of the run */
async function analyze(
  meanwhile: (runs: ImprovementStore, key: RunKey) => Promise<void> = () => Promise.resolve(),
) {
  const runs = createMemoryImprovementStore();
  const sent: RunKey[] = [];
  const operation = analyzeAdministrationOperation({
    profiles: {
      resolve: (tenantId) =>
        Promise.resolve(
          ok({
            tenantId,
            baseUrl: 'https://platform.example',
            credential: secret('x'),
            analysisPolicyId: 'policy-1',
          }),
        ),
      forget: () => false,
    },
    connect: () => scriptedOwners(owners),
    runs: {
      ...runs,
      createRun: async (run) => {
        await meanwhile(
          {
            ...runs,
            createRun: () => runs.createRun({ ...run, pins: { ...run.pins, contentTestSpecVersion: '7' } }),
          },
          run,
        );
        return runs.createRun(run);
      },
    },
    now: () => NOW,
    keys: createMemoryKeyRing(),
    receiptsUrl: 'https://receipts.example',
    policies: {
      read: () =>
        Promise.resolve(
          ok({
            owner: 'tenant' as const,
            policy: {
              id: 'policy-1',
              version: '1',
              visibility: 'tenant' as const,
              formulaVersion: 'alignment-v1' as const,
              triggers: [],
              checksum: HASH,
            },
          }),
        ),
      readPinned: () => Promise.reject(new Error('an analysis begins by the released policy')),
    },
    queue: {
      send: (run) => {
        sent.push(run);
        return Promise.resolve();
      },
    },
  });
  const answer = await operation(request);
  if (!answer.ok) throw new Error(answer.error.code);
  return { run: analyzeAdministration.success.schema.parse(answer.value.body), sent };
}

describe('an analysis under a key that another request is still at', () => {
  it('is queued, and its worker is told', async () => {
    const { run, sent } = await analyze();
    expect(run).toMatchObject({ status: 'queued', alignmentRecordCount: 0 });
    expect(sent).toHaveLength(1);
  });

  it('shows the run of the one that was faster as it is by now, and not a new one [RP-150, RP-293]', async () => {
    const { run, sent } = await analyze(async (runs, key) => {
      // SAFETY: the store fills in everything but the key.
      await runs.createRun(key as Parameters<ImprovementStore['createRun']>[0]);
      const receipt = { sha256: HASH, mediaType: 'application/json' } as const;
      await runs.putEvidence(key, { key: 'source:state-a', evaluatedAt: NOW + 1, receipt });
      const completed = { state: 'completed_with_omissions', completedAt: NOW + 2, receipt } as const;
      await runs.moveRun(key, ['queued'], completed, NOW + 2);
    });
    expect(run).toMatchObject({ status: 'completed_with_omissions', alignmentRecordCount: 1 });
    expect(run.receipt).not.toBeNull();
    expect(sent).toEqual([]);
  });
});
