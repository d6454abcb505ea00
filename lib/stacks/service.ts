import { CfnOutput, RemovalPolicy, Stack, type App } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApiMode,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Route, ServiceName } from '#shared/contract/route.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { apiBody, type RoutedFunction } from '../constructs/api-body.ts';
import { retention } from '../constructs/retention.ts';
import { routeFunction } from '../constructs/route-function.ts';
import { webAcl } from '../constructs/web-acl.ts';
import type { Stage } from '../stage-config/stages.ts';
import { storeReferences } from './records-and-keys.ts';
import { prefix, stackProps } from './stack-props.ts';

const titles: Readonly<Record<ServiceName, { readonly id: string; readonly api: string }>> = {
  mastery: { id: 'Mastery', api: 'Adaptive Mastery Engine API' },
  reports: { id: 'Reports', api: 'Attempt Reports API' },
};

/** The deployed name of a service's API: the alarms find it by this. */
export function apiName(stage: Stage, service: ServiceName): string {
  return `${prefix(stage)}-${service}`;
}

/**
 * One service: a function per route and the REST API before them.
 * @param routes the service's routes whose gates are open; at least one
 * @param stores the stack of the tables and the key
 * @param assets the folder of the bundles
 */
export function service(
  app: App,
  stage: Stage,
  name: ServiceName,
  routes: readonly Route[],
  stores: Stack,
  assets: string,
): Stack {
  const { config } = stage;
  const stack = new Stack(app, titles[name].id, {
    ...stackProps(stage, name),
    description: `Mastery reports: the ${name} service`,
  });
  stack.addStackDependency(stores);

  const references = storeReferences(stores);
  const functions = routes.map((route) => ({
    route,
    function: routeFunction(stack, stage, route, references, assets),
  }));

  const accessLogs = new LogGroup(stack, 'AccessLogs', {
    retention: retention[config.logRetentionDays],
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const routed: readonly RoutedFunction[] = functions.map(({ route, function: { functionArn } }) => ({
    route,
    functionArn,
  }));
  const api = new SpecRestApi(stack, 'Api', {
    restApiName: apiName(stage, name),
    mode: RestApiMode.OVERWRITE,
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: false,
    apiDefinition: ApiDefinition.fromInline(
      apiBody(
        {
          service: name,
          title: titles[name].api,
          problemsUrl: config.problemsUrl,
          partition: stack.partition,
          region: stack.region,
        },
        routed,
      ),
    ),
    deployOptions: {
      stageName: stage.name,
      tracingEnabled: true,
      metricsEnabled: true,
      dataTraceEnabled: false,
      loggingLevel: MethodLoggingLevel.OFF,
      throttlingRateLimit: config.throttle.ratePerSecond,
      throttlingBurstLimit: config.throttle.burst,
      accessLogDestination: new LogGroupLogDestination(accessLogs),
      accessLogFormat: accessLogFormat(),
    },
  });

  for (const { route, function: target } of functions) {
    new CfnPermission(target, 'Invoke', {
      action: 'lambda:InvokeFunction',
      functionName: target.functionArn,
      principal: 'apigateway.amazonaws.com',
      sourceArn: api.arnForExecuteApi(route.method, route.path.replaceAll(/\{\w+\}/g, '*'), stage.name),
    });
  }
  webAcl(stack, stage, name, api.deploymentStage.stageArn);

  acknowledge(api, {
    'AwsSolutions-APIG2':
      'The functions validate every request against the route’s schema, since the gateway’s validator could not answer with pointers.',
    'AwsSolutions-APIG6':
      'Execution logs hold whole paths and headers and cannot be told to leave them out; access logs name their fields.',
  });
  new CfnOutput(stack, 'BaseUrl', {
    value: `https://${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}/${stage.name}`,
    description: 'The {base_url} of the API document: routes follow as /v1/…',
  });
  return stack;
}

/** What an access log line holds: the route's template and never the path, which has ids in it. */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      requestId: AccessLogField.contextRequestId(),
      time: AccessLogField.contextRequestTimeEpoch(),
      method: AccessLogField.contextHttpMethod(),
      resourcePath: AccessLogField.contextResourcePath(),
      status: AccessLogField.contextStatus(),
      responseLength: AccessLogField.contextResponseLength(),
      responseLatency: AccessLogField.contextResponseLatency(),
      integrationLatency: AccessLogField.contextIntegrationLatency(),
      integrationStatus: AccessLogField.contextIntegrationStatus(),
      errorType: AccessLogField.contextErrorResponseType(),
      wafResponseCode: AccessLogField.contextWafResponseCode(),
    }),
  );
}
