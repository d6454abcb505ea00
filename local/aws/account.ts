import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { parsedJson } from '#local/parsed-json.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { FaultPlan } from './faults.ts';
import type { AwsAnswer, AwsServiceName, Caller, HttpAnswer, Restore } from './wire.ts';
import { notCovered, refuse, restoreAll, snapshotOf } from './wire.ts';

/*
 * What an account has in addition to the services that functions use: stacks, mail subscriptions, certificates, the settings of API Gateway and
 * the roles, and its quotas. Tests write it; the operator's commands read and mend it over the protocols of CloudFormation, SNS, IAM, STS (query), API
 * Gateway, Lambda (REST) and ACM (JSON).
 */

export interface LocalCloudStack {
  readonly status: string;
  readonly terminationProtection: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

/** One change of a change set, as `DescribeChangeSet` has it. */
export interface LocalChange {
  readonly Action: 'Add' | 'Modify' | 'Remove' | 'Import' | 'Dynamic';
  readonly LogicalResourceId: string;
  readonly ResourceType: string;
  readonly Replacement?: 'True' | 'False' | 'Conditional';
  readonly PolicyAction?: string;
}

export interface AccountState {
  /** The account's number; undefined for credentials that the emulator does not accept. */
  readonly id: string | undefined;
  /** By name. */
  readonly stacks: Map<string, LocalCloudStack>;
  /** By `<stack>/<change set>`. */
  readonly changeSets: Map<string, { readonly status: string; readonly changes: readonly LocalChange[] }>;
  /** By the topic's ARN. */
  readonly subscriptions: Map<string, readonly { readonly endpoint: string; readonly confirmed: boolean }[]>;
  /** By ARN. */
  readonly certificates: Map<string, { readonly status: string; readonly notAfter: number }>;
  /** Policies attached to a role, by the role's name. */
  readonly roles: Map<string, readonly string[]>;
  /** The account's settings by service: of API Gateway, the role by which it writes logs. */
  readonly settings: Map<'apigateway', string>;
  /** The REST APIs by name: whether the stage of each has a web ACL. */
  readonly restApis: Map<string, { readonly hasFirewall: boolean }>;
  readonly quotas: Map<'executions' | 'apiRequests', number>;
}

export function emptyAccount(id: string | undefined): AccountState {
  return {
    id,
    stacks: new Map(),
    changeSets: new Map(),
    subscriptions: new Map(),
    certificates: new Map(),
    roles: new Map(),
    settings: new Map(),
    restApis: new Map(),
    quotas: new Map([
      ['executions', 1_000],
      ['apiRequests', 10_000],
    ]),
  };
}

/** What the account holds; the function brings that back. */
export function accountSnapshot(account: AccountState): Restore {
  return restoreAll(
    Object.values(account).flatMap((part: unknown) => (part instanceof Map ? [snapshotOf(part)] : [])),
  );
}

type Parameters = Readonly<Record<string, string>>;
type QueryOperation = (account: AccountState, parameters: Parameters) => AwsAnswer;

const LOG_POLICY = 'arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
/** Changes of a page of `DescribeChangeSet`: small, so that a reader of only one page is detected. */
const PAGE = 2;

const queryOperations: Readonly<Record<string, Readonly<Record<string, QueryOperation>>>> = {
  sts: {
    GetCallerIdentity: ({ id }) =>
      id === undefined
        ? err({
            status: 403,
            type: 'InvalidClientTokenId',
            message: 'The security token included in the request is invalid.',
          })
        : ok({ Account: id, Arn: `arn:aws:iam::${id}:user/local`, UserId: 'local' }),
  },
  cloudformation: {
    DescribeStacks: (account, { StackName = '' }) => {
      const stack = account.stacks.get(StackName);
      return stack === undefined
        ? refuse('ValidationError', `Stack with id ${StackName} does not exist`)
        : ok({
            Stacks: [
              {
                StackName,
                StackStatus: stack.status,
                EnableTerminationProtection: stack.terminationProtection,
                Outputs: Object.entries(stack.outputs).map(([OutputKey, OutputValue]) => ({
                  OutputKey,
                  OutputValue,
                })),
              },
            ],
          });
    },
    UpdateTerminationProtection: (account, { StackName = '', EnableTerminationProtection }) => {
      const stack = account.stacks.get(StackName);
      if (stack === undefined) return refuse('ValidationError', `Stack [${StackName}] does not exist`);
      const terminationProtection = EnableTerminationProtection === 'true';
      account.stacks.set(StackName, { ...stack, terminationProtection });
      return ok({ StackId: StackName });
    },
    DescribeChangeSet: (account, { StackName = '', ChangeSetName = '', NextToken = '0' }) => {
      const found = account.changeSets.get(`${StackName}/${ChangeSetName}`);
      if (found === undefined)
        return refuse('ChangeSetNotFound', `ChangeSet [${ChangeSetName}] does not exist`);
      if (!/^\d{1,9}$/.test(NextToken)) return refuse('ValidationError', 'NextToken is not one of this list');
      const end = Number(NextToken) + PAGE;
      return ok({
        Status: found.status,
        Changes: found.changes
          .slice(Number(NextToken), end)
          .map((change) => ({ Type: 'Resource', ResourceChange: change })),
        ...(end < found.changes.length ? { NextToken: String(end) } : {}),
      });
    },
  },
  sns: {
    ListSubscriptionsByTopic: (account, { TopicArn = '' }) => {
      const subscriptions = account.subscriptions.get(TopicArn);
      return subscriptions === undefined
        ? err({ status: 404, type: 'NotFound', message: 'Topic does not exist' })
        : ok({
            Subscriptions: subscriptions.map(({ endpoint, confirmed }) => ({
              Endpoint: endpoint,
              Protocol: 'email',
              SubscriptionArn: confirmed ? `${TopicArn}:1` : 'PendingConfirmation',
            })),
          });
    },
  },
  iam: {
    CreateRole: ({ roles, id = '' }, { RoleName = '' }) => {
      if (roles.has(RoleName))
        return err({ status: 409, type: 'EntityAlreadyExists', message: `Role ${RoleName} exists.` });
      roles.set(RoleName, []);
      return ok({ Role: { RoleName, Arn: `arn:aws:iam::${id}:role/${RoleName}` } });
    },
    AttachRolePolicy: ({ roles }, { RoleName = '', PolicyArn = '' }) => {
      const role = roles.get(RoleName);
      if (role === undefined) return err({ status: 404, type: 'NoSuchEntity', message: RoleName });
      roles.set(RoleName, [...role, PolicyArn]);
      return ok({});
    },
  },
};

/** A request for one of these services; `signedFor` is the service of its signature. Undefined: it is for none of them. */
export function callAccount(
  account: AccountState,
  signedFor: string,
  request: IncomingMessage,
  body: Buffer | undefined,
  faults: FaultPlan,
  caller: Caller | undefined,
): HttpAnswer | undefined {
  const { method = '', url = '', headers } = request;
  // The caller's own identity takes no permission.
  const authorize = (action: string, resource = '*') =>
    action === 'sts:GetCallerIdentity' ? undefined : caller?.authorize([{ action, resource }]);
  const operations = queryOperations[signedFor];
  if (operations !== undefined) {
    const { Action = '', ...parameters } = Object.fromEntries(new URLSearchParams(body?.toString()));
    const isKnown = account.id !== undefined || signedFor === 'sts';
    const answer =
      // SAFETY: the services of this record are services.
      faults.take(signedFor as AwsServiceName, Action) ??
      authorize(`${signedFor}:${Action}`, resourceOf(signedFor, parameters, account)) ??
      (isKnown ? operations[Action]?.(account, parameters) : foreign()) ??
      refuse('InvalidAction', `${signedFor} ${Action} is not covered by the local AWS emulator`);
    return xmlAnswer(Action, answer);
  }
  if (signedFor === 'apigateway') {
    const path = url.replace(/\?.*$/, '');
    return jsonAnswer(
      faults.take('apigateway', `${method} ${path}`) ??
        authorize(`apigateway:${method}`, `arn:aws:apigateway:${localRegion}::${path}`) ??
        (path.startsWith('/restapis')
          ? restApis(account, method, path)
          : gatewayAccount(account, method, path, body)),
    );
  }
  if (signedFor === 'lambda' && method === 'GET' && url === '/2016-08-19/account-settings')
    return jsonAnswer(
      faults.take('lambda', 'GetAccountSettings') ??
        authorize('lambda:GetAccountSettings') ??
        (account.id === undefined
          ? foreign()
          : ok({ AccountLimit: { UnreservedConcurrentExecutions: account.quotas.get('executions') } })),
    );
  if (signedFor !== 'acm') return undefined;
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  return jsonAnswer(
    faults.take('acm', operation) ??
      authorize(`acm:${operation}`, certificateOf(body)) ??
      (operation === 'DescribeCertificate' ? certificate(account, body) : notCovered(`ACM ${operation}`)),
  );
}

/** What an operation of a query protocol is about, if its permission can be limited to that. */
function resourceOf(service: string, { StackName, TopicArn }: Parameters, { id = '' }: AccountState): string {
  if (service === 'cloudformation' && StackName !== undefined)
    return `arn:aws:cloudformation:${localRegion}:${id}:stack/${StackName}/local`;
  return (service === 'sns' ? TopicArn : undefined) ?? '*';
}

function certificateOf(body: Buffer | undefined): string {
  return certificateRequest.safeParse(parsedJson(body?.toString() ?? '')).data?.CertificateArn ?? '*';
}

/** `GetRestApis`, all on one page, and `GetStage`. */
function restApis({ restApis: apis, id }: AccountState, method: string, path: string): AwsAnswer {
  if (id === undefined) return foreign();
  if (method !== 'GET') return notCovered(`API Gateway ${method} ${path}`);
  const named = [...apis].map(([name, api], at) => ({ ...api, name, id: `api${at}` }));
  if (path === '/restapis') return ok({ item: named.map(({ name, id: apiId }) => ({ name, id: apiId })) });
  const [, apiId, stageName] = /^\/restapis\/([^/]+)\/stages\/([^/]+)$/.exec(path) ?? [];
  const api = named.find((each) => each.id === apiId);
  if (api === undefined)
    return err({ status: 404, type: 'NotFoundException', message: 'Invalid stage identifier specified' });
  return ok({
    stageName,
    ...(api.hasFirewall
      ? { webAclArn: `arn:aws:wafv2:${localRegion}:${id}:regional/webacl/${api.name}/1` }
      : {}),
  });
}

function foreign(): AwsAnswer {
  return err({ status: 403, type: 'InvalidClientTokenId', message: 'not the emulator’s credentials' });
}

/** `GetAccount` and `UpdateAccount` of API Gateway, which tries the role before it takes it. */
function gatewayAccount(
  account: AccountState,
  method: string,
  url: string,
  body: Buffer | undefined,
): AwsAnswer {
  const { settings, roles, id = '' } = account;
  if (account.id === undefined) return foreign();
  if (url !== '/account' || (method !== 'GET' && method !== 'PATCH'))
    return notCovered(`API Gateway ${method} ${url}`);
  if (method === 'PATCH') {
    const patch = accountPatch.safeParse(parsedJson(body?.toString() ?? ''));
    if (!patch.success) return refuse('BadRequestException', 'the body has no patchOperations');
    for (const { value } of patch.data.patchOperations) {
      const [, name] = new RegExp(`^arn:aws:iam::${id}:role/(.+)$`).exec(value) ?? [];
      if (roles.get(name ?? '')?.includes(LOG_POLICY) !== true)
        return refuse(
          'BadRequestException',
          'The role ARN does not have required permissions set to API Gateway',
        );
      settings.set('apigateway', value);
    }
  }
  const role = settings.get('apigateway');
  return ok({
    throttleSettings: { rateLimit: account.quotas.get('apiRequests') },
    ...(role === undefined ? {} : { cloudwatchRoleArn: role }),
  });
}

const accountPatch = z.object({ patchOperations: z.array(z.object({ value: z.string() })) });
const certificateRequest = z.object({ CertificateArn: z.string() });

function certificate(account: AccountState, body: Buffer | undefined): AwsAnswer {
  const asked = certificateRequest.safeParse(parsedJson(body?.toString() ?? ''));
  if (!asked.success) return refuse('ValidationException', 'the body has no CertificateArn');
  const { CertificateArn } = asked.data;
  const found = account.certificates.get(CertificateArn);
  return found === undefined
    ? refuse('ResourceNotFoundException', `Could not find certificate ${CertificateArn}.`)
    : ok({ Certificate: { CertificateArn, Status: found.status, NotAfter: found.notAfter / 1000 } });
}

function jsonAnswer(answer: AwsAnswer): HttpAnswer {
  return answer.ok
    ? { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer.value) }
    : {
        status: answer.error.status,
        headers: { 'content-type': 'application/json', 'x-amzn-errortype': answer.error.type },
        body: JSON.stringify({ message: answer.error.message }),
      };
}

function xmlAnswer(action: string, answer: AwsAnswer): HttpAnswer {
  const headers = { 'content-type': 'text/xml' };
  if (answer.ok) {
    const body = `<${action}Response xmlns="https://aws.local/"><${action}Result>${xml(answer.value)}</${action}Result><ResponseMetadata><RequestId>local</RequestId></ResponseMetadata></${action}Response>`;
    return { status: 200, headers, body };
  }
  const { status, type, message } = answer.error;
  return {
    status,
    headers,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${type}</Code><Message>${xml(message)}</Message></Error><RequestId>local</RequestId></ErrorResponse>`,
  };
}

function xml(value: unknown): string {
  if (Array.isArray(value)) return value.map((entry) => `<member>${xml(entry)}</member>`).join('');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .map(([name, entry]) => `<${name}>${xml(entry)}</${name}>`)
      .join('');
  return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
