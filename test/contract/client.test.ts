import { describe, expect, it } from 'vitest';
import { createSandboxClient, runAdaptive, waitForImprovementRun } from '#client/index.ts';
import type { ReadSchoolGradeCohortInput, Reply, RunState, SavedRun } from '#client/index.ts';
import { masteryOperations } from '#client/generated/mastery.ts';
import { reportsOperations } from '#client/generated/reports.ts';
import { sandboxOperations } from '#client/generated/sandbox.ts';
import { chooseLearner, startRequest } from '#local/journey/bank.ts';
import { createPlayer } from '#local/journey/player.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { routes, routesOf } from '#shared/contract/routes.ts';
import { sandboxIds, sandboxRoutes } from '#shared/contract/sandbox.ts';
import { SHORT_BANK } from '#test/support/adaptive-run.ts';
import { localDescription, useTestStack } from '#test/support/stack.ts';
import { bankOf } from '#test/support/take-journey.ts';

const TENANT = 'tenant-aurora';

const stack = useTestStack();

type Calls = Readonly<Record<string, () => Promise<Reply<unknown>>>>;

/** A call of every operation that succeeds on the seed. */
function callsOf(): Calls {
  const { reports: ids, mastery: tests } = localDescription(stack).fixtures[TENANT]!;
  const { attempts, administrationOf, candidates, classes, schools, forms, administrations } = ids;
  const [administrationId] = administrations;
  const mastery = stack.masteryClient(TENANT);
  const reports = stack.reportsClient(TENANT, {
    studentIds: ids.students,
    classSourcedIds: classes,
    schoolSourcedIds: schools.map(({ schoolSourcedId }) => schoolSourcedId),
    administrationIds: [...administrations, ...Object.values(administrationOf)],
  });
  const { selectionPolicyId, scaleCalibrationId, ...bank } = tests.banks.find(
    ({ name }) => name === SHORT_BANK,
  )!;
  const started = once(() =>
    mastery.startAdaptiveRun(startRequest(bankOf(stack.seed, TENANT, SHORT_BANK), 'owner_conformance')),
  );
  const analyzed = once(async () => {
    const { data } = await reports.analyzeAdministration({ administrationId: administrationId! });
    return waitForImprovementRun(reports, data.improvementRunId, { sleep: immediately });
  });
  return {
    startAdaptiveRun: started,
    inspectAdaptiveRun: async () => {
      const { continuationToken } = (await started()).data;
      return mastery.inspectAdaptiveRun({ continuationToken });
    },
    advanceAdaptiveRun: async () => {
      const { data, etag } = await started();
      return mastery.advanceAdaptiveRun({ continuationToken: data.continuationToken, ifMatch: etag });
    },
    readSelectionPolicy: () => mastery.readSelectionPolicy({ policyId: selectionPolicyId }),
    readScaleCalibration: () => mastery.readScaleCalibration({ calibrationId: scaleCalibrationId }),
    simulateScoreRecovery: async () => {
      const [first] = (await started()).data.kcClassifications;
      const { testSpecId, testBankId, bankOperationId } = bank;
      return mastery.simulateScoreRecovery({
        ...{ selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId },
        profiles: [
          { syntheticProfileId: 'synthetic:one', knownMastery: { [first!.caseCompetencyGuid]: 0.5 } },
        ],
      });
    },
    readAttemptReport: () => reports.readAttemptReport({ attemptId: attempts.gateFail, view: 'evidence' }),
    listCandidateReports: () =>
      reports.listCandidateReports({ candidateSourcedId: candidates.withHistory, limit: 1 }),
    readClassCohort: () => reports.readClassCohort({ classSourcedId: classes[0]! }),
    readSchoolGradeCohort: () => reports.readSchoolGradeCohort(schools[0] as ReadSchoolGradeCohortInput),
    readEquivalence: () => reports.readEquivalence({ qtiTestId: forms.equivalent }),
    readReadiness: () => reports.readReadiness({ attemptId: attempts.gatePass }),
    materializeAttemptReport: () =>
      reports.materializeAttemptReport({
        attemptId: attempts.gatePass,
        administrationId: administrationOf.gatePass,
      }),
    analyzeAdministration: () => reports.analyzeAdministration({ administrationId: administrationId! }),
    readImprovementRun: analyzed,
    readAlignmentReport: async () => {
      const { improvementRunId, sourceKeys } = (await analyzed()).data;
      return reports.readAlignmentReport({ improvementRunId, sourceKey: sourceKeys[0]! });
    },
    listRevisionOrders: async () =>
      reports.listRevisionOrders({ improvementRunId: (await analyzed()).data.improvementRunId }),
  };
}

