import { vi } from 'vitest';
import { localTables } from '#local/aws/resources.ts';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { localBucketName, localCredentials, localRegion } from '#shared/stage/local-stage.ts';
import { formatReference, manifestParameter } from '#shared/release/applied-manifest.ts';
import {
  alarmTopicOutputs,
  SANDBOX_HOST_OUTPUT,
  SANDBOX_URL_OUTPUT,
  stackIds,
  stackName,
  type StackId,
} from '#shared/stage/stack-names.ts';
import { stages, type Stage } from '#shared/stage/stages.ts';
import { dynamo, s3, ssm, useSettings } from '#shared/stores/clients.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { keepProof, placeOfProof } from '#shared/stores/proof-objects.ts';
import { createServiceProfileParameters } from '#shared/stores/service-profile-parameters.ts';
import type { Provable } from '#shared/contract/gates.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { apiName } from '#shared/stage/stack-names.ts';
import { mendAll, runChecks, subjectOf, type Subject } from '#ops/doctor/finding.ts';
import { stageChecks } from '#ops/doctor/stage-checks.ts';
import { startTestAws, type TestAws } from './aws.ts';
import { createSigner, signedManifest } from './release.ts';

export const NOW = Date.parse('2030-01-01T00:00:00Z');
export const TOPIC = 'arn:aws:sns:us-east-1:000000000000:alarms';
const TICKETS = 'arn:aws:sns:us-east-1:000000000000:tickets';
export const SITE_TICKETS = 'arn:aws:sns:us-east-1:000000000000:site-tickets';
export const CERTIFICATE = 'arn:aws:acm:us-east-1:000000000000:certificate/1';
export const MARKER = '/prod/gates/marker';

const signer = createSigner();
/** The settings of `prod` as an owner fills them in. */
export const prod: Stage['config'] = {
  ...stages.prod,
  token: { ...stages.prod.token, issuer: 'https://id.school.org', jwksUrl: 'https://id.school.org/jwks' },
  releaseKey: signer.key,
  approvedHosts: ['platform.school.org'],
  problemsUrl: 'https://docs.school.org/problems',
  runbookUrl: 'https://docs.school.org/runbook',
  alarmsEmail: { page: 'on-call@school.org', ticket: 'operators@school.org' },
  expected: { runsPerMonth: 1_000, reportsPerMonth: 4_000 },
  documentation: { domain: 'docs.school.org', certificateArn: CERTIFICATE },
};

