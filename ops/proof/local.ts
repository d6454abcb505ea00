import type { Issuer } from '#shared/stage/local-issuer.ts';
import type { StackDescription } from '#shared/stage/description.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Play } from './suite.ts';
import { tenantOf, type Tenant } from './tenant-file.ts';

type LocalTenant = StackDescription['tenants'][number];
type Fixtures = Exclude<StackDescription['fixtures'][string], StackDescription['fixtures']['sandbox']>;

/** What the suite needs of the stack that `npm start` runs. */
export interface LocalProof {
  readonly url: string;
  readonly a: Tenant;
  readonly b: Tenant;
  readonly play: Play;
}

/**
 * Returns the local stack as the suite needs it: two of its tenants, tokens with claims to the resources of both, and its player.
 * @param tenantIds of A and B; default: its first two
 */
export async function localProof(
  service: ServiceName,
  stack: Pick<StackDescription, 'tenants' | 'fixtures' | 'reportsUrl' | 'masteryUrl' | 'platformUrl'>,
  tenantIds: readonly (string | undefined)[],
  issueToken: Issuer['issueToken'],
  now: number,
): Promise<Result<LocalProof, string>> {
  const [first, second] = [0, 1].map((side) =>
    tenantIds[side] === undefined
      ? stack.tenants[side]
      : stack.tenants.find(({ tenantId }) => tenantId === tenantIds[side]),
  );
  if (first === undefined || second === undefined || first === second) {
    const known = stack.tenants.map(({ tenantId }) => tenantId).join(' and ');
    return err(`expected two different tenants of the local stack: ${known}`);
  }
  const both = [first, second]
    .map(({ tenantId }) => stack.fixtures[tenantId])
    .filter((some) => some !== undefined);
  const tenants: Tenant[] = [];
  for (const [side, tenant] of [
    ['A', first],
    ['B', second],
  ] as const) {
    const fixtures = stack.fixtures[tenant.tenantId];
    const file = fixtures === undefined ? undefined : await fileOf(tenant, fixtures, both, issueToken, now);
    if (file === undefined) return err(`the local stack has no fixtures of ${tenant.tenantId}`);
    const read = tenantOf(file, side, {}, now);
    if (!read.ok) return err(`.local/stack.json ${read.error}`);
    tenants.push(read.value);
  }
  const [a, b] = tenants;
  if (a === undefined || b === undefined) throw new TypeError('expected two tenants');
  return ok({
    url: service === 'reports' ? stack.reportsUrl : stack.masteryUrl,
    a,
    b,
    play: async (tenant, item) => {
      const { playerToken = '' } = stack.tenants.find(({ tenantId }) => tenantId === tenant.tenantId) ?? {};
      const session = encodeURIComponent(item.deliverySessionId);
      const played = await fetch(
        `${stack.platformUrl}/tenants/${encodeURIComponent(tenant.tenantId)}/qti/delivery-sessions/${session}/attempts`,
        {
          method: 'POST',
          headers: { Authorization: `Bearer ${playerToken}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ outcomes: { SCORE: 1 } }),
        },
      );
      await played.arrayBuffer();
      return played.ok ? undefined : `QTI rejected the attempt with ${played.status}`;
    },
  });
}

/** The short bank stops after few items. */
const BANK = 'fraction-subtraction-short';

const scopes: readonly string[] = [
  'mastery:run',
  'mastery:read',
  'mastery:simulate',
  'reports:read',
  'reports:write',
];

async function fileOf(
  { tenantId, sub, role }: LocalTenant,
  { reports, mastery }: Fixtures,
  both: readonly Fixtures[],
  issueToken: Issuer['issueToken'],
  now: number,
): Promise<unknown> {
  const issue = (claims: Partial<Parameters<Issuer['issueToken']>[0]>): Promise<string> =>
    issueToken({ tenantId, sub, role, scopes, ...claims }, now);
  const claims = {
    studentIds: both.flatMap((fixtures) => fixtures.reports.students),
    classSourcedIds: both.flatMap((fixtures) => fixtures.reports.classes),
    schoolSourcedIds: [
      ...new Set(
        both.flatMap((fixtures) => fixtures.reports.schools.map(({ schoolSourcedId }) => schoolSourcedId)),
      ),
    ],
    administrationIds: both.flatMap(({ reports: { administrations, administrationOf } }) => [
      ...new Set([...administrations, ...Object.values(administrationOf)]),
    ]),
  };
  const { attempts, administrationOf, candidates, classes, schools, forms, administrations } = reports;
  const [classSourcedId] = classes;
  const [school] = schools;
  const [administrationId] = administrations;
  const bank = mastery.banks.find(({ name }) => name === BANK) ?? mastery.banks[0];
  return {
    tenantFileVersion: 1,
    tokens: { full: { value: await issue(claims) }, withoutClaims: { value: await issue({}) } },
    reports: {
      attempts: {
        mastery_gate: attempts.gateFail,
        adaptive_diagnostic: attempts.diagnostic,
        formative: attempts.formative,
      },
      readinessAttemptId: attempts.gatePass,
      candidateSourcedId: candidates.withHistory,
      ...(classSourcedId === undefined ? {} : { classSourcedId }),
      ...(school === undefined ? {} : { school }),
      qtiTestId: forms.equivalent,
      materialize: { attemptId: attempts.gatePass, administrationId: administrationOf.gatePass },
      ...(administrationId === undefined ? {} : { improvement: { administrationId } }),
    },
    ...(bank === undefined
      ? {}
      : {
          mastery: {
            testSpecId: bank.testSpecId,
            testBankId: bank.testBankId,
            bankOperationId: bank.bankOperationId,
            selectionPolicyId: bank.selectionPolicyId,
            scaleCalibrationId: bank.scaleCalibrationId,
          },
        }),
  };
}
