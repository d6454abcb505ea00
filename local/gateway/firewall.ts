import { countedFirewallRules } from '#shared/stage/firewall.ts';

/** The parts of a request that rules inspect. */
export interface Inspected {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  readonly body: string;
  readonly headers: string;
}

/** The firewall of an API Gateway inspects this much of a body. */
const INSPECTED_BODY = 16 * 1024;

const metadata = /169\.254\.169\.254|fd00:ec2::254/i;
const traversal = /\.\.[/\\]/;
const extension = /\.(?:log|ini|conf|cfg|config|bak|backup|env|sql|db|dll|exe|sh|bat)(?!\w)/i;
// The group's present version looks for addresses of IPv4 in them, an earlier one for any URL.
const url = /(?:https?|ftps?|file):\/\//i;
const script = /<\/?(?:script|iframe|object|embed|svg|img)\b|javascript:|\bon(?:error|load|click)\s*=/i;
const lookup = /\$\{(?:jndi|lower|upper|env|::-)/i;
const suffixes = { path: 'URIPATH', query: 'QUERYARGUMENTS', body: 'BODY', headers: 'HEADER' } as const;
const java = /java\.lang\.(?:runtime|processbuilder)|getruntime\s*\(/i;

/**
 * The rules of the groups that are deployed (`lib/constructs/web-acl.ts`), as AWS describes each (“Baseline rule groups” in the developer guide of AWS
 * WAF). AWS publishes examples and no patterns: these ones match at least the examples, and rather too much. Left out are the rules for the
 * reputation of addresses, for `Host: localhost`, which is right here, for cookies, methods and user agents.
 */
const rules: readonly (readonly [name: string, part: keyof Inspected, matches: (text: string) => boolean])[] =
  [
    ['SizeRestrictions_QUERYSTRING', 'query', (text) => text.length > 2048],
    ['SizeRestrictions_BODY', 'body', (text) => text.length > 8192],
    ['SizeRestrictions_URIPATH', 'path', (text) => text.length > 1024],
    ...inEach('EC2MetaDataSSRF', metadata, 'path', 'query', 'body'),
    ...inEach('GenericLFI', traversal, 'path', 'query', 'body'),
    ...inEach('RestrictedExtensions', extension, 'path', 'query'),
    ...inEach('GenericRFI', url, 'path', 'query', 'body'),
    ...inEach('CrossSiteScripting', script, 'path', 'query', 'body'),
    ...inEach('JavaDeserializationRCE', java, 'path', 'query', 'body', 'headers'),
    ...inEach('Log4JRCE', lookup, 'path', 'query', 'body', 'headers'),
    ...inEach('ExploitablePaths', /web-inf/i, 'path'),
  ];

function inEach(group: string, pattern: RegExp, ...parts: readonly (keyof Inspected)[]): typeof rules {
  return parts.map((part) => {
    // The values of a query's arguments, without their names.
    const inspected = (text: string): string =>
      part === 'query' ? text.replaceAll(/(?<=^|&)[^&=]*=?/g, '') : text;
    return [
      `${group}_${suffixes[part]}`,
      part,
      (text) => forms(inspected(text)).some((form) => pattern.test(form)),
    ];
  });
}

/** A text as it is, and percent-decoded once and twice: AWS does not say what it decodes. */
function forms(text: string): readonly string[] {
  const once = decoded(text);
  return [text, once, decoded(once)];
}

function decoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  );
}

/**
 * Names the rules that match a request and are not only counted: any one blocks it.
 * @param counted rules that do not block; default: those of the deployed firewall
 */
export function blockedBy(
  request: Inspected,
  counted: ReadonlySet<string> = new Set(Object.keys(countedFirewallRules)),
): readonly string[] {
  const inspected = { ...request, body: request.body.slice(0, INSPECTED_BODY) };
  return rules
    .filter(([name, part, matches]) => !counted.has(name) && matches(inspected[part]))
    .map(([name]) => name);
}
