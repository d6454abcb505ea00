import { Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
import type { ServiceName } from '#shared/contract/route.ts';
import { apiName } from '../names.ts';
import type { ApiDomain, ApiName } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { acknowledge } from './acknowledge.ts';
import { apiBody, type ServedOperation } from './api-body.ts';
import { logGroup } from './own-function.ts';
import type { LiveFunction } from './rollout.ts';
import { webAcl } from './web-acl.ts';

/**
 * Every API: its title, the service whose problems gateway and firewall return, and whether X-Ray traces its stage. A trace contains whole URLs, so
 * no URL of a traced API may name a learner or be a credential.
 */
const apis: Readonly<
  Record<ApiName, { readonly title: string; readonly service: ServiceName; readonly traced: boolean }>
> = {
  mastery: { title: 'Adaptive Mastery Engine API', service: 'mastery', traced: true },
  reports: { title: 'Attempt Reports API', service: 'reports', traced: false },
  receipts: { title: 'Receipts API', service: 'reports', traced: false },
  // A caller with the wrong base URL sends a learner’s id here.
  sandbox: { title: 'Attempt Reports Sandbox API', service: 'reports', traced: false },
};

/** Where an API is. Without a host name of the stage's own, it is known when it is deployed. */
export interface ApiAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly host: string;
}

/**
 * Creates a REST API for functions: its one body, its stage with throttle and access log, the permissions to invoke, and its firewall.
 * @param operations with none, every call is rejected as an unknown path
 */
export function restApi(
  scope: Construct,
  stage: Stage,
  name: ApiName,
  operations: readonly { readonly operation: ServedOperation; readonly function: LiveFunction }[],
): ApiAddress {
  const { config } = stage;
  const { title, service, traced } = apis[name];
  const domain = name === 'sandbox' ? undefined : config.domains?.[name];
  const accessLogs = logGroup(scope, 'AccessLogs', stage);
  const api = new apigateway.SpecRestApi(scope, 'Api', {
    restApiName: apiName(stage, name),
    mode: apigateway.RestApiMode.OVERWRITE,
    endpointTypes: [apigateway.EndpointType.REGIONAL],
    cloudWatchRole: false,
    // Takes effect with a deployment of the API, whose logical id derives from the API's properties.
    ...(domain !== undefined && { disableExecuteApiEndpoint: domain.keepsFormerAddress !== true }),
    apiDefinition: apigateway.ApiDefinition.fromInline(apiBody(title, service, config, operations)),
    deployOptions: {
      stageName: stage.name,
      tracingEnabled: traced,
      metricsEnabled: true,
      dataTraceEnabled: false,
      loggingLevel: apigateway.MethodLoggingLevel.OFF,
      throttlingRateLimit: config.throttle.ratePerSecond,
      throttlingBurstLimit: config.throttle.burst,
      accessLogDestination: new apigateway.LogGroupLogDestination(accessLogs),
      accessLogFormat: accessLogFormat(traced),
    },
  });

  for (const { operation, function: target } of operations) {
    // One function may serve several operations.
    const id = target.node.tryFindChild('Invoke') ? `Invoke-${operation.operationId}` : 'Invoke';
    const permission = new CfnPermission(target, id, {
      action: 'lambda:InvokeFunction',
      functionName: target.functionArn,
      principal: 'apigateway.amazonaws.com',
      sourceArn: api.arnForExecuteApi(
        operation.method,
        operation.path.replaceAll(/\{\w+\}/g, '*'),
        stage.name,
      ),
    });
    // Otherwise the stage could serve the route before the gateway may invoke its function.
    api.latestDeployment?.node.addDependency(permission);
    acknowledge(target.lambda, {
      'Serverless-LambdaDLQ':
        'Only API Gateway invokes this function, and synchronously: there is no event that a queue could keep.',
    });
  }
  webAcl(scope, stage, name, service, api.deploymentStage.stageArn);
  if (domain !== undefined) customDomain(scope, name, api, domain);

  acknowledge(api, {
    'AwsSolutions-APIG2':
      'The functions validate every request against the operation’s schema, since the gateway’s validator could not answer with pointers.',
    'AwsSolutions-APIG6':
      'Execution logs contain whole paths and headers and cannot omit them; access logs name their fields.',
    ...(traced
      ? {}
      : {
          'Serverless-APIGWXrayEnabled':
            'A trace of the gateway contains the whole URL, which here names a learner or is the credential; the functions are traced.',
        }),
  });
  const host = domain?.domain ?? `${api.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`;
  return { url: `https://${host}${domain === undefined ? `/${stage.name}` : ''}`, host };
}

/** Routes a host name of the stage's own to the stage of an API, whose paths it then has without a prefix. */
function customDomain(
  scope: Construct,
  name: ApiName,
  api: apigateway.SpecRestApi,
  { domain, certificateArn, hostedZoneId }: ApiDomain,
): void {
  const host = new apigateway.CfnDomainName(scope, 'Domain', {
    domainName: domain,
    regionalCertificateArn: certificateArn,
    endpointConfiguration: { types: ['REGIONAL'] },
    securityPolicy: 'TLS_1_2',
  });
  new apigateway.CfnBasePathMapping(scope, 'DomainMapping', {
    domainName: host.ref,
    restApiId: api.restApiId,
    stage: api.deploymentStage.stageName,
  });
  if (hostedZoneId !== undefined) {
    new CfnRecordSet(scope, 'DomainRecord', {
      hostedZoneId,
      name: domain,
      type: 'A',
      aliasTarget: { dnsName: host.attrRegionalDomainName, hostedZoneId: host.attrRegionalHostedZoneId },
    });
  }
  new CfnOutput(Stack.of(scope), name === 'receipts' ? 'ReceiptsDomainTarget' : 'DomainTarget', {
    value: host.attrRegionalDomainName,
    description: `Where the DNS record of ${domain} leads`,
  });
}

/**
 * Returns the fields of an access log line: the operation's template, never path or query, which contain ids and signatures. `integrationRequestId`
 * is the `function_request_id` of the function's own lines.
 */
function accessLogFormat(traced: boolean): apigateway.AccessLogFormat {
  return apigateway.AccessLogFormat.custom(
    JSON.stringify({
      requestId: apigateway.AccessLogField.contextRequestId(),
      integrationRequestId: '$context.integration.requestId',
      ...(traced && { xrayTraceId: apigateway.AccessLogField.contextXrayTraceId() }),
      time: apigateway.AccessLogField.contextRequestTimeEpoch(),
      method: apigateway.AccessLogField.contextHttpMethod(),
      resourcePath: apigateway.AccessLogField.contextResourcePath(),
      status: apigateway.AccessLogField.contextStatus(),
      responseLength: apigateway.AccessLogField.contextResponseLength(),
      responseLatency: apigateway.AccessLogField.contextResponseLatency(),
      integrationLatency: apigateway.AccessLogField.contextIntegrationLatency(),
      integrationStatus: apigateway.AccessLogField.contextIntegrationStatus(),
      errorType: apigateway.AccessLogField.contextErrorResponseType(),
      wafResponseCode: apigateway.AccessLogField.contextWafResponseCode(),
    }),
  );
}
