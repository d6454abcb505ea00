import { BaseUrlError } from './errors.ts';

/** Hosts that plain HTTP may reach: this machine, names without a dot (of containers), and names and addresses of private networks. */
const privateHost =
  /^(?:[^.:]+|\[::1\]|\[f[cd].*\]|.*\.(?:localhost|local|internal|test)|(?:0|10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+)$/;

/** Each mistake that an address shows by itself, with what to do; no message quotes the address, which may contain a secret. */
const mistakes: readonly (readonly [BaseUrlError['reason'], (url: URL) => boolean, string])[] = [
  ['scheme', ({ protocol }) => !/^https?:$/.test(protocol), 'must begin with https://'],
  [
    'credentials',
    ({ username, password }) => `${username}${password}` !== '',
    'contains a user or a password: remove them, and pass `token`',
  ],
  [
    'insecure',
    ({ protocol, hostname }) => protocol === 'http:' && !privateHost.test(hostname),
    'uses http for a remote host, so anyone on the way could read the token: use https',
  ],
  [
    'query',
    ({ href }) => /[?#]/.test(href),
    'has a query or a fragment: remove it, since the client adds the path and the query of each request',
  ],
  [
    'version',
    ({ pathname }) => /\/v\d+(?:\/|$)/.test(pathname),
    'contains the version of the API: end it before /v1, which the client adds',
  ],
  [
    'stage',
    ({ hostname, pathname }) =>
      /\.execute-api\..*\.amazonaws\.com(?:\.cn)?$/.test(hostname) && pathname === '/',
    'is the root of an API Gateway: add the path of its stage, for example /prod',
  ],
];

/**
 * Returns the address of a service without a slash at its end.
 * @throws {BaseUrlError} at a mistake that the address shows by itself
 */
export function checkedBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || baseUrl.trim() === '')
    throw new BaseUrlError(
      'empty',
      "is empty or missing: pass the service's address, for example from a setting",
    );
  if (!URL.canParse(baseUrl))
    throw new BaseUrlError(
      'not-a-url',
      'is not an absolute URL: pass the address with its scheme, like https://reports.api.example.org',
    );
  const url = new URL(baseUrl);
  const found = mistakes.find(([, applies]) => applies(url));
  if (found !== undefined) throw new BaseUrlError(found[0], found[2]);
  return url.href.replace(/\/+$/, '');
}

/**
 * Returns the address of a request.
 * @param baseUrl as {@link checkedBaseUrl} returns it
 * @param template of the path; `{name}` is replaced by the encoded parameter
 * @throws {TypeError} if a parameter of the path is absent or empty, which would be the path of another resource
 */
export function addressOf(
  baseUrl: string,
  template: string,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, string>>,
): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${name} must be a non-empty string: it is part of the path ${template}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${filled}${search === '' ? '' : `?${search}`}`;
}