/** A deployed stage in the AWS emulator with nothing to complain of. */
export interface SoundStage {
  readonly test: TestAws;
  /** What the deployed addresses return: the status and the code of the problem, by the beginning of the URL. */
  readonly replies: Map<string, readonly [number, string]>;
  readonly subject: (changed?: { readonly config?: Stage['config']; readonly now?: number }) => Subject;
  readonly change: (id: StackId, changed: { status?: string; terminationProtection?: boolean }) => void;
  /** Applies a manifest and opens its gates. */
  readonly open: (proves: readonly Provable[], expiresAt: string) => Promise<void>;
  /** Makes it a stage whose first keys are still to be made. */
  readonly beforeKeys: () => Promise<void>;
  readonly reset: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @throws where the first keys cannot be made */
export async function startSoundStage(): Promise<SoundStage> {
  const started = await startTestAws({
    tables: localTables().map(({ tableName, ...table }) => ({
      ...table,
      tableName: tableName.replace(
        /^local-(.)(.*)$/,
        (_, first: string, rest: string) =>
          `mastery-reports-prod-records-and-keys-${first.toUpperCase()}${rest}01234567-ABC`,
      ),
    })),
    keyAliases: ['alias/mastery-reports/prod'],
  });
  for (const [name, value] of Object.entries(started.env)) vi.stubEnv(name, value);
  useSettings({ region: localRegion, credentials: localCredentials });
  // The clients of the commands try again when an idle connection was closed.
  const test: TestAws = { ...started, dynamo: dynamo(), s3: s3(), ssm: ssm() };
  const replies: SoundStage['replies'] = new Map();
  const { stacks } = test.aws.account;
  const sound: SoundStage = {
    test,
    replies,
    subject: ({ config = prod, now = NOW } = {}) => ({
      ...subjectOf(
        { name: 'prod', config },
        { account: '000000000000', region: localRegion, credentials: localCredentials },
      ),
      now,
      fetch: (url) => reply(replies, url),
      pause: () => Promise.resolve(),
    }),
    change: (id, changed) => {
      const known = stacks.get(stackName('prod', id));
      if (known !== undefined) stacks.set(stackName('prod', id), { ...known, ...changed });
    },
    open: async (proves, expiresAt) => {
      const jws = signedManifest(signer, proves, { stage: 'prod', rehearsal: false, expiresAt });
      await keepProof(test.s3, localBucketName, 'manifest', jws);
      const reference = formatReference(placeOfProof(localBucketName, 'manifest', jws));
      await writeGateParameter(test.ssm, manifestParameter('prod'), reference);
      for (const gate of [...proves, 'E']) await writeGateParameter(test.ssm, `/prod/gates/${gate}`, 'open');
    },
    beforeKeys: async () => {
      await restoreWithoutKeys();
    },
    reset: async () => {
      await restore();
      setReplies(replies);
    },
    close: async () => {
      useSettings({});
      vi.unstubAllEnvs();
      await test.close();
    },
  };
  await fill(sound);
  const restoreWithoutKeys = await test.aws.snapshot();
  const { keys, profiles } = stageChecks;
  const made = await mendAll(await runChecks({ keys, profiles }, sound.subject()));
  if (made.length !== keyPurposes.length + 1)
    throw new Error('doctor makes no first keys, or stores no profile');
  setReplies(replies);
  const restore = await test.aws.snapshot();
  return sound;
}

async function fill({ test }: SoundStage): Promise<void> {
  const { account } = test.aws;
  await writeGateParameter(test.ssm, '/cdk-bootstrap/hnb659fds/version', '25');
  await writeGateParameter(test.ssm, MARKER, 'prod');
  const outputs: Partial<Record<StackId, Record<string, string>>> = {
    mastery: { BaseUrl: 'https://mastery.test' },
    reports: { BaseUrl: 'https://reports.test', ReceiptsUrl: 'https://receipts.test' },
    sandbox: { [SANDBOX_HOST_OUTPUT]: 'sandbox.test' },
    documentation: {
      SiteUrl: 'https://docs.school.org',
      [SANDBOX_URL_OUTPUT]: 'https://docs.school.org/sandbox',
      [alarmTopicOutputs.ticket]: SITE_TICKETS,
    },
    operations: { [alarmTopicOutputs.page]: TOPIC, [alarmTopicOutputs.ticket]: TICKETS },
  };
  for (const id of stackIds)
    account.stacks.set(stackName('prod', id), {
      status: 'UPDATE_COMPLETE',
      terminationProtection: true,
      outputs: outputs[id] ?? {},
    });
  for (const api of [...serviceNames, 'receipts', 'sandbox'] as const)
    account.restApis.set(apiName('prod', api), { hasFirewall: true });
  account.settings.set('apigateway', 'arn:aws:iam::000000000000:role/logs');
  for (const topic of [TOPIC, TICKETS, SITE_TICKETS])
    account.subscriptions.set(topic, [{ endpoint: 'operators@school.org', confirmed: true }]);
  account.certificates.set(CERTIFICATE, { status: 'ISSUED', notAfter: NOW + 90 * 86_400_000 });
  await createServiceProfileParameters(test.ssm, '/prod/profiles').write('tenant', {
    PLATFORM_TENANT: 'tenant',
    PLATFORM_URL: 'https://platform.school.org',
    PLATFORM_JWT: 'credential',
  });
}

function setReplies(replies: SoundStage['replies']): void {
  replies.clear();
  for (const [base, reply] of [
    ['https://mastery.test/v1/', [401, 'authentication-required']],
    ['https://reports.test/v1/', [404, 'not-found']],
    ['https://receipts.test/', [404, 'not-found']],
    ['https://sandbox.test/prod/v1/', [400, 'validation']],
    ['https://docs.school.org/sandbox/v1/', [404, 'not-found']],
    ['https://docs.school.org/docs/', [200, '']],
  ] as const)
    replies.set(base, reply);
}

function reply(replies: SoundStage['replies'], url: string): Promise<Response> {
  const found = [...replies].find(([base]) => url.startsWith(base))?.[1];
  if (found === undefined) {
    return Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
  }
  const [status, code] = found;
  return Promise.resolve(new Response(JSON.stringify({ type: `${prod.problemsUrl}/${code}` }), { status }));
}
