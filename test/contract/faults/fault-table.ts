import { expect } from 'vitest';
import { openFaults } from '#local/platform/faults.ts';
import { identitiesOf } from '#local/platform/routes.ts';
import type { faultKinds } from '#local/platform/faults.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { MAX_RETRIES } from '#shared/platform/transport/retry.ts';
import type { RunReply } from '#test/support/adaptive-run.ts';

/** An upstream call by the name of its row in `operations`: an id alone may be a read and a write. */
export type CallName = keyof typeof operations;

/**
 * What a route answers when one of its upstream calls goes wrong, in the words of `sentenceOf`. `silent`: the owner gives no whole answer
 * (down, 503, 429, cut off, or the acknowledgement of a write is lost), however often it is asked. Numbers are statuses. `again …`: the
 * same distortion in every answer, where one request reads twice.
 */
export interface FaultRow {
  readonly silent: string;
  readonly malformed: string;
  readonly wrong_tenant?: string;
  /** Of one id of the answer after another, by its JSON Pointer where they differ: the rest is as it was asked for. */
  readonly other_entity?: string | Readonly<Record<string, string>>;
  readonly version_drift?: string;
  readonly stale?: string;
  readonly always_version_drift?: string;
  readonly always_stale?: string;
  readonly 401: string;
  /** Where the caller names the id, a refusal of the service itself is told from an id that is hidden. */
  readonly 403?: string;
  readonly 404: string;
  readonly 409: string;
  readonly 422: string;
}

export type FaultTable = Readonly<Partial<Record<CallName, FaultRow>>>;

/** One line of a table: the fault to arm, and the answer. */
export interface FaultCase {
  readonly call: CallName;
  readonly title: string;
  readonly arm: Readonly<Record<string, unknown>>;
  readonly expected: string;
}

/** How often one request tries one call: a fault that strikes so often has failed it, and has then spent itself. */
export const TRIES = MAX_RETRIES + 1;
/** More than any request asks. */
const ALWAYS = 1_000;

/** Which rules say that a route answers with a status. */
export type RulesByStatus = Readonly<Record<string, string>>;

/** The cases of a table, each titled with the rules that its answer stands on. */
export function casesOf(table: FaultTable, rules: RulesByStatus): readonly FaultCase[] {
  return Object.entries(table).flatMap(([name, row]) => {
    const call = name as CallName;
    const { id: operation, method } = operations[call];
    // SAFETY: a row has no other members, and none is undefined.
    const columns = Object.entries(row) as [string, NonNullable<FaultRow['other_entity']>][];
    return columns.flatMap(([column, answer]) =>
      armsOf(column, call).map(([fault, arm]) => {
        const expected = typeof answer === 'string' ? answer : answer[arm.member ?? ''];
        if (expected === undefined) throw new Error(`no answer to ${operation}, ${fault}`);
        return {
          call,
          title: titleOf(`${method} ${operation}, ${fault}: ${expected}`, [
            rules[expected.slice(0, 3)],
            identityRules[`${operation} ${arm.member ?? ''}`],
          ]),
          arm: { operation, method, ...arm },
          expected,
        };
      }),
    );
  });
}

/** Which rules say that an answer must be about what was asked for, by its operation and the id in it. */
const identityRules: Readonly<Record<string, string>> = {
  'content.validate_adaptive_bank_identity /specId': 'MA-054',
  'bank.read_adaptive_pool_manifest /testSpecId': 'MA-055',
  'bank.read_adaptive_pool_manifest /testBankId': 'MA-055',
  'qti.read_candidate_runtime /candidateRef': 'MA-028',
  'qti.offer_selected_item /candidateRef': 'MA-029',
  'qti.offer_selected_item /rootArtifactVersionId': 'MA-091',
  'results.write_result_record /producerResultId': 'MA-033',
  'results.write_kc_components /componentIds/0': 'MA-034',
  'caliper.read_evidence_ack /event/id': 'MA-038',
};

function titleOf(text: string, rules: readonly (string | undefined)[]): string {
  const all = [
    ...rules.filter((rule) => rule !== undefined),
    ...(text.endsWith('anchor_unavailable') ? ['MA-194'] : []),
    ...(/ retryable( when mended)?$/.test(text) ? ['MA-209'] : []),
  ];
  return all.length === 0 ? text : `${text} [${all.join(', ')}]`;
}

