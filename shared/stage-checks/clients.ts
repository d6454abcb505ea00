import { createRequire } from 'node:module';
import type * as acmSdk from '@aws-sdk/client-acm';
import type * as apiGatewaySdk from '@aws-sdk/client-api-gateway';
import type * as cloudFormationSdk from '@aws-sdk/client-cloudformation';
import type * as lambdaSdk from '@aws-sdk/client-lambda';
import type * as snsSdk from '@aws-sdk/client-sns';
import type { StackId } from '#shared/stage/stack-names.ts';
import { SITE_REGION } from '#shared/stage/stage.ts';
import type { AwsSettings } from '#shared/runtime/runtime.ts';
import { configOf } from '#shared/stores/make-clients.ts';

/*
 * The SDK clients that only checks use: each is created by one function, as those of the stores are. Lambda's runtime contains them: for a few calls an
 * hour the watcher's bundle needs none of its own.
 */

const load = createRequire(import.meta.url);
// SAFETY, for each `load`: the package has what its types declare; those of Lambda's runtime have had these classes since its Node 18.

export function makeAcm(settings: AwsSettings): acmSdk.ACM {
  const { ACM } = load('@aws-sdk/client-acm') as typeof acmSdk;
  return new ACM(configOf(settings));
}

/** Creates a client for the certificates of CloudFront. */
export function makeAcmOfCloudFront(settings: AwsSettings): acmSdk.ACM {
  return makeAcm({ ...settings, region: SITE_REGION });
}

export function makeApiGateway(settings: AwsSettings): apiGatewaySdk.APIGateway {
  const { APIGateway } = load('@aws-sdk/client-api-gateway') as typeof apiGatewaySdk;
  return new APIGateway(configOf(settings));
}

export function makeCloudFormation(settings: AwsSettings): cloudFormationSdk.CloudFormation {
  const { CloudFormation } = load('@aws-sdk/client-cloudformation') as typeof cloudFormationSdk;
  return new CloudFormation(configOf(settings));
}

/** Creates a client for the stack of the site. */
function makeCloudFormationOfSite(settings: AwsSettings): cloudFormationSdk.CloudFormation {
  return makeCloudFormation({ ...settings, region: SITE_REGION });
}

/** Returns what creates a client for a stack. */
export function cloudFormationOf(id: StackId): typeof makeCloudFormation {
  return id === 'documentation' ? makeCloudFormationOfSite : makeCloudFormation;
}

export function makeLambda(settings: AwsSettings): lambdaSdk.Lambda {
  const { Lambda } = load('@aws-sdk/client-lambda') as typeof lambdaSdk;
  return new Lambda(configOf(settings));
}

export function makeSns(settings: AwsSettings): snsSdk.SNS {
  const { SNS } = load('@aws-sdk/client-sns') as typeof snsSdk;
  return new SNS(configOf(settings));
}

/** Creates a client for the topic of the site. */
export function makeSnsOfSite(settings: AwsSettings): snsSdk.SNS {
  return makeSns({ ...settings, region: SITE_REGION });
}
