import { incomplete, requireCurrent } from '#functions/reports/facts/incomplete.ts';
import { readAdministration } from '#functions/reports/sources/administration.ts';
import { readImprovementBasis } from './read-basis.ts';
import { alignmentFormula } from '#shared/contract/reports/improvement-run.ts';
import type { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import type { Operation, OperationRequest } from '#shared/http/operation.ts';
import type { Control } from '#shared/idempotency/control-record.ts';
import type { RunKey, RunPins, RunProgress, RunRecord } from '#shared/improvement/records.ts';
import type { RunQueue } from '#shared/improvement/run-message.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import type { RunEvidence } from '#functions/reports/composition/improvement-run.ts';
import type { Observed } from '#functions/reports/facts/facts.ts';
import { composeProgress, readRunEvidence } from '../support/compose-progress.ts';
import type { ImprovementDependencies, LinkDependencies } from '../support/open-improvement.ts';
import { openOwners, type OpenedOwners } from '../support/owners.ts';

export interface AnalyzeDependencies extends ImprovementDependencies, LinkDependencies {
  readonly queue: RunQueue;
  readonly policies: AnalysisPolicyStore;
}

type Request = OperationRequest<typeof analyzeAdministration>;

/** How many open runs of an administration one analysis looks at for parked ones; the sweeper wakes them all. */
const MAX_CHECKED = 20;

/**
 * Begins an improvement run of a scored administration, or finds the one that an earlier request with the same key has begun. One record pins the
 * run's basis; the worker does the rest. For an administration outside the claims, the caller learns only that none is visible [RP-261].
 */
export function analyzeAdministrationOperation(
  dependencies: AnalyzeDependencies,
): Operation<typeof analyzeAdministration> {
  const { runs, queue } = dependencies;
  return async (request) => {
    const owners = await openOwners(dependencies, request);
    if (!owners.ok) return owners;
    const { administrationId } = request.path;
    const administration = await readAdministration(owners.value.reader, request.principal, administrationId);
    if (!administration.ok) return administration;
    const outdated = requireCurrent([administration.value.receipt]);
    if (outdated !== undefined) return err(outdated);

    return request.idempotent(async (control) => {
      const { tenantId } = request.principal;
      // The same for every repetition of the request, and another one under another key.
      const uuid = deterministicUuid('improvement-run', tenantId, control.operationId);
      const key: RunKey = { tenantId, improvementRunId: `run_${uuid}` };
      const existing = await runs.readProgress(key);
      const started =
        existing === undefined
          ? await start(dependencies, owners.value, request, key, control, administration.value)
          : await resume(owners.value, existing);
      if (!started.ok) return started;
      const { progress, evidence } = started.value;
      // One that is under way has its message, and the sweeper looks after it.
      if (['queued', 'blocked_upstream'].includes(progress.run.state)) await queue.send(key);
      // A repetition is no further analysis.
      if (existing === undefined) await wakeParked(dependencies, progress.run);
      return ok({
        body: await composeProgress(dependencies, owners.value, progress, {
          ...evidence,
          sources: [administration.value.receipt, ...evidence.sources],
        }),
      });
    });
  };
}

interface Started {
  readonly progress: RunProgress;
  readonly evidence: RunEvidence;
}

async function start(
  { runs, policies }: AnalyzeDependencies,
  owners: OpenedOwners,
  { principal }: Request,
  key: RunKey,
  { createdAt }: Control,
  administration: Observed<Administration>,
): Promise<Result<Started, Problem>> {
  // Statuses other than `scored` are the owner's own affair; there is nothing final to analyze under any of them [RP-290].
  if (administration.value.status !== 'scored')
    return err(incomplete('unknown', 'The administration is not scored yet.'));
  const { reader, profile } = owners;
  const { administrationId } = administration.value;
  const policy = await releasedPolicy(policies, profile);
  if (!policy.ok) return policy;
  const basis = await readImprovementBasis(reader, policy.value.policy, administration, () =>
    readAdministration(reader, principal, administrationId),
  );
  if (!basis.ok) return basis;
  const { pins, evidence } = basis.value;
  const { owner } = policy.value;
  const { id, version, checksum } = policy.value.policy;
  const pinned: RunPins = {
    ...pins,
    analysisPolicy: { owner, id, version, checksum },
    formulaVersion: alignmentFormula,
    rules: '3',
  };
  const { classSourcedId, schoolSourcedId } = administration.value;
  const run = await runs.createRun({
    ...key,
    administrationId,
    ...(classSourcedId === null ? {} : { classSourcedId }),
    ...(schoolSourcedId === null ? {} : { schoolSourcedId }),
    createdAt,
    pins: pinned,
  });
  // A request of the same key may have been faster although it took longer than a lease: then the recorded run is its run, in its present state.
  if (run.state !== 'queued' || hashCanonical(run.pins) !== hashCanonical(pinned)) {
    const existing = await runs.readProgress(key);
    if (existing === undefined) throw new Error('an improvement run is gone');
    return resume(owners, existing);
  }
  return ok({ progress: { run, evidence: [], orders: [] }, evidence });
}

async function resume({ reader }: OpenedOwners, progress: RunProgress): Promise<Result<Started, Problem>> {
  const evidence = await readRunEvidence(reader, progress.run);
  return evidence.ok ? ok({ progress, evidence: evidence.value }) : evidence;
}

/** Returns the policy that the tenant's profile names: no caller chooses one [RP-294]. */
async function releasedPolicy(policies: AnalysisPolicyStore, { tenantId, analysisPolicyId }: ServiceProfile) {
  const policy = analysisPolicyId === undefined ? undefined : await policies.read(tenantId, analysisPolicyId);
  if (policy?.ok === false)
    throw new Error(`the released analysis policy cannot be used: ${policy.error.kind}`);
  return policy?.value === undefined
    ? err(incomplete('unknown', 'No analysis policy is released for the tenant.'))
    : ok(policy.value);
}

/** Resumes runs of the same administration that wait for a missing receiver (the reading of RP-221). */
async function wakeParked({ runs, queue }: AnalyzeDependencies, run: RunRecord): Promise<void> {
  const { tenantId, improvementRunId, administrationId } = run;
  let checked = 0;
  for await (const open of runs.listOpen({ tenantId, administrationId })) {
    if (open.improvementRunId === improvementRunId) continue;
    if (checked >= MAX_CHECKED) return;
    checked += 1;
    const other = await runs.readSummary(open);
    if (other?.state === 'blocked_upstream') await queue.send(open);
  }
}
