import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';

/*
 * Calls of AWS services whose SDK client is not installed: a client per service would be a dependency for two or three calls. Signing and
 * credentials are the SDK's.
 */

/** On whose behalf, and where. */
export interface AwsCaller {
  readonly region: string;
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
}

/** Services of the query protocol, which take a form and return XML, with the version of their interface. */
const queryVersions = {
  cloudformation: '2010-05-15',
  iam: '2010-05-08',
  sns: '2010-03-31',
  sts: '2011-06-15',
} as const;
type QueryService = keyof typeof queryVersions;
type Service = QueryService | 'acm' | 'apigateway';

/** An element of a response: text, its children by name, or the members of a list. */
export type Element = string | readonly Element[] | { readonly [name: string]: Element };

/** What AWS returns instead of a result. It has the form of the SDK's errors, so that `awsFailure` describes both. */
export class AwsRefusal extends Error {
  readonly $metadata: { readonly httpStatusCode: number };

  /** @param code for example `AccessDenied` */
  constructor(code: string, message: string, status: number) {
    super(message);
    this.name = code;
    this.$metadata = { httpStatusCode: status };
  }
}

/** The service did not respond, or with something else than its protocol. */
function noUsableResponse(host: string): Error {
  return Object.assign(new Error(), { code: `no usable response from ${host}` });
}

/**
 * One call of the query protocol.
 * @param parameters as the service's reference writes them, lists as `Name.member.1`
 * @returns the content of `<action>Result`; a response without one becomes an empty text
 * @throws AwsRefusal; any other error that `awsFailure` describes
 */
