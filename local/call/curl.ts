import { addressOf as addressBelow } from '#client/address.ts';
import type { StackUrls } from '#shared/stage/description.ts';
import { shellWord } from '#shared/kernel/shell-word.ts';
import type { CallRequest } from './example-request.ts';

type ServiceUrls = Pick<StackUrls, 'masteryUrl' | 'reportsUrl'>;

export function addressOf(request: CallRequest, stack: ServiceUrls): string {
  const { route, path, query } = request;
  return addressBelow(
    route.service === 'mastery' ? stack.masteryUrl : stack.reportsUrl,
    route.path,
    path,
    query,
  );
}

/** Returns the headers of a request without its token. */
export function headersOf(
  { route, body, ifMatch }: CallRequest,
  idempotencyKey: string,
): Readonly<Record<string, string>> {
  return {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(route.request.idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
  };
}

/**
 * Returns the curl command of a request; it works when pasted into a POSIX shell.
 * @param token a shell expression between double quotes, for example `$TOKEN`
 */
export function curlOf(
  request: CallRequest,
  stack: ServiceUrls,
  idempotencyKey: string,
  token: string,
): string {
  const headers = Object.entries(headersOf(request, idempotencyKey));
  return [
    'curl -sS',
    ...(request.route.method === 'POST' ? ['-X POST'] : []),
    shellWord(addressOf(request, stack)),
    `-H "Authorization: Bearer ${token}"`,
    ...headers.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d ${shellWord(request.body)}`]),
  ].join(' ');
}

export function tokenCommand(
  tenantId: string,
  scopes: string | undefined,
  claims: CallRequest['claims'],
): string {
  return [
    'npm run --silent token --',
    `--tenant ${shellWord(tenantId)}`,
    ...(scopes === undefined ? [] : [`--scope ${shellWord(scopes)}`]),
    ...Object.entries(claims).map(([name, ids]) => `--${name} ${shellWord((ids ?? []).join(','))}`),
  ].join(' ');
}