function sandboxCallsOf(): Calls {
  const sandbox = createSandboxClient({ baseUrl: stack.urls.sandboxUrl });
  const { masteryGateAttempt: attemptId, candidate, form } = sandboxIds;
  return {
    readAttemptReport: () => sandbox.readAttemptReport({ attemptId }),
    readReadiness: () => sandbox.readReadiness({ attemptId }),
    listCandidateReports: () => sandbox.listCandidateReports({ candidateSourcedId: candidate }),
    readEquivalence: () => sandbox.readEquivalence({ qtiTestId: form }),
    materializeAttemptReport: () => sandbox.materializeAttemptReport({ attemptId, administrationId: 'any' }),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const immediately = (): Promise<void> => Promise.resolve();

describe('the client against the stack', () => {
  it('has a method for every route', () => {
    const tables = { mastery: masteryOperations, reports: reportsOperations };
    for (const service of serviceNames)
      expect(Object.keys(tables[service]).toSorted()).toEqual(
        routesOf(service)
          .map(({ operationId }) => operationId)
          .toSorted(),
      );
    expect(Object.keys(sandboxOperations).toSorted()).toEqual(Object.keys(sandboxRoutes).toSorted());
  });

  it('gets what the contract promises from every operation', async () => {
    const calls = callsOf();
    for (const { operationId, success } of routes) {
      const reply = await calls[operationId]!();
      expect([operationId, reply.status]).toEqual([operationId, success.status]);
      expect([operationId, success.schema.safeParse(reply.data).error]).toEqual([operationId, undefined]);
    }
  });

  it('gets what the contract promises from every operation of the sandbox, without a token', async () => {
    const calls = sandboxCallsOf();
    for (const { operationId, success } of Object.values(sandboxRoutes))
      expect(success.schema.safeParse((await calls[operationId]!()).data).error).toBeUndefined();
  });

  it('iterates over the rows of all pages', async () => {
    const { reports: ids } = localDescription(stack).fixtures[TENANT]!;
    const reports = stack.reportsClient(TENANT, { studentIds: ids.students });
    const candidateSourcedId = ids.candidates.withHistory;
    const { data: whole } = await reports.listCandidateReports({ candidateSourcedId, limit: 5 });
    const rows: string[] = [];
    for await (const { attemptId } of reports.iterateCandidateReports({ candidateSourcedId, limit: 2 }))
      if (rows.push(attemptId) === 5) break;
    expect(rows).toEqual(whole.data.map(({ attemptId }) => attemptId));
  });
});

describe('runAdaptive against the stack', () => {
  it('goes on with a stored run after a restart, and plays no item twice [MA-186]', async () => {
    const bank = bankOf(stack.seed, TENANT, SHORT_BANK);
    const learner = chooseLearner(bank, undefined, 3);
    if (!learner.ok) throw new Error(learner.error);
    const play = createPlayer({
      platformUrl: stack.urls.platformUrl,
      tenantId: TENANT,
      playerToken: stack.seededTenants.get(TENANT)!.platform.credentials.playerToken,
      learner: learner.value,
      fetch,
    });
    const played: string[] = [];
    let saved: SavedRun | undefined;
    /** Takes the run; the process "ends" right after the given item has been played, before the engine knows. */
    const take = (endAfter?: number): Promise<RunState> =>
      runAdaptive(stack.masteryClient(TENANT), {
        start: startRequest(bank, 'production_learner'),
        store: { load: () => saved, save: (run) => void (saved = run) },
        play: async (item) => {
          played.push(item.deliverySessionId);
          await play(item);
          if (item.sequence === endAfter) throw new Error('the process ends');
        },
      });
    await expect(take(2)).rejects.toThrow('the process ends');
    const { data: run } = await take();
    expect(run).toMatchObject({ status: 'completed', resultRecordRef: expect.any(String) as string });
    expect(new Set(played).size).toBe(played.length);
    expect(played).toHaveLength(5);
  });
});
