import { writeFile } from 'node:fs/promises';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { renderOpenApi } from '#shared/openapi/openapi.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';
import { checkId } from './check.ts';
import { receiptBytes, type ProofReceipt } from './receipt.ts';
import type { ProofRun, Row } from './run-proof.ts';

/**
 * Returns the receipt of a run.
 * @param rehearsal whether the operator chose --rehearsal
 * @returns err: why there is none, a sentence
 */
export function receiptOf(
  run: ProofRun,
  rehearsal: boolean,
  product: ProofReceipt['product'],
): Result<ProofReceipt, string> {
  const { service, target, rows, marks, startedAt, finishedAt, routes, tenants } = run;
  const failed = rows.filter(({ outcome }) => outcome.result === 'failed').length;
  if (failed > 0) return err(`no receipt: ${failed} of ${rows.length} checks failed`);
  if (marks.length > 0 && !rehearsal)
    return err(
      `no receipt: ${target} is not a deployment: ${marks.join(', ')}. --rehearsal writes a rehearsal receipt`,
    );
  const checks = rows.map(checkOf);
  return ok({
    kind: 'two-tenant-proof',
    version: 1,
    service,
    target,
    rehearsal,
    marks: [...marks],
    startedAt,
    finishedAt,
    product,
    tenants: [tenantOf(tenants[0]), tenantOf(tenants[1])],
    routes: routes.map(({ route: { operationId, method, path }, open }) => ({
      operationId,
      method,
      path,
      open,
    })),
    checks,
    digests: { contract: hashCanonical(renderOpenApi(service, allOpen)), checks: hashCanonical(checks) },
  });
}

function checkOf({ check, outcome }: Row): ProofReceipt['checks'][number] {
  if (outcome.result === 'failed') throw new TypeError('a run with a failed check has no receipt');
  return {
    id: checkId(check),
    title: check.title,
    asked: check.asked,
    result: outcome.result,
    why: outcome.result === 'passed' ? null : outcome.why,
  };
}

function tenantOf({
  side,
  tenantId,
  fixturesSha256,
}: ProofRun['tenants'][number]): ProofReceipt['tenants'][number] {
  return { side, tenantSha256: sha256Hex(tenantId), fixturesSha256 };
}

/**
 * Writes a receipt. It never replaces a file, because a manifest may refer to it.
 * @returns SHA-256 of its bytes, for a manifest
 */
export async function writeReceipt(receipt: ProofReceipt, path: string): Promise<Result<string, string>> {
  const bytes = receiptBytes(receipt);
  try {
    await writeFile(path, bytes, { flag: 'wx' });
    return ok(sha256Hex(bytes));
  } catch (error) {
    return err(
      error instanceof Error && 'code' in error && error.code === 'EEXIST'
        ? `${path} already exists: a receipt never replaces a file, choose another with --out`
        : `cannot write ${path}: ${fileFailure(error)}`,
    );
  }
}
