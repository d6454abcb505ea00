import * as z from 'zod';
import { startAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { requestableTestKind, view } from '#shared/contract/reports/attempt-report.ts';
import { instant, sha256, text } from '#shared/contract/reports/primitives.ts';
import { analyzeAdministration, materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';

/** What a receipt calls itself. */
const PROOF_KIND = 'two-tenant-proof';

const sentence = z.string().min(1).max(1000);

const check = z.strictObject({
  /** `<group>.<subject>.<side>`: stable from one run to the next. */
  id: z.string().regex(/^[\w.-]{1,255}$/),
  title: sentence,
  asked: sentence,
  /** A failed check leaves no receipt. */
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

/** The receipt of a run of the suite in which nothing failed (docs/proof.md). It holds no token and no id of a learner. */
export const proofReceipt = z.strictObject({
  kind: z.literal(PROOF_KIND),
  version: z.literal(1),
  service: z.enum(['reports', 'mastery']),
  /** Base URL of the deployment. */
  target: z.url({ protocol: /^https?$/ }),
  /** A rehearsal proves nothing but that the suite runs. */
  rehearsal: z.boolean(),
  /** What made it a rehearsal; empty where that was only said. */
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
    /** SHA-256 of the canonical OpenAPI document of the service, to whose schemas the answers were held. */
    contract: sha256,
    /** SHA-256 of the canonical `checks`. */
    checks: sha256,
  }),
});
export type ProofReceipt = z.infer<typeof proofReceipt>;

/** The bytes of a receipt: RFC 8785, so that one receipt has one digest. */
export function receiptBytes(receipt: ProofReceipt): Uint8Array {
  return Buffer.from(canonicalJson(receipt));
}

/** Whether bytes call themselves a receipt of this suite, sound or not. */
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
  const parsed = proofReceipt.safeParse(json.ok ? json.value : undefined);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return err(
      `is no proof of this version: /${issue?.path.map(String).join('/') ?? ''} ${issue?.message ?? ''}`,
    );
  }
  const receipt = parsed.data;
  if (canonicalJson(receipt) !== source)
    return err('is not in the canonical form that the proof is written in');
  const [first] = inconsistencies(receipt);
  return first === undefined ? ok(receipt) : err(first);
}

/** The routes whose first request begins an operation. */
const keyedOperations: ReadonlySet<string> = new Set([
  materializeAttemptReport.operationId,
  analyzeAdministration.operationId,
  startAdaptiveRun.operationId,
]);

/** What in a receipt contradicts it. */
function inconsistencies(receipt: ProofReceipt): readonly string[] {
  const { checks, tenants, startedAt, finishedAt, digests } = receipt;
  const ids = new Set(checks.map(({ id }) => id));
  return [
    ...(ids.size === checks.length ? [] : ['has a check twice']),
    ...(hashCanonical(checks) === digests.checks ? [] : ['has other checks than its digest says']),
    ...(checks.every(({ result, why }) => (result === 'passed') === (why === null))
      ? []
      : ['has a check that passed with a reason, or one that did not without']),
    ...(compareInstants(startedAt, finishedAt) <= 0 ? [] : ['ended before it began']),
    ...(tenants[0].side === 'A' &&
    tenants[1].side === 'B' &&
    tenants[0].tenantSha256 !== tenants[1].tenantSha256
      ? []
      : ['is not of two tenants']),
    ...(receipt.marks.length === 0 || receipt.rehearsal
      ? []
      : ['is a rehearsal by its marks and says that it is none']),
    ...uncovered(receipt).map((what) => `has no check that passed for ${what}`),
  ];
}

/**
 * What a proof has to have and a receipt lacks: for every open route a refusal of anonymous callers, a denial and what isolates the tenants, in
 * both directions, and for the reports service all kinds of tests in all views under both tenants [RP-024, MA-021].
 */
function uncovered({ service, routes, checks }: ProofReceipt): readonly string[] {
  const passed = checks.filter(({ result }) => result === 'passed').map(({ id }) => id);
  const covers = (start: string, end: string): boolean =>
    passed.some((id) => id.startsWith(`${start}.`) && id.endsWith(`.${end}`));
  // A record that belongs to both tenants is denied to neither.
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
    ...inDirections('cache', 'the isolated cache', reads),
    ...inDirections('trace', 'the isolated trace', reads),
    ...inDirections(
      'idempotency',
      'the isolated keys',
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
 * Why a receipt of this suite does not prove what a manifest cites it for.
 * @param proves what the manifest says that it proves
 * @param rehearsal whether the manifest is one
 * @returns the end of a sentence that begins with the receipt; undefined when it does
 */
export function proofFault(bytes: Uint8Array, proves: string, rehearsal: boolean): string | undefined {
  const read = readProof(bytes);
  if (!read.ok) return read.error;
  const { service } = read.value;
  if (service !== 'reports') return `is a proof of the ${service} engine, which opens no gate`;
  if (proves !== 'D') return `is a two-tenant proof, which proves D and not ${proves}`;
  if (read.value.rehearsal && !rehearsal) return 'is a rehearsal, which proves nothing outside of one';
  return undefined;
}
