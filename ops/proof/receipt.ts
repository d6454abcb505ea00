import * as z from 'zod';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { requestableTestKind, view } from '#shared/contract/reports/attempt-report.ts';
import { instant, sha256, text } from '#shared/contract/reports/primitives.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** The `kind` of every receipt. */
const PROOF_KIND = 'two-tenant-proof';

const sentence = z.string().min(1).max(1000);

const check = z.strictObject({
  /** `<group>.<subject>.<side>`: stable from one run to the next. */
  id: z.string().regex(/^[\w.-]{1,255}$/),
  title: sentence,
  asked: sentence,
  /** A run with a failed check has no receipt. */
  result: z.enum(['passed', 'not_open', 'not_asked']),
  /** Why a check was not asked or its route is not open; null for one that passed. */
  why: sentence.nullable(),
});

const tenant = z.strictObject({
  side: z.enum(['A', 'B']),
  /** SHA-256 of the verified tenant's id. */
  tenantSha256: sha256,
  /** SHA-256 of the canonical fixtures, tokens left out. */
  fixturesSha256: sha256,
});

/** The receipt of a run of the suite in which nothing failed (docs/proof.md). It contains no token and no id of a learner. */
export const proofReceipt = z.strictObject({
  kind: z.literal(PROOF_KIND),
  version: z.literal(1),
  service: z.enum(['reports', 'mastery']),
  /** Base URL of the deployment. */
  target: z.url({ protocol: /^https?$/ }),
  /** A rehearsal only proves that the suite runs. */
  rehearsal: z.boolean(),
  /** What made it a rehearsal; empty if only the option did. */
  marks: z.array(sentence).max(10),
  startedAt: instant,
  finishedAt: instant,
  product: z.strictObject({ name: text, version: text }),
  tenants: z.tuple([tenant, tenant]),
  routes: z
    .array(
      z.strictObject({
        operationId: text,
        method: z.enum(['GET', 'POST']),
        path: z.string().startsWith('/v1/'),
        open: z.boolean(),
      }),
    )
    .min(1)
    .max(100),
  checks: z.array(check).min(1).max(5000),
  digests: z.strictObject({
    /** SHA-256 of the canonical OpenAPI document of the service, whose schemas the responses were checked against. */
    contract: sha256,
    /** SHA-256 of the canonical `checks`. */
    checks: sha256,
  }),
});
export type ProofReceipt = z.infer<typeof proofReceipt>;

/** Returns the bytes of a receipt: RFC 8785, so that one receipt has one digest. */
export function receiptBytes(receipt: ProofReceipt): Uint8Array {
  return Buffer.from(canonicalJson(receipt));
}

/** Returns whether bytes claim to be a receipt of this suite, sound or not. */
export function claimsToBeProof(bytes: Uint8Array): boolean {
  const json = parseStrictJson(new TextDecoder().decode(bytes));
  return (
    json.ok &&
    typeof json.value === 'object' &&
    json.value !== null &&
    'kind' in json.value &&
    json.value.kind === PROOF_KIND
  );
}

/**
 * Reads a receipt back: its form, its canonical bytes, its digests, and that it covers every open route in both directions.
 * @returns err: the end of a sentence that begins with the receipt
 */
export function readProof(bytes: Uint8Array): Result<ProofReceipt, string> {
  const source = new TextDecoder().decode(bytes);
  const json = parseStrictJson(source);
  if (!json.ok) return err(`is not valid JSON (${json.error.kind})`);
  const parsed = proofReceipt.safeParse(json.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return err(
      `is not a proof of this version: /${issue?.path.map(String).join('/') ?? ''} ${issue?.message ?? ''}`,
    );
  }
  const receipt = parsed.data;
  if (canonicalJson(receipt) !== source)
    return err('is not in the canonical form (RFC 8785) in which npm run proof writes it');
  const [first] = inconsistencies(receipt);
  return first === undefined ? ok(receipt) : err(first);
}

/** The routes that start an operation under an idempotency key. */
const keyedOperations: ReadonlySet<string> = new Set([
  materializeAttemptReport.operationId,
  analyzeAdministration.operationId,
  startAdaptiveRun.operationId,
]);

