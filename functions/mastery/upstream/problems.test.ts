import { describe, expect, it } from 'vitest';
import { allOperations, operations } from '#shared/platform/all-operations.ts';
import { faultKindOf } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { AnswerKind, Use } from '#shared/platform/verdicts.ts';
import { problem } from '#shared/problems/registry.ts';
import { answerProblem, type Unusable } from './problems.ts';

const { readTestSpec, readAdaptivePoolManifest, writeResultRecord } = operations;

const unusable = (kind: AnswerKind, more: Partial<Unusable> = {}): Unusable => ({
  kind,
  transient: ['unavailable', 'unauthorized', 'pending', 'older'].includes(kind),
  ...more,
});
/** A problem in one line: status, code, what it names, and whether it is worth a retry. */
function sentence(row: UpstreamOperation, use: Use, kind: AnswerKind): string {
  const { status, code, upstream, invalidParams, retryable } = answerProblem(row, use, unusable(kind));
  const named = upstream?.service ?? invalidParams?.[0]?.name ?? '';
  return [status, code, named, retryable ? 'retryable' : ''].filter((word) => word !== '').join(' ');
}

describe('what an answer means [MA-212, MA-214, MA-215, MA-217, MA-218, MA-219, MA-221, MA-223]', () => {
  const wait = (owner: string) => `424 upstream-unavailable ${owner} retryable`;
  const failed = (owner: string) => `424 upstream-unavailable ${owner}`;
  const invalid = (owner: string) => `502 qti-adaptive-pool-invalid ${owner}`;
  const unfinished = (owner: string) => `424 finalization-incomplete ${owner} retryable`;
  const credential = wait('platform_auth');
  type Expected = Readonly<Record<AnswerKind, string>>;
  const reads = (owner: string, broken: string, drift: string): Expected => ({
    unavailable: wait(owner),
    unauthorized: credential,
    forbidden: failed(owner),
    rejected: failed(owner),
    'refused-id': failed(owner),
    'not-found': failed(owner),
    conflict: failed(owner),
    malformed: failed(owner),
    invalid: broken,
    'wrong-tenant': broken,
    'wrong-entity': broken,
    pending: wait(owner),
    older: wait(owner),
    differs: drift,
    broken,
  });
  const named = (expected: Expected, pointer: string): Expected => ({
    ...expected,
    'refused-id': `400 invalid-request ${pointer}`,
    'not-found': '404 resource-not-found',
  });
  const publishes = (owner: string): Expected => ({
    // SAFETY: a member per kind.
    ...(Object.fromEntries(
      Object.keys(reads('', '', '')).map((kind) => [kind, unfinished(owner)]),
    ) as Expected),
    unauthorized: unfinished('platform_auth'),
  });
  const content = reads('content', failed('content'), '409 stream-conflict');
  const bank = reads('bank', invalid('bank'), '409 adaptive-pool-version-drift');
  const qti = reads('qti', failed('qti'), '409 stream-conflict');
  const cfItem = reads('case', failed('case'), '422 calibration-invalid');
  const root = reads('qti', invalid('qti'), '409 adaptive-pool-version-drift');
  const anchor = reads('anchor', failed('anchor'), failed('anchor'));

  const caliper = reads('caliper', failed('caliper'), '409 stream-conflict');
  /** By operation and use. */
  const expectations: Readonly<Record<string, Expected>> = {
    'content.read_test_spec start': named(content, '/body/testSpecId'),
    'content.read_test_spec run': content,
    'content.validate_adaptive_bank_identity start': named(content, '/body/testBankId'),
    'content.validate_adaptive_bank_identity run': content,
    'bank.read_adaptive_pool_manifest start': named(bank, '/body/bankOperationId'),
    'bank.read_adaptive_pool_manifest run': bank,
    'qti.read_adaptive_pool_root start': root,
    'qti.read_adaptive_pool_root run': root,
    'qti.read_candidate_runtime start': qti,
    'qti.read_candidate_runtime run': qti,
    'qti.offer_selected_item offer': qti,
    'case.resolve_mapping start': cfItem,
    'case.resolve_mapping run': cfItem,
    'extmap.verify_anchor anchor': anchor,
    'results.write_result_record write': publishes('results'),
    'results.write_kc_components write': publishes('results'),
    'caliper.emit_completion_or_simulation start': caliper,
    'caliper.emit_completion_or_simulation write': publishes('caliper'),
    'caliper.read_evidence_ack start': caliper,
    'caliper.read_evidence_ack read-back': publishes('caliper'),
  };
  const cases = allOperations.flatMap((row) =>
    row.uses.flatMap((use) =>
      use === 'report' || use === 'order' ? [] : [{ row, use, name: `${row.id} ${use}` }],
    ),
  );

  it.each(cases)('$name', ({ row, use, name }) => {
    const expected = expectations[name] ?? expect.fail('no expectation');
    for (const kind of Object.keys(expected) as AnswerKind[])
      expect([kind, sentence(row, use, kind)]).toEqual([kind, expected[kind]]);
  });

  it('the caller’s own id is refused or hidden in the same words, whatever else the answer contains [MA-214]', () => {
    // A difference in any member would tell that there is something in another tenant.
    for (const status of [404, 410]) {
      const hidden = unusable(faultKindOf(status), { status, upstreamRequestId: 'up-1' });
      expect(answerProblem(readTestSpec, 'start', hidden)).toEqual(
        problem('mastery', 'resource-not-found', 404),
      );
    }
    const refusals = [400, 414, 422, 431].map((status) =>
      answerProblem(
        readTestSpec,
        'start',
        unusable(faultKindOf(status), { status, upstreamRequestId: 'up-2' }),
      ),
    );
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    expect(refusals[0]?.invalidParams).toMatchObject([{ reason: 'refused_by_owner' }]);
  });
});

it('a problem names owner, operation and the owner’s request where there is one, nothing more, and a time to wait only for what may succeed later [MA-212, MA-213]', () => {
  const reference = { service: 'bank', operation: readAdaptivePoolManifest.id };
  for (const [asked, expected] of [
    [30, 30],
    [0, 1],
    [86_400, 3_600],
  ] as const)
    expect(
      answerProblem(
        readAdaptivePoolManifest,
        'run',
        unusable('unavailable', { upstreamRequestId: 'up-1', retryAfterSeconds: asked }),
      ),
    ).toMatchObject({ upstream: { ...reference, requestId: 'up-1' }, retryAfterSeconds: expected });
  const refused = answerProblem(readAdaptivePoolManifest, 'run', unusable('rejected'));
  expect(refused.upstream).toEqual(reference);
  expect(refused).not.toHaveProperty('retryAfterSeconds');
});

it('a refusal of Results for good gives no time to wait: only mending helps [MA-219]', () => {
  const waits = (kind: AnswerKind, status: number) =>
    'retryAfterSeconds' in answerProblem(writeResultRecord, 'write', unusable(kind, { status }));
  expect([waits('refused-id', 422), waits('rejected', 403), waits('conflict', 409)]).toEqual([
    false,
    false,
    false,
  ]);
  expect([waits('unauthorized', 401), waits('wrong-entity', 200)]).toEqual([true, true]);
});