interface Arm {
  readonly kind: (typeof faultKinds)[number];
  readonly times?: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly member?: string;
}

function armsOf(column: string, call: CallName): readonly (readonly [string, Arm])[] {
  switch (column) {
    case 'silent':
      return [
        ['down', { kind: 'down', times: ALWAYS }],
        ['503', { kind: 'status', status: 503, times: ALWAYS }],
        // Longer than any request may take.
        ['429', { kind: 'status', status: 429, retryAfterSeconds: 60, times: ALWAYS }],
        ['cut', { kind: 'cut', times: ALWAYS }],
        ...(operations[call].method === 'POST'
          ? [['lost_acknowledgement', { kind: 'lost_acknowledgement', times: ALWAYS }] as const]
          : []),
      ];
    case 'malformed':
    case 'wrong_tenant':
      return [[column, { kind: column, times: ALWAYS }]];
    case 'other_entity':
      return identitiesOf(operations[call]).map((member) => [
        `another ${member}`,
        { kind: column, member, times: ALWAYS },
      ]);
    case 'version_drift':
    case 'stale':
      return [[column, { kind: column }]];
    case 'always_version_drift':
      return [['version_drift in every answer', { kind: 'version_drift', times: ALWAYS }]];
    case 'always_stale':
      return [['stale in every answer', { kind: 'stale', times: ALWAYS }]];
    default:
      return [[column, { kind: 'status', status: Number(column), times: ALWAYS }]];
  }
}

/** The distortions of an answer that the platform can show for a call, and that its row must therefore name. */
function distortionsOf(call: CallName): readonly string[] {
  const { id: operation, method } = operations[call];
  return (['wrong_tenant', 'other_entity', 'version_drift', 'stale'] as const).filter(
    (kind) => openFaults().arm({ operation, method, kind }).ok,
  );
}

/** A table has a row for exactly these operations, and each row every distortion that its answer can have. */
export function expectComplete(table: FaultTable, operationIds: ReadonlySet<string | null>): void {
  const names = Object.keys(table) as CallName[];
  expect(new Set(names.map((name) => operations[name].id))).toStrictEqual(operationIds);
  for (const name of names)
    expect(Object.keys(table[name]!)).toEqual(expect.arrayContaining([...distortionsOf(name)]));
}

/** A problem that names the owner of the failed call names the call too. */
export function expectNames({ body }: Extract<RunReply, { kind: 'problem' }>, call: CallName): void {
  const { id, service } = operations[call];
  if (body.upstream?.service === service || body.upstream?.service === 'platform_auth')
    expect(body.upstream.operation).toBe(id);
}

export const silent = (service: string): string => `424 upstream-unavailable ${service} retryable`;
export const refused = (service: string): string => `424 upstream-unavailable ${service}`;
export const invalid = (service: string): string => `502 qti-adaptive-pool-invalid ${service}`;
/** The owner refuses the credential that the container has kept: it is read anew for the repetition. */
export const unauthorized = '424 upstream-unavailable platform_auth retryable';
export const incomplete = (service: string): string => `424 finalization-incomplete ${service} retryable`;
/** Results refuses the result itself: repeating it helps once somebody has mended something, and nobody knows when. */
export const refusedResult = '424 finalization-incomplete results retryable when mended';
export const hidden = '404 resource-not-found';
export const drift = '409 adaptive-pool-version-drift';
export const conflict = '409 stream-conflict';
export const miscalibrated = '422 calibration-invalid';
/** The caller names spec, bank and operation, which must belong together. */
const mismatched = '400 invalid-request';

/** Where a run has no pins yet: another entity contradicts what was asked for, or what the other owners say. */
export const othersAtFirst = {
  readTestSpec: { '/itemId': refused('content'), '/caseFrameworkGuid': miscalibrated },
  validateAdaptiveBankIdentity: { '/bankId': refused('content'), '/specId': mismatched },
  readAdaptivePoolManifest: {
    '/operationId': invalid('bank'),
    '/testSpecId': mismatched,
    '/testBankId': mismatched,
    '/root/packageId': invalid('qti'),
    '/root/artifactId': invalid('qti'),
    // QTI has no such version.
    '/root/artifactVersionId': refused('qti'),
    '/root/qtiIdentifier': invalid('qti'),
    '/members/0/artifactVersionId': invalid('qti'),
    '/members/0/qtiIdentifier': invalid('qti'),
  },
};
