import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { identifier } from '#shared/contract/mastery/primitives.ts';
import { requestableTestKind } from '#shared/contract/reports/attempt-report.ts';
import { grade } from '#shared/contract/reports/cohort-report.ts';
import { reference } from '#shared/contract/reports/primitives.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { pointer } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { readFrom } from '#tools/terminal/file-failure.ts';

/** A bearer token, or the environment variable that contains it, so that no file needs to contain a secret. */
const token = z.union([
  z.strictObject({ environment: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must name a variable') }),
  z.strictObject({ value: z.string().min(1) }),
]);

/** The ids of one tenant that the suite requests, one or more per route. Members for closed routes may be omitted. */
const reportsFixture = z.strictObject({
  /** A scored attempt of each kind [RP-024]. */
  attempts: z.strictObject(
    Object.fromEntries(requestableTestKind.options.map((kind) => [kind, reference])) as Record<
      z.infer<typeof requestableTestKind>,
      typeof reference
    >,
  ),
  /** An attempt whose blueprint has a crosswalk. */
  readinessAttemptId: reference.optional(),
  /** A candidate with at least two reports: a list of one has no cursor. */
  candidateSourcedId: reference.optional(),
  classSourcedId: reference.optional(),
  school: z.strictObject({ schoolSourcedId: reference, grade }).optional(),
  qtiTestId: reference.optional(),
  /** A scored attempt that may be materialized, with its own administration. */
  materialize: z.strictObject({ attemptId: reference, administrationId: reference }).optional(),
  /** A scored administration that may be analyzed: the suite starts an improvement run. */
  improvement: z.strictObject({ administrationId: reference }).optional(),
});

const masteryFixture = z.strictObject({
  testSpecId: identifier,
  testBankId: identifier,
  bankOperationId: identifier,
  selectionPolicyId: identifier,
  scaleCalibrationId: identifier,
});

/** What the suite needs of one tenant (docs/proof.md). */
const tenantFile = z.strictObject({
  tenantFileVersion: z.literal(1),
  tokens: z.strictObject({
    /** Every scope of the service, and claims to every resource below; best to the other tenant's as well. */
    full: token,
    /** A token of the same tenant with the same scopes, without any resource claim. */
    withoutClaims: token.optional(),
  }),
  reports: reportsFixture.optional(),
  mastery: masteryFixture.optional(),
});
export type TenantFile = z.infer<typeof tenantFile>;
export type ReportsFixture = z.infer<typeof reportsFixture>;
export type MasteryFixture = z.infer<typeof masteryFixture>;

/** What `--example` prints. */
export const exampleTenantFile: TenantFile = {
  tenantFileVersion: 1,
  tokens: {
    full: { environment: 'PROOF_TOKEN_A' },
    withoutClaims: { environment: 'PROOF_TOKEN_A_WITHOUT_CLAIMS' },
  },
  reports: {
    attempts: {
      mastery_gate: 'attempt-gate-1',
      adaptive_diagnostic: 'attempt-diagnostic-1',
      formative: 'attempt-formative-1',
    },
    readinessAttemptId: 'attempt-gate-1',
    candidateSourcedId: 'student-17',
    classSourcedId: 'class-5a',
    school: { schoolSourcedId: 'school-north', grade: '05' },
    qtiTestId: 'form-gate-a',
    materialize: { attemptId: 'attempt-gate-1', administrationId: 'administration-spring' },
    improvement: { administrationId: 'administration-spring' },
  },
  mastery: {
    testSpecId: 'spec-fractions',
    testBankId: 'bank-fractions',
    bankOperationId: 'operation-fractions',
    selectionPolicyId: 'policy-fractions-1',
    scaleCalibrationId: 'calibration-fractions-1',
  },
};

/** One tenant as the suite uses it. No output contains its tokens. */
export interface Tenant {
  readonly side: 'A' | 'B';
  readonly tenantId: string;
  readonly full: string;
  readonly withoutClaims: string | undefined;
  readonly reports: ReportsFixture | undefined;
  readonly mastery: MasteryFixture | undefined;
  /** The issuer of its token. */
  readonly issuer: string;
  /** The ids in its token's resource claims. */
  readonly claimed: ReadonlySet<string>;
  /** SHA-256 of the canonical fixtures: everything of the file but its tokens. */
  readonly fixturesSha256: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a tenant's file.
 * @returns err: a sentence that names the file and places in it by JSON Pointer, never a value
 */
export async function readTenantFile(
  path: string,
  side: Tenant['side'],
  environment: Environment,
  now: number,
): Promise<Result<Tenant, string>> {
  const source = await readFrom(path, () => readFile(path, 'utf8'));
  if (!source.ok) return source;
  const json = parseStrictJson(source.value);
  if (!json.ok) return err(`${path} is not JSON: ${describeJsonFault(json.error)}`);
  const tenant = tenantOf(json.value, side, environment, now);
  return tenant.ok ? tenant : err(`${path} ${tenant.error}`);
}

/** Returns a tenant from the content of its file. err: the end of a sentence that begins with the file. */
export function tenantOf(
  content: unknown,
  side: Tenant['side'],
  environment: Environment,
  now: number,
): Result<Tenant, string> {
  const parsed = tenantFile.safeParse(content);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${pointerOf(issue.path)}: ${issue.message}`);
    return err(
      `is not a tenant file (npm run proof -- --example prints one):\n${lines.slice(0, 20).join('\n')}`,
    );
  }
  const file = parsed.data;
  const unusable = (fault: string) => err(`cannot be used: ${fault}`);
  const full = bearerOf('/tokens/full', file.tokens.full, environment, now);
  if (!full.ok) return unusable(full.error);
  const { withoutClaims } = file.tokens;
  const bare =
    withoutClaims === undefined
      ? undefined
      : bearerOf('/tokens/withoutClaims', withoutClaims, environment, now);
  if (bare?.ok === false) return unusable(bare.error);
  const { claims } = full.value;
  if (bare !== undefined && bare.value.claims.tenantId !== claims.tenantId)
    return unusable('/tokens/withoutClaims and /tokens/full are tokens of different tenants');
  if (bare !== undefined && claimedIds(bare.value.claims).size > 0)
    return unusable('/tokens/withoutClaims must not have resource claims');
  return ok({
    side,
    tenantId: claims.tenantId,
    full: full.value.token,
    withoutClaims: bare?.value.token,
    reports: file.reports,
    mastery: file.mastery,
    issuer: claims.iss,
    claimed: claimedIds(claims),
    fixturesSha256: hashCanonical(fixturesOf(file)),
  });
}

/** Returns everything of a file but its tokens. */
function fixturesOf({ reports, mastery }: TenantFile): unknown {
  return { ...(reports === undefined ? {} : { reports }), ...(mastery === undefined ? {} : { mastery }) };
}

const ids = z.array(z.string()).default([]);
/** The members of a token's payload that the suite reads. Verifying the token is up to the target, which the suite tests. */
const claimsOfToken = z.object({
  tenantId: z.string().min(1),
  exp: z.number(),
  iss: z.string().default(''),
  studentIds: ids,
  classSourcedIds: ids,
  schoolSourcedIds: ids,
  administrationIds: ids,
});

type TokenClaims = z.infer<typeof claimsOfToken>;

function claimedIds(claims: TokenClaims): ReadonlySet<string> {
  return new Set([
    ...claims.studentIds,
    ...claims.classSourcedIds,
    ...claims.schoolSourcedIds,
    ...claims.administrationIds,
  ]);
}

function bearerOf(
  pointer: string,
  source: z.infer<typeof token>,
  environment: Environment,
  now: number,
): Result<{ readonly token: string; readonly claims: TokenClaims }, string> {
  const value = 'value' in source ? source.value : environment[source.environment];
  if (value === undefined || value === '')
    return err(
      `${pointer} names the variable ${'environment' in source ? source.environment : ''}, which is not set`,
    );
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(value)) return err(`${pointer} is not a signed JWT`);
  const json = parseStrictJson(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString());
  if (!json.ok) return err(`${pointer} is not a JWT: its payload is not JSON`);
  const claims = claimsOfToken.safeParse(json.value);
  if (!claims.success)
    return err(`${pointer} is not a token of the platform: it needs the claims tenantId and exp`);
  if (claims.data.exp * 1000 <= now)
    return err(`${pointer} expired at ${new Date(claims.data.exp * 1000).toISOString()}: obtain a new one`);
  return ok({ token: value, claims: claims.data });
}

/** Members that may be equal in both files: grades, and records that can belong to both tenants. */
const SHARED_MEMBERS: ReadonlySet<string> = new Set([
  '/reports/school/grade',
  '/mastery/selectionPolicyId',
  '/mastery/scaleCalibrationId',
]);

/** Returns every id of a tenant's fixtures by its JSON Pointer. */
export function idsOf({
  reports,
  mastery,
}: Pick<Tenant, 'reports' | 'mastery'>): ReadonlyMap<string, string> {
  return new Map([...leavesOf({ reports, mastery })].filter(([place]) => !SHARED_MEMBERS.has(place)));
}

function* leavesOf(value: unknown, place = ''): Generator<[string, string]> {
  if (typeof value === 'string') yield [place, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* leavesOf(member, `${place}/${name}`);
}

/** Returns why two tenants cannot be used for a proof; undefined if they are disjoint [RP-024] and have what the service needs. */
export function describeUnfit(service: ServiceName, a: Tenant, b: Tenant): string | undefined {
  const missing = [a, b].find((tenant) => tenant[service] === undefined);
  if (missing !== undefined) return `the file of tenant ${missing.side} has no /${service}`;
  if (a.tenantId === b.tenantId) return 'both tokens are of the same tenant: a proof needs two tenants';
  const others = new Map([...idsOf(b)].map(([place, id]) => [id, place]));
  const shared = [...idsOf(a)].flatMap(([place, id]) => {
    const other = others.get(id);
    return other === undefined ? [] : [`  ${place} of A equals ${other} of B`];
  });
  return shared.length === 0
    ? undefined
    : `the tenants must not share ids:\n${[...new Set(shared)].join('\n')}`;
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? '(root)' : `/${path.map(String).join('/')}`;
}

function describeJsonFault(
  fault: Extract<ReturnType<typeof parseStrictJson>, { ok: false }>['error'],
): string {
  switch (fault.kind) {
    case 'malformed':
      return 'it cannot be parsed';
    case 'too-deep':
      return 'it is nested too deeply';
    case 'not-i-json':
      return 'it contains a number or a string that is not valid I-JSON (RFC 7493)';
    case 'duplicate-key':
      return `duplicate member ${pointer(...fault.path)}`;
  }
}
