import type { IncomingMessage } from 'node:http';
import type { FaultPlan } from './faults.ts';
import type { HttpAnswer } from './wire.ts';

/**
 * `GetCallerIdentity`, the only operation of STS that the emulator covers, over the AWS query protocol: XML, or JSON where the caller
 * accepts that.
 * @param account the caller's; undefined for credentials that the emulator does not accept
 */
export function callerIdentity(
  account: string | undefined,
  request: IncomingMessage,
  body: Buffer | undefined,
  faults: FaultPlan,
): HttpAnswer {
  const isJson = request.headers.accept === 'application/json';
  const answer = (status: number, json: object, xml: string): HttpAnswer =>
    isJson
      ? { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }
      : { status, headers: { 'content-type': 'text/xml' }, body: xml };
  const refuse = (status: number, Code: string, Message: string): HttpAnswer =>
    answer(
      status,
      { Error: { Type: 'Sender', Code, Message } },
      `<ErrorResponse><Error><Type>Sender</Type><Code>${Code}</Code><Message>${Message}</Message></Error></ErrorResponse>`,
    );
  const action = new URLSearchParams(body?.toString()).get('Action') ?? '';
  const fault = faults.take('sts', action);
  if (fault !== undefined) return refuse(fault.error.status, fault.error.type, fault.error.message);
  if (action !== 'GetCallerIdentity')
    return refuse(400, 'InvalidAction', 'this operation of STS is not covered by the local AWS emulator');
  if (account === undefined)
    return refuse(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
  const identity = { Account: account, Arn: `arn:aws:iam::${account}:user/local`, UserId: 'local' };
  const members = Object.entries(identity).map(([name, value]) => `<${name}>${value}</${name}>`);
  return answer(
    200,
    { GetCallerIdentityResponse: { GetCallerIdentityResult: identity } },
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${members.join('')}</GetCallerIdentityResult></GetCallerIdentityResponse>`,
  );
}