function inconsistencies(receipt: ProofReceipt): readonly string[] {
  const { checks, tenants, startedAt, finishedAt, digests } = receipt;
  const ids = new Set(checks.map(({ id }) => id));
  return [
    ...(ids.size === checks.length ? [] : ['contains a check twice']),
    ...(hashCanonical(checks) === digests.checks ? [] : ['contains checks that do not match their digest']),
    ...(checks.every(({ result, why }) => (result === 'passed') === (why === null))
      ? []
      : ['contains a passed check with a reason, or another one without a reason']),
    ...(compareInstants(startedAt, finishedAt) <= 0 ? [] : ['ended before it started']),
    ...(tenants[0].side === 'A' &&
    tenants[1].side === 'B' &&
    tenants[0].tenantSha256 !== tenants[1].tenantSha256
      ? []
      : ['is not about two tenants']),
    ...(receipt.marks.length === 0 || receipt.rehearsal
      ? []
      : ['has the marks of a rehearsal but rehearsal: false']),
    ...uncovered(receipt).map((what) => `has no passed check of ${what}`),
  ];
}

/**
 * Returns the checks that a proof needs and a receipt lacks: for every open route, anonymous callers, the denial and the isolation of tenants in both
 * directions, and for the reports service all kinds of tests in all views under both tenants [RP-024, MA-021].
 */
function uncovered({ service, routes, checks }: ProofReceipt): readonly string[] {
  const passed = checks.filter(({ result }) => result === 'passed').map(({ id }) => id);
  const covers = (start: string, end: string): boolean =>
    passed.some((id) => id.startsWith(`${start}.`) && id.endsWith(`.${end}`));
  // A record that belongs to both tenants is visible to both.
  const askable = (group: string, operationId: string): boolean =>
    !checks.some(({ id, result }) => id.startsWith(`${group}.${operationId}.`) && result === 'not_asked');
  const open = routes.filter((route) => route.open);
  const reads = open.filter(({ method }) => method === 'GET');
  const inDirections = (group: string, what: string, ofRoutes: ProofReceipt['routes']): readonly string[] =>
    ofRoutes.flatMap(({ operationId }) =>
      ['A-B', 'B-A']
        .filter((side) => askable(group, operationId) && !covers(`${group}.${operationId}`, side))
        .map((side) => `${what} of ${operationId} from ${side.replace('-', ' to ')}`),
    );
  return [
    ...open
      .filter(({ operationId }) => !covers(`anonymous.${operationId}`, 'both'))
      .map(({ operationId }) => `anonymous callers of ${operationId}`),
    ...inDirections('denial', 'the denial', open),
    ...inDirections('cache', 'the cache', reads),
    ...inDirections('trace', 'the trace', reads),
    ...inDirections(
      'idempotency',
      'the idempotency keys',
      open.filter(({ operationId }) => keyedOperations.has(operationId)),
    ),
    ...(service === 'mastery'
      ? []
      : requestableTestKind.options.flatMap((kind) =>
          view.options.flatMap((shown) =>
            ['A', 'B']
              .filter((side) => !passed.includes(`matrix.${kind}.${shown}.${side}`))
              .map((side) => `${kind} in the view ${shown} under ${side}`),
          ),
        )),
  ];
}

/**
 * Returns why a receipt of this suite does not prove what a manifest refers to it for.
 * @param proves what it proves according to the manifest
 * @param rehearsal whether the manifest is one
 * @returns the end of a sentence that begins with the receipt; undefined if it is a valid proof
 */
export function proofFault(bytes: Uint8Array, proves: string, rehearsal: boolean): string | undefined {
  const read = readProof(bytes);
  if (!read.ok) return read.error;
  const { service } = read.value;
  if (service !== 'reports') return `is a proof of the ${service} engine, which opens no gate`;
  if (proves !== 'D') return `is a two-tenant proof, which proves gate D and not ${proves}`;
  if (read.value.rehearsal && !rehearsal)
    return 'is a rehearsal, which only a rehearsal manifest may contain';
  return undefined;
}
