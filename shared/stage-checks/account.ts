import { DescribeKeyCommand } from '@aws-sdk/client-kms';
import { serviceNames } from '#shared/contract/route.ts';
import { recordedCalls } from '#shared/scale/recorded.ts';
import { trafficOf } from '#shared/scale/traffic.ts';
import { figure, wallsOf } from '#shared/scale/walls.ts';
import { certificatesOf } from '#shared/stage/checks.ts';
import { apiName } from '#shared/stage/stack-names.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import { makeKms } from '#shared/stores/make-clients.ts';
import { makeAcm, makeAcmOfCloudFront, makeApiGateway, makeLambda } from './clients.ts';
import { daysUntil, failure, good, warning, type Check, type Finding } from './finding.ts';
import { hasStores } from './stacks.ts';

/* What a stage needs of its account: the role for logs, certificates, quotas, the key, the firewalls. */

export const logRole: Check = async ({ stage, aws }) => {
  const found = await aws(makeApiGateway).getAccount({});
  return found.cloudwatchRoleArn
    ? [good(`API Gateway writes logs as ${found.cloudwatchRoleArn}`)]
    : [
        failure(
          'log-role-missing',
          'API Gateway has no role for logs in this account and region, so no API can be deployed',
          `npm run doctor -- --stage ${stage.name} --fix`,
        ),
      ];
};

/** ACM renews a certificate 60 days before its end: one this close to it was not renewed. */
const CERTIFICATE_DAYS = 30;

export const certificates: Check = ({ stage, aws, now }) =>
  Promise.all(
    certificatesOf(stage.config).map(async (arn): Promise<Finding> => {
      // Only the certificate of the documentation site can be of another region than the stage.
      const client = aws(arn === stage.config.documentation?.certificateArn ? makeAcmOfCloudFront : makeAcm);
      const { Certificate: { Status: status = 'without a status', NotAfter: end } = {} } =
        await client.describeCertificate({
          CertificateArn: arn,
        });
      const daysLeft = end === undefined ? 0 : daysUntil(end.getTime(), now);
      if (status !== 'ISSUED' || daysLeft <= 0)
        return {
          ...failure(
            'certificate-invalid',
            `the certificate ${arn} is ${status === 'ISSUED' ? 'no longer valid' : status}`,
            'validate or renew it in ACM',
            arn,
          ),
          daysLeft,
        };
      const message = `the certificate ${arn} is valid for ${daysLeft} days`;
      return {
        ...(daysLeft >= CERTIFICATE_DAYS
          ? good(message)
          : warning('certificate-ends', message, 'see in ACM why it was not renewed', arn)),
        daysLeft,
      };
    }),
  );

/** The share of a limit from which on a stage should have more of it: other stages of the account use it too, and a second can be busier than estimated. */
const NARROW = 0.7;

export const quotas: Check = async ({ stage, aws }) => {
  const { expected } = stage.config;
  if (expected === undefined)
    return stage.config.production === true
      ? [
          warning(
            'traffic-unknown',
            'the stage does not say what traffic it expects, so no quota was compared with it',
            'set expected in shared/stage/stages.ts (docs/scale.md)',
          ),
        ]
      : [];
  const [
    { throttleSettings: { rateLimit } = {} },
    { AccountLimit: { UnreservedConcurrentExecutions: executions } = {} },
  ] = await Promise.all([aws(makeApiGateway).getAccount({}), aws(makeLambda).getAccountSettings({})]);
  if (rateLimit === undefined || executions === undefined)
    return [
      failure(
        'quota-unknown',
        `${rateLimit === undefined ? 'API Gateway' : 'Lambda'} returned no quota: whether the expected traffic fits is unknown`,
        'look at the quotas in the console of Service Quotas',
      ),
    ];
  const traffic = { ...trafficOf(0), runs: expected.runsPerMonth, reports: expected.reportsPerMonth };
  const walls = wallsOf(traffic, recordedCalls, stage.config, {
    concurrentExecutions: executions,
    apiRequestsPerSecond: rateLimit,
  });
  return walls.map(({ name, used, limit, unit, movedBy }): Finding => {
    const message = `${name}: the expected traffic uses ${figure(used)} of ${figure(limit)} ${unit} in its busiest second`;
    if (used < NARROW * limit) return good(message);
    const remedy = `change what moves it: ${movedBy.replaceAll('`', '')} (docs/scale.md)`;
    return used < limit
      ? warning('quota-narrow', message, remedy, name)
      : failure('quota-exceeded', message, remedy, name);
  });
};

export const kmsKey: Check = async (subject) => {
  if (!(await hasStores(subject))) return [];
  const alias = `alias/mastery-reports/${subject.stage.name}`;
  const { KeyMetadata: { Arn: arn = alias, KeyState: state = 'without a state' } = {} } = await subject
    .aws(makeKms)
    .send(new DescribeKeyCommand({ KeyId: alias }));
  return [
    state === 'Enabled'
      ? good(`the KMS key ${arn} is enabled`)
      : failure(
          'kms-key-not-enabled',
          `the KMS key ${arn} is ${state}: what it wraps cannot be opened`,
          'cancel its deletion and enable it: aws kms cancel-key-deletion, aws kms enable-key',
          arn,
        ),
  ];
};

const apis: readonly ApiName[] = [...serviceNames, 'receipts', 'sandbox'];

/** Whether the stage of each API has its web ACL. An API that does not exist yet is a finding of its stack. */
export const firewalls: Check = async ({ stage, aws, stacks }) => {
  if ((await stacks()).size === 0) return [];
  const client = aws(makeApiGateway);
  const ids = new Map<string, string>();
  let position: string | undefined;
  do {
    const page = await client.getRestApis({ limit: 500, ...(position !== undefined && { position }) });
    for (const { name = '', id = '' } of page.items ?? []) ids.set(name, id);
    ({ position } = page);
  } while (position !== undefined);
  const found = await Promise.all(
    apis.map(async (api): Promise<readonly Finding[]> => {
      const name = apiName(stage.name, api);
      const restApiId = ids.get(name);
      if (restApiId === undefined) return [];
      const { webAclArn } = await client.getStage({ restApiId, stageName: stage.name });
      return webAclArn
        ? [good(`the API ${name} has the firewall ${webAclArn}`)]
        : [
            failure(
              'firewall-missing',
              `the API ${name} has no firewall`,
              'attach its web ACL again, or deploy its stack again after a change that a detached one makes necessary (docs/runbook.md)',
              name,
            ),
          ];
    }),
  );
  return found.flat();
};
