import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { serviceNames, type Route, type ServiceName } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { initKeyRing } from '#shared/keys/administration.ts';
import { keyPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { inOrder, PROMOTE_AFTER_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import { gatesPath } from '#shared/release/applied-manifest.ts';
import { readAppliedManifest, readRelease } from '#shared/release/read-release.ts';
import { closed, isReleased, type ReleaseState } from '#shared/release/release-state.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import {
  ALARM_TOPIC_OUTPUT,
  SANDBOX_HOST_OUTPUT,
  SANDBOX_URL_OUTPUT,
  stackIds,
  stackName,
  type StackId,
} from '#shared/stage/stack-names.ts';
import { dynamo, kms, ssm } from '#shared/stores/clients.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { appliedGates } from '#ops/gates/stage-places.ts';
import { deployedTable } from '#ops/reach-stage.ts';
import { openProfiles } from '#ops/release/profiles.ts';
import { failure, good, warning, type Check, type Finding, type Subject } from './finding.ts';
import { protectStack, type DeployedStack } from './stacks.ts';

/* Whether what is deployed is sound. Each returns nothing before the first deployment. */

const DAY_MS = 86_400_000;
/** Signing and applying a new manifest needs people. */
const MANIFEST_DAYS = 30;

/** Marker, flags and manifest: what a synth would make of them. */
const release: Check = async ({ stage, place, now }) => {
  const use = { key: stage.config.releaseKey, stage: stage.name, now };
  const applied = appliedGates();
  if ((await applied.readFlags(gatesPath(stage.name))).size === 0)
    return [
      warning(
        `${stage.name} is not deployed in account ${place.account}, region ${place.region}`,
        `npm run deploy -- -c stage=${stage.name} -c first=${place.account}/${place.region}`,
      ),
    ];
  const read = await readRelease(use, applied);
  if (!read.ok) return [failure(read.error, `npm run gates -- show --stage ${stage.name}`)];
  const open = [...read.value.release.open];
  const state = good(
    open.length === 0 ? 'marker present; all gates are closed' : `open gates: ${open.join(', ')}`,
  );
  const manifest = open.length === 0 ? undefined : await readAppliedManifest(use, applied);
  if (manifest?.ok !== true || manifest.value === undefined) return [state];
  const { expiresAt } = manifest.value.manifest;
  const days = Math.floor((Date.parse(expiresAt) - now) / DAY_MS);
  const message = `the manifest is valid until ${expiresAt} (${days} days)`;
  return [
    state,
    days >= MANIFEST_DAYS
      ? good(message)
      : warning(
          `${message}; then its gates close`,
          `sign a new one and apply it: npm run gates -- apply MANIFEST --stage ${stage.name}`,
        ),
  ];
};

const stacks: Check = async (subject) => {
  const { stage } = subject;
  const deployed = await subject.stacks();
  if (deployed.size === 0) return [];
  const { production = false, terminationProtection = production } = stage.config;
  return stackIds.flatMap((id): readonly Finding[] => {
    const name = stackName(stage.name, id);
    const stack = deployed.get(name);
    if (stack === undefined)
      return [
        failure(
          `${name} does not exist, although others of the stage do`,
          `npm run deploy -- -c stage=${stage.name}`,
        ),
      ];
    const isProtected = stack.terminationProtection || !(terminationProtection || id === 'records-and-keys');
    return [
      statusOf(id, name, stack),
      ...(isProtected
        ? []
        : [
            {
              ...failure(
                `${name} has no termination protection`,
                `npm run doctor -- --stage ${stage.name} --fix`,
              ),
              mend: async () => {
                await protectStack(subject.place, stage.name, id);
                return ok(`${name} has termination protection`);
              },
            },
          ]),
    ];
  });
};

function statusOf(id: StackId, name: string, { status }: DeployedStack): Finding {
  const message = `${name} is ${status}`;
  const failed = (meaning: string, remedy: string): Finding => failure(`${message}: ${meaning}`, remedy);
  if (status.endsWith('_IN_PROGRESS'))
    return warning(
      `${message}: a change is under way, or waits for a decision`,
      'wait for it, then run the command again',
    );
  switch (status) {
    case 'CREATE_COMPLETE':
    case 'UPDATE_COMPLETE':
    case 'IMPORT_COMPLETE':
      return good(message);
    case 'UPDATE_ROLLBACK_COMPLETE':
    case 'IMPORT_ROLLBACK_COMPLETE':
      return warning(
        `${message}: the last deployment failed, and the one before it is in use`,
        `read why: aws cloudformation describe-stack-events --stack-name ${name}`,
      );
    case 'UPDATE_ROLLBACK_FAILED':
      return failed(
        'it can be neither updated nor deleted',
        `aws cloudformation continue-update-rollback --stack-name ${name}`,
      );
    case 'ROLLBACK_COMPLETE':
      return failed('its first deployment failed', 'deploy again: the CDK deletes it first');
    default:
      return failed(
        'CloudFormation could not finish',
        id === 'records-and-keys'
          ? `docs/deploy.md, “If the first deployment fails”`
          : `aws cloudformation delete-stack --stack-name ${name}, then deploy again`,
      );
  }
}

/** Returns whether the stores are complete: tables, bucket and key can be used. */
async function hasStores({ stage, stacks: read }: Subject): Promise<boolean> {
  const stores = (await read()).get(stackName(stage.name, 'records-and-keys'));
  return stores !== undefined && /^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(stores.status);
}

const keys: Check = async (subject) => {
  const { stage, now } = subject;
  if (!(await hasStores(subject))) return [];
  const table = await deployedTable(stage.name, 'settings', undefined);
  if (!table.ok) return [failure(table.error)];
  const notes = createKeyNotes(ssm(), stage.name);
  const ring = createWritableKeySettings(dynamo(), table.value);
  const noted = await notes.newest();
  const create = async (purpose: KeyPurpose): Promise<Result<string, string>> => {
    const administration = {
      settings: noteChanges(ring, notes),
      kms: createDataKeyMaker(kms(), `alias/mastery-reports/${stage.name}`),
      stage: stage.name,
      clock: () => now,
    };
    await initKeyRing(administration, [purpose]);
    return ok(`${purpose} has its first key`);
  };
  const found: Finding[] = [];
  for (const purpose of keyPurposes) {
    const records = await ring.list(purpose);
    const active = records.filter(({ state }) => state === 'active');
    if (records.length === 0 && noted.has(purpose))
      found.push(
        failure(
          `${purpose} had keys, and the table has none: requests that need one return 500`,
          'restore them before anything else (docs/disaster-recovery.md, “the key ring is lost”)',
        ),
      );
    else if (active.length !== 1)
      found.push({
        ...failure(
          `${purpose} has ${active.length} active keys: requests that need one return 500`,
          `npm run doctor -- --stage ${stage.name} --fix`,
        ),
        ...(active.length === 0 ? { mend: () => create(purpose) } : {}),
      });
    else if (!noted.has(purpose))
      found.push({
        ...warning(
          `Systems Manager has no note that ${purpose} has keys, so their loss would look like a new stage`,
          `npm run doctor -- --stage ${stage.name} --fix`,
        ),
        mend: async () => {
          await notes.noteMade(purpose, inOrder(records).at(-1)?.kid ?? '', now);
          return ok(`noted that ${purpose} has keys`);
        },
      });
    for (const { kid, state, createdAt, openingAt = now } of records) {
      const isLate =
        (state === 'pending' && createdAt + 2 * PROMOTE_AFTER_MS < now) ||
        (state === 'opening' && openingAt + 2 * RETIRE_AFTER_MS < now);
      if (isLate)
        found.push(
          warning(
            `${purpose}: ${kid} is still ${state}`,
            `npm run keys -- ${state === 'pending' ? 'rotate' : 'retire'} --stage ${stage.name} --purpose ${purpose}`,
          ),
        );
    }
  }
  return found.length === 0 ? [good(`${keyPurposes.length} purposes have one active key each`)] : found;
};

/** Service profiles, whether functions read them as they are provisioned, and the analysis policies that they name where gates D and F are open. */
const profiles: Check = async (subject) => {
  const { stage, now } = subject;
  if (!(await hasStores(subject))) return [];
  const settings = await deployedTable(stage.name, 'settings', undefined);
  if (!settings.ok) return [failure(settings.error)];
  const opened = openProfiles({
    ...{ dynamo: dynamo(), kms: kms(), ssm: ssm(), now: () => now },
    ...{ stage: stage.name, approvedHosts: stage.config.approvedHosts },
    ...{ settingsTable: settings.value, keyId: `alias/mastery-reports/${stage.name}` },
  });
  const tenants = await opened.compare();
  if (tenants.length === 0)
    return [
      warning(
        'no tenant has a service profile: every request that needs the platform fails',
        'create one (docs/deploy.md, step 7)',
      ),
    ];
  const read = await readRelease({ key: stage.config.releaseKey, stage: stage.name, now }, appliedGates());
  const { open } = read.ok ? read.value.release : closed;
  const table = await deployedTable(stage.name, 'records', undefined);
  if (!table.ok) return [failure(table.error)];
  const records = createRecordsTable(dynamo(), table.value);
  const faults: Finding[] = [];
  for (const { folder, tenantId, provisioned, difference } of tenants) {
    const tenant = `the profile /${stage.name}/profiles/${folder}`;
    const command = `npm run release -- profile --stage ${stage.name} --tenant ${tenantId}`;
    if (provisioned === undefined) {
      faults.push(
        failure(
          `${tenant} ${difference ?? ''}`,
          `${command} --remove, or create them (docs/deploy.md, step 7)`,
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
      faults.push(failure(`${tenant} ${fault}`, 'mend it (docs/deploy.md, steps 7 and 8)'));
    // What functions could not use anyway is not stored, and not missed.
    if (difference !== undefined && isUsable)
      faults.push({ ...failure(`${tenant} ${difference}`, command), mend: () => opened.move(tenantId) });
  }
  return faults.length === 0
    ? [good(`${tenants.length} service profiles are complete, and as functions read them`)]
    : faults;
};

/** Whether alarms reach someone. A stage without production may be silent. */
const alarms: Check = async ({ stage, place, stacks: read }) => {
  const outputs = (await read()).get(stackName(stage.name, 'operations'))?.outputs;
  const topic = stage.config.alarmsTopicArn ?? outputs?.get(ALARM_TOPIC_OUTPUT);
  if (outputs === undefined || topic === undefined) return [];
  const { Subscriptions: found = [] } = await new SNSClient(place).send(
    new ListSubscriptionsByTopicCommand({ TopicArn: topic }),
  );
  const status = stage.config.production === true ? 'failure' : 'warning';
  const pending = found.filter(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation');
  const confirmed = found.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:'));
  if (pending.length === 0 && confirmed.length > 0)
    return [good(`alarms reach ${confirmed.length} subscriptions`)];
  return [
    ...pending.map(({ Endpoint: endpoint = '', Protocol: protocol = '' }): Finding => ({
      status,
      message: `${endpoint} has not confirmed its subscription, so it gets no alarm`,
      remedy: `open the link in the mail; to send it again: aws sns subscribe --topic-arn ${topic} --protocol ${protocol} --notification-endpoint ${endpoint}`,
    })),
    ...(pending.length + confirmed.length === 0
      ? [
          {
            status,
            message: 'nothing subscribes to the topic of the alarms',
            remedy: 'set alarmsEmail in shared/stage/stages.ts and deploy',
          } as const,
        ]
      : []),
  ];
};

/** One address and what a call without credentials returns there. */
interface Probe {
  readonly name: string;
  readonly url: string;
  readonly status: number;
  /** The suffix of the problem's `type`; undefined for a page. */
  readonly problem?: string;
}

const health: Check = async (subject) => {
  const { stage, now } = subject;
  const deployed = await subject.stacks();
  if (deployed.size === 0) return [];
  const read = await readRelease({ key: stage.config.releaseKey, stage: stage.name, now }, appliedGates());
  const state = read.ok ? read.value.release : closed;
  const output = (id: StackId, name: string): string | undefined =>
    deployed.get(stackName(stage.name, id))?.outputs.get(name);
  const direct = output('sandbox', SANDBOX_HOST_OUTPUT);
  const probes = [
    ...serviceNames.map((service) => serviceProbe(service, output(service, 'BaseUrl'), state)),
    probe('receipts', output('reports', 'ReceiptsUrl'), `/${'0'.repeat(64)}`, 404, 'not-found'),
    probe('sandbox', output('documentation', SANDBOX_URL_OUTPUT), '/v1/doctor', 404, 'not-found'),
    // A caller who could avoid the distribution would have no limit per address.
    probe('sandbox', direct && `https://${direct}/${stage.name}`, '/v1/doctor', 400, 'validation'),
    probe('documentation', output('documentation', 'SiteUrl'), '/docs/index.html', 200),
  ].filter((each) => each !== undefined);
  return Promise.all(probes.map((each) => visit(each, subject)));
};

/** A released route demands a token; where none is released, any path is unknown. */
function serviceProbe(
  service: ServiceName,
  base: string | undefined,
  state: ReleaseState,
): Probe | undefined {
  const route = routes.find(
    (row: Route) => row.service === service && row.method === 'GET' && isReleased(row, state),
  );
  return route === undefined
    ? probe(service, base, '/v1/doctor', 404, service === 'mastery' ? 'resource-not-found' : 'not-found')
    : probe(service, base, route.path.replaceAll(/\{\w+\}/g, 'doctor'), 401, 'authentication-required');
}

function probe(
  name: string,
  base: string | undefined,
  path: string,
  status: number,
  problem?: string,
): Probe | undefined {
  return base === undefined
    ? undefined
    : { name, url: `${base}${path}`, status, ...(problem === undefined ? {} : { problem }) };
}

async function visit(
  { name, url, status, problem }: Probe,
  { stage, fetch: get }: Subject,
): Promise<Finding> {
  const type = problem === undefined ? undefined : `${stage.config.problemsUrl}/${problem}`;
  const expected = type === undefined ? String(status) : `${status} ${problem ?? ''}`;
  const wrong = (found: string): Finding =>
    failure(
      `${name}: ${url} ${found}; expected ${expected}`,
      'docs/runbook.md; a deployment of an API takes up to a minute to be served',
    );
  try {
    const response = await get(url, { redirect: 'manual', signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    if (response.status !== status) return wrong(`returned ${response.status}`);
    const found = type === undefined ? undefined : typeOf(text);
    return found === undefined || (found.ok && found.value === type)
      ? good(`${name}: ${url} returns ${expected}`)
      : wrong(`returned ${found.ok ? `the type ${found.value}` : found.error}`);
  } catch (error) {
    const { cause = error } = error instanceof Error ? error : {};
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no response within 30 s';
    return wrong(`cannot be reached (${reason})`);
  }
}

function typeOf(text: string): Result<string, string> {
  const json = parseStrictJson(text);
  if (!json.ok) return err('a body that is not JSON');
  const problem = z.object({ type: z.string() }).safeParse(json.value);
  return problem.success ? ok(problem.data.type) : err('a body without the type of a problem');
}

/** By the name in the report, in its order. */
export const stageChecks = {
  release,
  stacks,
  keys,
  profiles,
  alarms,
  health,
} satisfies Readonly<Record<string, Check>>;
