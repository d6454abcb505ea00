import { countedFirewallRules, type ManagedRuleName } from '#shared/stage/firewall.ts';

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
const java = /java\.lang\.(?:runtime|processbuilder)|getruntime\s*\(/i;
/** The references of React Server Components to an object's prototype or constructor (CVE-2025-55182). */
const flight = /\$\d+:(?:__proto__|constructor)|:constructor:constructor/i;

type Rule = readonly [name: ManagedRuleName, part: keyof Inspected, matches: (text: string) => boolean];

/**
 * The rules of the groups that are deployed (`shared/stage/firewall.ts`), as AWS describes each (“Baseline rule groups” in the developer guide of AWS
 * WAF). AWS publishes examples and no patterns: these ones match at least the examples, and rather too much. Left out are the rules for the
 * reputation of addresses, for `Host: localhost`, which is right here, for cookies, methods and user agents.
 */
const rules: readonly Rule[] = [
  ['SizeRestrictions_QUERYSTRING', 'query', (text) => text.length > 2048],
  ['SizeRestrictions_BODY', 'body', (text) => text.length > 8192],
  ['SizeRestrictions_URIPATH', 'path', (text) => text.length > 1024],
  ...inEach(metadata, 'EC2MetaDataSSRF_URIPATH', 'EC2MetaDataSSRF_QUERYARGUMENTS', 'EC2MetaDataSSRF_BODY'),
  ...inEach(traversal, 'GenericLFI_URIPATH', 'GenericLFI_QUERYARGUMENTS', 'GenericLFI_BODY'),
  ...inEach(extension, 'RestrictedExtensions_URIPATH', 'RestrictedExtensions_QUERYARGUMENTS'),
  ...inEach(url, 'GenericRFI_URIPATH', 'GenericRFI_QUERYARGUMENTS', 'GenericRFI_BODY'),
  ...inEach(
    script,
    ...([
      'CrossSiteScripting_URIPATH',
      'CrossSiteScripting_QUERYARGUMENTS',
      'CrossSiteScripting_BODY',
    ] as const),
  ),
  ...inEach(
    java,
    ...(['JavaDeserializationRCE_URIPATH', 'JavaDeserializationRCE_QUERYSTRING'] as const),
    ...(['JavaDeserializationRCE_BODY', 'JavaDeserializationRCE_HEADER'] as const),
  ),
  ...inEach(lookup, 'Log4JRCE_URIPATH', 'Log4JRCE_QUERYSTRING', 'Log4JRCE_BODY', 'Log4JRCE_HEADER'),
  ...inEach(/web-inf/i, 'ExploitablePaths_URIPATH'),
  ...inEach(flight, 'ReactJSRCE_BODY'),
];

/** Every rule that the model has. */
export const modelledRules: readonly ManagedRuleName[] = rules.map(([name]) => name);

/** One pattern in the part of a request that each of the rules is named for. */
function inEach(pattern: RegExp, ...names: readonly ManagedRuleName[]): readonly Rule[] {
  return names.map((name) => {
    const [part, inspected] = partOf(name);
    return [name, part, (text) => forms(inspected(text)).some((form) => pattern.test(form))];
  });
}

function whole(text: string): string {
  return text;
}

function partOf(rule: string): readonly [keyof Inspected, (text: string) => string] {
  switch (rule.split('_').at(-1)) {
    case 'URIPATH':
      return ['path', whole];
    case 'QUERYARGUMENTS':
      // The values of the arguments, without their names.
      return ['query', (text) => text.replaceAll(/(?<=^|&)[^&=]*=?/g, '')];
    case 'QUERYSTRING':
      return ['query', whole];
    case 'BODY':
      return ['body', whole];
    default:
      return ['headers', whole];
  }
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
  counted: ReadonlySet<string> = countedFirewallRules,
): readonly string[] {
  const inspected = { ...request, body: request.body.slice(0, INSPECTED_BODY) };
  return rules
    .filter(([name, part, matches]) => !counted.has(name) && matches(inspected[part]))
    .map(([name]) => name);
}
