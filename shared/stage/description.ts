import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { releaseKey } from '#shared/release/release-key.ts';

const urls = {
  reportsUrl: z.url(),
  masteryUrl: z.url(),
  sandboxUrl: z.url(),
  problemsUrl: z.url(),
  receiptsUrl: z.url(),
  docsUrl: z.url(),
  explorerUrl: z.url(),
  platformUrl: z.url(),
  awsUrl: z.url(),
};

const bankFixture = z.object({
  name: z.string(),
  testSpecId: z.string(),
  testBankId: z.string(),
  bankOperationId: z.string(),
  selectionPolicyId: z.string(),
  scaleCalibrationId: z.string(),
  /** How many items and knowledge components the bank has. */
  items: z.int(),
  kcs: z.int(),
  kcGuids: z.array(z.string()).readonly(),
});
export type BankFixture = z.output<typeof bankFixture>;

const schoolGrade = z.object({ schoolSourcedId: z.string(), grade: z.string() });
const ids = z.array(z.string()).readonly();
const schoolGrades = z.array(schoolGrade).readonly();

const byAttemptRole = z.object({
  gatePass: z.string(),
  gateFail: z.string(),
  gateIndeterminate: z.string(),
  diagnostic: z.string(),
  formative: z.string(),
  unscored: z.string(),
  unsettled: z.string(),
  stale: z.string(),
  large: z.string(),
});

const reportsFixtures = z.object({
  attempts: byAttemptRole,
  /** The administration of each of these, which a report shows and materializing requires. */
  administrationOf: byAttemptRole,
  candidates: z.object({ withHistory: z.string(), empty: z.string() }),
  /** Every active candidate of an attempt, including special ones, the two candidates, and the learner of the mastery engine's runs. */
  students: ids,
  /** Classes with a rollup that can be shown, the ones that are not suppressed first. */
  classes: ids,
  schools: schoolGrades,
  forms: z.object({ equivalent: z.string(), notEquivalent: z.string(), insufficient: z.string() }),
  /** Administrations that can be analyzed. */
  administrations: ids,
  /** The named sources of the first administration's run, in Content's order. */
  sourceKeys: ids,
  /** The released thresholds of improvement runs. */
  analysisPolicyId: z.string(),
  /** Resources with another response, and attempts that have no role above. */
  special: z.object({
    /** All other administrations, by the names of `reports.json`. */
    administrations: z.record(z.string(), z.string()),
    /** By the names of `reports.json`. */
    attempts: z.record(z.string(), z.string()),
    classesWithoutRollup: ids,
    /** Classes whose rollup withholds its count. */
    classesWithheld: ids,
    classesDeleted: ids,
    schoolsWithoutRollup: schoolGrades,
    schoolsWithheld: schoolGrades,
    studentsDeleted: ids,
  }),
});

const sandboxFixtures = z.object({
  masteryGateAttempt: z.string(),
  adaptiveDiagnosticAttempt: z.string(),
  candidate: z.string(),
  form: z.string(),
});

/** Ids of one tenant to call every route with. */
export const tenantFixtures = z.object({
  mastery: z.object({ resultsStudentId: z.string(), banks: z.array(bankFixture).readonly() }),
  reports: reportsFixtures,
});
export type TenantFixtures = z.output<typeof tenantFixtures>;

/** `.local/stack.json`: the addresses of the running stack and the ids to call it with. Service URLs are base URLs, without `/v1`. */
export const stackDescription = z.object({
  ...urls,
  tenants: z
    .array(z.object({ tenantId: z.string(), sub: z.string(), role: z.string(), playerToken: z.string() }))
    .min(1),
  /** Ids to call every route with, by tenant, and those of the sandbox. */
  fixtures: z.object({ sandbox: sandboxFixtures }).catchall(tenantFixtures),
  /** The key whose signature opens gates here. */
  releaseKey,
  /** The process id of the stack. */
  pid: z.int().min(1),
  seedDirectory: z.string(),
  logFile: z.string(),
});
export type StackDescription = z.infer<typeof stackDescription>;

/** Returns the schema of ids by tenant, together with those of the sandbox, which no tenant is named. */
export function describeFixtures(
  tenants: Readonly<Record<string, TenantFixtures>>,
  sandbox: z.output<typeof sandboxFixtures>,
): StackDescription['fixtures'] {
  return Object.assign({ ...tenants }, { sandbox });
}

export type StackUrls = Pick<StackDescription, keyof typeof urls>;

type LocalFile = 'stack' | 'lock' | 'issuerKey' | 'manifest' | 'run' | 'functionLog' | 'accessLog';

/** Returns the files of the local runtime, below the project's folder. */
export function localFiles(folder: string): Readonly<Record<LocalFile, string>> {
  const local = join(folder, '.local');
  return {
    stack: join(local, 'stack.json'),
    /** Names the process of this folder's stack, even while it is starting. */
    lock: join(local, 'lock'),
    issuerKey: join(local, 'issuer-key.json'),
    /** The manifest that the stack was started with: applied again, it reopens what was withdrawn. */
    manifest: join(local, 'manifest.jws'),
    /** The latest runs of `npm run call`, which its next call continues. */
    run: join(local, 'run.json'),
    functionLog: join(local, 'logs', 'functions.log'),
    accessLog: join(local, 'logs', 'access.log'),
  };
}

/** Replaces the file at once, readable only by its owner. */
export async function writeStackDescription(file: string, description: StackDescription): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}`;
  await writeFile(partial, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 });
  await rename(partial, file);
}

/** Removes the file if it still belongs to the given process: another stack may have written its own meanwhile. */
export async function removeStackDescription(file: string, pid: number): Promise<void> {
  const found = await readStackDescription(file);
  if (found.ok && found.value.pid === pid) await rm(file, { force: true });
}

/** Returns the stack whose process is alive, or a sentence for the user of a command that needs one. */
export async function findRunningStack(file: string): Promise<Result<StackDescription, string>> {
  const found = await readStackDescription(file);
  return found.ok && !isAlive(found.value.pid)
    ? err('the local stack has ended without cleaning up: start it again with `npm start`')
    : found;
}

async function readStackDescription(file: string): Promise<Result<StackDescription, string>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return err('no local stack is running: start one with `npm start` in another terminal');
    throw error;
  }
  try {
    return ok(stackDescription.parse(JSON.parse(text)));
  } catch {
    return err(
      '.local/stack.json is not of this version: end the local stack and start it again with `npm start`',
    );
  }
}

/** Returns whether a process has this id, whichever program it runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user exists, too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
