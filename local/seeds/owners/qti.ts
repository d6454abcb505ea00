import { itemId } from '#local/platform/form-items.ts';
import { once } from '#local/platform/store.ts';
import type { HeldAttempt } from '#local/platform/tenant-state.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { SeedAttempt } from '../attempts.ts';
import type { Entities, Tenant } from '../tenant.ts';

/** Returns what QTI holds: the pools and items of the banks, the forms of the test specs, and the attempts. */
export function qtiEntities(
  tenant: Tenant,
  attempts: readonly SeedAttempt[],
): Entities<'artifacts' | 'forms' | 'attempts' | 'formItems', 'attempts' | 'attemptIds'> {
  const { tenantId, specs } = tenant;
  const generated = attempts.filter(({ isGenerated }) => isGenerated);
  const byStudent = Map.groupBy(generated, ({ candidateSourcedId }) => candidateSourcedId);
  return {
    artifacts: artifactsOf(tenant),
    forms: specs.flatMap(({ forms, ref }) =>
      forms.map((form) => ({ tenantId, ...form, freshness: 'current', ...ref })),
    ),
    attempts: attempts.filter(({ isGenerated }) => !isGenerated).map((one) => attemptOf(tenant, one)),
    formItems: formItemsOf(tenant),
    generated: {
      attempts: new Map(generated.map((one) => [one.attemptId, once(() => attemptOf(tenant, one))])),
      attemptIds: new Map(
        [...byStudent].map(([student, own]) => [student, own.map(({ attemptId }) => attemptId)]),
      ),
    },
  };
}

function artifactsOf({ tenantId, banks }: Tenant): readonly DeliveryJson[] {
  return banks.flatMap(({ root, content, members }): readonly DeliveryJson[] => [
    {
      ...root,
      tenantId,
      type: 'assessment-test',
      title: content.bank.title,
      itemRefs: members.map(({ member }) => ({
        identifier: member.qtiIdentifier,
        artifactVersionId: member.artifactVersionId,
      })),
    },
    ...members.map(({ item, member }) => ({
      tenantId,
      artifactId: member.artifactId,
      artifactVersionId: member.artifactVersionId,
      packageId: root.packageId,
      packageHash: root.packageHash,
      type: 'assessment-item',
      qtiIdentifier: member.qtiIdentifier,
      title: item.name,
      prompt: item.stem,
      itemRefs: [],
    })),
  ]);
}

function attemptOf({ tenantId, ids }: Tenant, attempt: SeedAttempt): HeldAttempt {
  const { entry, attemptId, qtiTestId, submittedAt } = attempt;
  const isSettled = entry.record !== null && entry.settledAtStart;
  return {
    tenantId,
    attemptId,
    version: attempt.version('attempt'),
    freshness: 'current',
    status: entry.status,
    qtiSessionId: entry.session ? `${attemptId}-session` : null,
    qtiTestId,
    candidateSourcedId: attempt.candidateSourcedId,
    administrationId: ids.administration(entry.administration),
    ...attempt.spec.ref,
    resultRecordId: isSettled ? attempt.resultRecordId : null,
    resultRecordVersion: isSettled ? attempt.version('record') : null,
    administeredItemCount: entry.items,
    outcomes: Array.from({ length: entry.status === 'scored' ? entry.items : 0 }, (_, at) => ({
      qtiItemId: itemId(qtiTestId, at + 1),
      qtiOutcomeId: outcomeId(attemptId, at + 1),
      scoredAt: formatInstant(Date.parse(submittedAt) + (at + 1) * 1_000),
    })),
    submittedAt,
  };
}

/** Returns the id of the outcome of an attempt's n-th item, from 1. */
export function outcomeId(attemptId: string, number: number): string {
  return `${attemptId}-outcome-${number}`;
}

/** Returns how many items each form has: as many as an attempt has administered, or an analysis measured. */
function formItemsOf({ file, ids, specOf }: Tenant): ReadonlyMap<string, number> {
  const used = [
    ...file.testSpecs.flatMap(({ forms }) => forms.map((form) => [form, 0] as const)),
    ...file.attempts.map(({ form, items }) => [form, items] as const),
    ...file.administrations.flatMap(({ testSpec, analyses }) => {
      const [first = ''] = specOf(testSpec).entry.forms;
      return analyses
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ artifact }) => [
          [first, artifact?.generatedRows ?? 0] as const,
          ...(artifact?.rows ?? []).map(({ form, item = 0 }) => [form, item] as const),
        ]);
    }),
  ];
  const items = new Map<string, number>();
  for (const [form, number] of used)
    items.set(ids.form(form), Math.max(items.get(ids.form(form)) ?? 0, number));
  return items;
}
