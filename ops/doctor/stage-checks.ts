import { initKeyRing } from '#shared/keys/administration.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { inOrder } from '#shared/keys/key-states.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { closed } from '#shared/release/release-state.ts';
import type { CheckName } from '#shared/stage/checks.ts';
import { failure, good, warning } from '#shared/stage-checks/finding.ts';
import { releaseOf } from '#shared/stage-checks/release.ts';
import { scheduled } from '#shared/stage-checks/scheduled.ts';
import { hasStores } from '#shared/stage-checks/stacks.ts';
import { dynamo, kms, ssm } from '#shared/stores/clients.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createRecordsTable, listBlockedRecords } from '#shared/stores/records-table.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { shellWord } from '#shared/kernel/shell-word.ts';
import { openProfiles } from '#ops/release/profiles.ts';
import type { Check, Finding, Subject } from './finding.ts';
import { mending } from './mending.ts';
import { protectStack } from './stacks.ts';

async function protect({ place }: Subject, name: string): Promise<Result<string, string>> {
  await protectStack(place, name);
  return ok(`${name} has termination protection`);
}

async function createFirstKey(
  { stage, table: find, now }: Subject,
  name: string,
): Promise<Result<string, string>> {
  const [table, purpose] = [await find('settings'), keyPurposes.find((known) => known === name)];
  if (!table.ok) return table;
  const administration = {
    settings: noteChanges(
      createWritableKeySettings(dynamo(), table.value),
      createKeyNotes(ssm(), stage.name),
    ),
    kms: createDataKeyMaker(kms(), `alias/mastery-reports/${stage.name}`),
    stage: stage.name,
    clock: () => now,
  };
  await initKeyRing(administration, purpose === undefined ? [] : [purpose]);
  return ok(`${name} has its first key`);
}

async function noteKeys({ stage, table: find, now }: Subject, name: string): Promise<Result<string, string>> {
  const [table, purpose] = [await find('settings'), keyPurposes.find((known) => known === name)];
  if (!table.ok || purpose === undefined) return table;
  const records = await createWritableKeySettings(dynamo(), table.value).list(purpose);
  await createKeyNotes(ssm(), stage.name).noteMade(purpose, inOrder(records).at(-1)?.kid ?? '', now);
  return ok(`noted that ${purpose} has keys`);
}

/** Service profiles, whether functions read them as they are provisioned, and the analysis policies that they name where gates D and F are open. */
const profiles: Check = async (subject) => {
  const { stage, now } = subject;
  if (!(await hasStores(subject))) return [];
  const settings = await subject.table('settings');
  if (!settings.ok) return [failure('table-unknown', settings.error)];
  const opened = openProfiles({
    ...{ dynamo: dynamo(), kms: kms(), ssm: ssm(), now: () => now },
    ...{ stage: stage.name, approvedHosts: stage.config.approvedHosts },
    ...{ settingsTable: settings.value, keyId: `alias/mastery-reports/${stage.name}` },
  });
  const tenants = await opened.compare();
  if (tenants.length === 0)
    return [
      warning(
        'no-profiles',
        'no tenant has a service profile: every request that needs the platform fails',
        'create one (docs/deploy.md, step 7)',
      ),
    ];
  const read = await releaseOf(subject);
  const { open } = read.ok ? read.value.release : closed;
  const table = await subject.table('records');
  if (!table.ok) return [failure('table-unknown', table.error)];
  const records = createRecordsTable(dynamo(), table.value);
  const faults: Finding[] = [];
  for (const { folder, tenantId, provisioned, difference } of tenants) {
    const tenant = `the profile /${stage.name}/profiles/${folder}`;
    const command = `npm run release -- profile --stage ${stage.name} --tenant ${shellWord(tenantId)}`;
    if (provisioned === undefined) {
      faults.push(
        failure(
          'profile-differs',
          `${tenant} ${difference ?? ''}`,
          `${command} --remove, or create them (docs/deploy.md, step 7)`,
          tenantId,
        ),
      );
      continue;
    }
    const { parameters: values } = provisioned;
    const required = ['PLATFORM_TENANT', 'PLATFORM_URL', 'PLATFORM_JWT'] as const;
    const missing = required.filter((name) => values[name] === undefined);
    const host = URL.parse(values.PLATFORM_URL ?? '')?.host;
    const policy = values.ANALYSIS_POLICY_ID;
    const isUsable = missing.length === 0 && stage.config.approvedHosts.includes(host ?? '');
    const fault =
      missing.length > 0
        ? `lacks ${missing.join(', ')}`
        : host === undefined || !stage.config.approvedHosts.includes(host)
          ? `points to ${host ?? 'no URL'}, which is not one of approvedHosts`
          : !open.has('D') || !open.has('F')
            ? undefined
            : policy === undefined
              ? 'lacks ANALYSIS_POLICY_ID, so analyses return 503'
              : (await records.read({ kind: 'analysis-policy', id: policy })) === undefined
                ? `names the analysis policy ${policy}, which is not released`
                : undefined;
    if (fault !== undefined)
      faults.push(
        failure(
          'profile-unusable',
          `${tenant} ${fault}`,
          'mend it (docs/deploy.md, steps 7 and 8)',
          tenantId,
        ),
      );
    // What functions could not use anyway is not stored, and not missed.
    if (difference !== undefined && isUsable)
      faults.push({
        ...failure('profile-differs', `${tenant} ${difference}`, command, tenantId),
        mend: () => opened.move(tenantId),
      });
  }
  return faults.length === 0
    ? [good(`${tenants.length} service profiles are complete, and as functions read them`)]
    : faults;
};

const blockedRecords: Check = async (subject) => {
  if (!(await hasStores(subject))) return [];
  const table = await subject.table('records');
  if (!table.ok) return [failure('table-unknown', table.error)];
  const blocked = await listBlockedRecords(dynamo(), table.value);
  return blocked.length === 0
    ? [good('no record is blocked')]
    : blocked.map(({ kind, id, tenantId, blockedAt, because }) =>
        warning(
          'record-blocked',
          `the ${kind} ${id}${tenantId === undefined ? '' : ` of ${tenantId}`} has been blocked since ${blockedAt}: ${because}`,
          `release a corrected one under a new id; if the block was a mistake: npm run release -- unblock --help`,
          id,
        ),
      );
};

/** By the name in the report, in its order. */
export const stageChecks = {
  release: scheduled.release,
  stacks: mending(scheduled.stacks, { 'stack-unprotected': protect }),
  keys: mending(scheduled.keys, { 'no-active-key': createFirstKey, 'keys-not-noted': noteKeys }),
  'kms key': scheduled['kms key'],
  profiles,
  credentials: scheduled.credentials,
  firewall: scheduled.firewall,
  blocked: blockedRecords,
  alarms: scheduled.alarms,
  health: scheduled.health,
} satisfies Readonly<Partial<Record<CheckName, Check>>>;