export async function callQuery(
  caller: AwsCaller,
  service: QueryService,
  action: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Element> {
  const { host, text } = await send(caller, service, {
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams({ Action: action, Version: queryVersions[service], ...parameters }).toString(),
  });
  const response = child(readXml(text), `${action}Response`);
  if (response === undefined) throw noUsableResponse(host);
  return child(response, `${action}Result`) ?? '';
}

/** The child of that name, if the element has one. */
function child(element: Element | undefined, name: string): Element | undefined {
  return typeof element === 'object' && !Array.isArray(element)
    ? // SAFETY: neither text nor a list.
      (element as Readonly<Record<string, Element>>)[name]
    : undefined;
}

/** One call of a service with JSON documents: by path (API Gateway), or by the name of an operation in `x-amz-target` (ACM). */
export async function callJson(
  caller: AwsCaller,
  service: Exclude<Service, QueryService>,
  request: {
    readonly method: 'GET' | 'PATCH' | 'POST';
    readonly path: string;
    readonly target?: string;
    readonly body?: object;
  },
): Promise<unknown> {
  const { method, path, target, body } = request;
  const { host, text } = await send(caller, service, {
    method,
    path,
    headers: {
      ...(body !== undefined && {
        'content-type': target === undefined ? 'application/json' : 'application/x-amz-json-1.1',
      }),
      ...(target !== undefined && { 'x-amz-target': target }),
    },
    body: body && JSON.stringify(body),
  });
  try {
    return JSON.parse(text);
  } catch {
    throw noUsableResponse(host);
  }
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const MAX_ATTEMPTS = 3;

/** Signs and sends, again after a throttle or a failure of the service. */
async function send(
  { region, credentials }: AwsCaller,
  service: Service,
  request: Request,
): Promise<{ readonly host: string; readonly text: string }> {
  const [host, signedFor] = placeOf(service, region);
  const endpoint = configuredEndpoint(service) ?? new URL(`https://${host}/`);
  const signer = new SignatureV4({
    service,
    region: signedFor,
    credentials,
    sha256: Hash.bind(null, 'sha256'),
  });
  for (let attempt = 1; ; attempt += 1) {
    const { method, headers } = await signer.sign({
      ...request,
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      headers: { ...request.headers, host: endpoint.host },
    });
    let response: Response;
    let text: string;
    try {
      response = await fetch(new URL(request.path, endpoint), {
        method,
        headers,
        body: request.body ?? null,
        redirect: 'error',
        signal: AbortSignal.timeout(30_000),
      });
      text = await response.text();
    } catch (error) {
      const { cause = error } = error instanceof Error ? error : {};
      throw cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
        ? cause
        : noUsableResponse(endpoint.host);
    }
    if (response.ok) return { host: endpoint.host, text };
    const refusal = refusalOf(response, text, service);
    const isPassing = response.status >= 500 || /throttl|TooManyRequests|RequestLimit/i.test(refusal.name);
    if (!isPassing || attempt === MAX_ATTEMPTS) throw refusal;
    await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
  }
}

/** A refusal in XML (query protocol) or JSON (the others). */
function refusalOf({ status, headers }: Response, text: string, service: Service): AwsRefusal {
  const tagged = (name: string): string | undefined =>
    new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const member = (name: string): string | undefined =>
    new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(text)?.[1];
  const code = tagged('Code') ?? headers.get('x-amzn-errortype') ?? member('__type');
  const message = tagged('Message') ?? member('message');
  return code === undefined
    ? new AwsRefusal('unknown error', `${service} returned ${status}`, status)
    : new AwsRefusal(code.replace(/^.*#|:.*$/g, ''), decode(message ?? ''), status);
}

/** The endpoint that the environment names (local only), as the SDK's own clients read it. */
function configuredEndpoint(service: Service): URL | undefined {
  const { env } = process;
  if (env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] === 'true') return undefined;
  const url = env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || env['AWS_ENDPOINT_URL'];
  return url === undefined ? undefined : new URL(url);
}

/** The host of a service, and the region for which its calls are signed. IAM has one of both in each partition. */
function placeOf(service: Service, region: string): readonly [host: string, signedFor: string] {
  const isChina = region.startsWith('cn-');
  if (service !== 'iam') return [`${service}.${region}.amazonaws.com${isChina ? '.cn' : ''}`, region];
  if (isChina) return ['iam.cn-north-1.amazonaws.com.cn', 'cn-north-1'];
  return region.startsWith('us-gov-')
    ? ['iam.us-gov.amazonaws.com', 'us-gov-west-1']
    : ['iam.amazonaws.com', 'us-east-1'];
}

/** Reads the XML of the query protocol: elements, text and entities; `member` elements make a list. Undefined: it is something else. */
function readXml(xml: string): Element | undefined {
  const root: OpenElement = { name: '', children: [], text: '' };
  const open = [root];
  for (const [, closing, name = '', selfClosing, text] of xml.matchAll(
    /<\?[^>]*>|<(\/?)([\w:.-]+)[^>]*?(\/?)>|([^<]+)/g,
  )) {
    const top = open.at(-1) ?? root;
    if (text !== undefined) top.text += decode(text);
    else if (closing === '' && selfClosing === '') open.push({ name, children: [], text: '' });
    else if (selfClosing === '/') top.children.push([name, '']);
    else if (closing === '/') {
      if (top.name !== name) return undefined;
      open.pop();
      open.at(-1)?.children.push([name, elementOf(top)]);
    }
  }
  return open.length > 1 || root.text.trim() !== '' ? undefined : Object.fromEntries(root.children);
}

/** An element whose end is still to come. */
interface OpenElement {
  readonly name: string;
  readonly children: [string, Element][];
  text: string;
}

function elementOf({ children, text }: OpenElement): Element {
  if (children.length === 0) return text;
  return children.every(([name]) => name === 'member')
    ? children.map(([, value]) => value)
    : Object.fromEntries(children);
}

const entities: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

function decode(text: string): string {
  return text.replaceAll(
    /&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) =>
      name === undefined
        ? String.fromCodePoint(parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16))
        : (entities[name] ?? whole),
  );
}
