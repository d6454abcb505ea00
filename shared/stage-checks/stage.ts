import { shellWord } from '#shared/kernel/shell-word.ts';
import type { Subscription } from '@aws-sdk/client-sns';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { PROMOTE_AFTER_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import { severities } from '#shared/observability/watches.ts';
import { alarmTopicOutputs, stackName } from '#shared/stage/stack-names.ts';
import { createKeyNotes } from '#shared/stores/key-notes.ts';
import { makeDynamo, makeSsm } from '#shared/stores/make-clients.ts';
import { listCredentialExpiries } from '#shared/stores/service-profile-items.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { makeSns, makeSnsOfSite } from './clients.ts';
import { daysUntil, failure, good, warning, type Check, type Finding } from './finding.ts';
import { hasStores } from './stacks.ts';

/* Whether what is deployed is sound. Each returns nothing before the first deployment. */

export const keys: Check = async (subject) => {
  const { stage, now, aws } = subject;
  if (!(await hasStores(subject))) return [];
  const table = await subject.table('settings');
  if (!table.ok) return [failure('table-unknown', table.error)];
  const noted = await createKeyNotes(aws(makeSsm), stage.name).newest();
  const ring = createWritableKeySettings(aws(makeDynamo), table.value);
  const mending = `npm run doctor -- --stage ${stage.name} --fix`;
  const found: Finding[] = [];
  for (const purpose of keyPurposes) {
    const records = await ring.list(purpose);
    const active = records.filter(({ state }) => state === 'active');
    if (records.length === 0 && noted.has(purpose))
      found.push(
        failure(
          'keys-lost',
          `${purpose} had keys, and the table has none: requests that need one return 500`,
          'restore them before anything else (docs/disaster-recovery.md, “the key ring is lost”)',
          purpose,
        ),
      );
    else if (active.length !== 1)
      found.push(
        failure(
          active.length === 0 ? 'no-active-key' : 'several-active-keys',
          active.length === 0
            ? `${purpose} has 0 active keys: requests that need one return 500`
            : `${purpose} has ${active.length} active keys: the newest seals, and no command makes this state`,
          active.length === 0
            ? mending
            : 'look in CloudTrail for who wrote to the table settings (docs/runbook.md)',
          purpose,
        ),
      );
    else if (!noted.has(purpose))
      found.push(
        warning(
          'keys-not-noted',
          `Systems Manager has no note that ${purpose} has keys, so their loss would look like a new stage`,
          mending,
          purpose,
        ),
      );
    for (const { kid, state, createdAt, openingAt = now } of records) {
      const isLate =
        (state === 'pending' && createdAt + 2 * PROMOTE_AFTER_MS < now) ||
        (state === 'opening' && openingAt + 2 * RETIRE_AFTER_MS < now);
      if (isLate)
        found.push({
          ...warning(
            'key-late',
            `${purpose}: ${kid} is still ${state}`,
            `npm run keys -- ${state === 'pending' ? 'rotate' : 'retire'} --stage ${stage.name} --purpose ${purpose}`,
            purpose,
          ),
        });
    }
  }
  return found.length === 0 ? [good(`${keyPurposes.length} purposes have one active key each`)] : found;
};

/** The owners make a new credential, and an operator provisions it. */
const CREDENTIAL_DAYS = 30;

/** How long the credentials that functions use are valid. None is opened for it. */
export const credentials: Check = async (subject) => {
  const { stage, now, aws } = subject;
  if (!(await hasStores(subject))) return [];
  const table = await subject.table('settings');
  if (!table.ok) return [failure('table-unknown', table.error)];
  const ends = [...(await listCredentialExpiries(aws(makeDynamo), table.value))];
  const known = ends.filter((entry): entry is [string, number] => entry[1] !== undefined);
  const found = known.map(([tenant, end]): Finding => {
    const daysLeft = daysUntil(end, now);
    const remedy = `provision a new one (docs/deploy.md, step 7), then: npm run release -- profile --stage ${stage.name} --tenant ${shellWord(tenant)}`;
    const message = `the credential of ${tenant} ${end > now ? 'expires' : 'expired'} at ${new Date(end).toISOString()} (${daysLeft} days)`;
    // It counts as a finding. In the figure it would hide the next one that ends.
    if (end <= now) return failure('credential-expired', message, remedy, tenant);
    return {
      ...(daysLeft >= CREDENTIAL_DAYS ? good(message) : warning('credential-ends', message, remedy, tenant)),
      daysLeft,
    };
  });
  const silent = ends.length - known.length;
  return silent === 0 ? found : [...found, good(`${silent} credentials do not show when they expire`)];
};

/** Whether alarms reach someone. A stage without production may be silent. */
export const alarms: Check = async ({ stage, aws, stacks: read }) => {
  const outputs = (await read()).get(stackName(stage.name, 'operations'))?.outputs;
  if (outputs === undefined) return [];
  const finding = stage.config.production === true ? failure : warning;
  const site = (await read()).get(stackName(stage.name, 'documentation'))?.outputs;
  const topics = [
    ...severities.map(
      (severity) =>
        [
          `severity ${severity}`,
          stage.config.alarmsTopicArn?.[severity] ?? outputs.get(alarmTopicOutputs[severity]),
          makeSns,
          makeSnsOfSite,
        ] as const,
    ),
    // The site has a topic of its own, in its own region.
    ['the site', site?.get(alarmTopicOutputs.ticket), makeSnsOfSite] as const,
  ];
  const found = await Promise.all(
    topics.map(async ([which, topic, make]): Promise<readonly Finding[]> => {
      if (topic === undefined) return [];
      const { Subscriptions = [] } = await aws(make).listSubscriptionsByTopic({ TopicArn: topic });
      return subscriptionFindings(which, topic, Subscriptions, finding);
    }),
  );
  return found.flat();
};

function subscriptionFindings(
  which: string,
  topic: string,
  subscriptions: readonly Subscription[],
  finding: (code: string, message: string, remedy: string, about: string) => Finding,
): readonly Finding[] {
  const pending = subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation');
  const confirmed = subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:'));
  if (pending.length === 0 && confirmed.length > 0)
    return [good(`alarms of ${which} reach ${confirmed.length} subscriptions`)];
  return [
    ...pending.map(({ Endpoint: endpoint = '', Protocol: protocol = '' }) =>
      finding(
        'subscription-pending',
        `${endpoint} has not confirmed its subscription, so it gets no alarm of ${which}`,
        `open the link in the mail; to send it again: aws sns subscribe --topic-arn ${topic} --protocol ${protocol} --notification-endpoint ${endpoint}`,
        topic,
      ),
    ),
    ...(pending.length + confirmed.length === 0
      ? [
          finding(
            'subscription-missing',
            `nothing subscribes to the topic of the alarms of ${which}`,
            'set alarmsEmail in shared/stage/stages.ts and deploy',
            topic,
          ),
        ]
      : []),
  ];
}
