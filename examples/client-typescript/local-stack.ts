/** What stands for your platform here: the local stack, its tokens and its QTI player. Replace this file with your own. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { OfferedItem, TokenProvider } from 'mastery-reports-client';

/** Where `npm start` runs, as a file of it says. */
const project = resolve(process.env['PROJECT'] ?? join(import.meta.dirname, '../..'));

interface Bank {
  readonly selectionPolicyId: string;
  readonly scaleCalibrationId: string;
  readonly testSpecId: string;
  readonly testBankId: string;
  readonly bankOperationId: string;
}

interface Stack {
  readonly masteryUrl: string;
  readonly reportsUrl: string;
  readonly platformUrl: string;
  readonly tenants: readonly { readonly tenantId: string; readonly playerToken: string }[];
  readonly fixtures: Readonly<
    Record<
      string,
      { readonly mastery: { readonly resultsStudentId: string; readonly banks: readonly Bank[] } }
    >
  >;
}

const stack = JSON.parse(await readFile(join(project, '.local/stack.json'), 'utf8')) as Stack;
const [tenant] = stack.tenants;
const mastery = stack.fixtures[tenant?.tenantId ?? '']?.mastery;
const [bank] = mastery?.banks ?? [];
if (tenant === undefined || mastery === undefined || bank === undefined)
  throw new Error('the stack has no tenant with a bank: start it with npm start');
const { tenantId, playerToken } = tenant;

export const { masteryUrl, reportsUrl } = stack;
export const studentId = mastery.resultsStudentId;

/** The start of a learner's run over the first bank. */
export const start = {
  selectionPolicyId: bank.selectionPolicyId,
  scaleCalibrationId: bank.scaleCalibrationId,
  testSpecId: bank.testSpecId,
  testBankId: bank.testBankId,
  bankOperationId: bank.bankOperationId,
  runMode: 'production_learner',
  resultsStudentId: studentId,
} as const;

let current: { readonly token: string; readonly renewAt: number } | undefined;

/** Gives a token of the local issuer, and makes a new one five minutes before it expires. */
export const token: TokenProvider = async () => {
  if (current === undefined || Date.now() > current.renewAt) {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['run', '--silent', 'token', '--', '--tenant', tenantId, '--studentIds', studentId],
      { cwd: project },
    );
    current = { token: stdout.trim().split('\n').at(-1) ?? '', renewAt: Date.now() + 55 * 60_000 };
  }
  return current.token;
};

/** A learner who answers two items of three correctly: posts the scored attempt, as a QTI player does. */
export async function answer(item: OfferedItem, signal: AbortSignal): Promise<void> {
  const session = encodeURIComponent(item.deliverySessionId);
  const response = await fetch(
    `${stack.platformUrl}/tenants/${tenantId}/qti/delivery-sessions/${session}/attempts`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${playerToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: { SCORE: item.sequence % 3 === 0 ? 0 : 1 } }),
      signal,
    },
  );
  if (!response.ok) throw new Error(`QTI rejected the attempt with status ${response.status}`);
}
