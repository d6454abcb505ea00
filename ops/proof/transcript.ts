import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import type { Reply, Sender } from './target.ts';
import type { Tenant } from './tenant-file.ts';

/** Every response of the run, for the checks at its end. */
export interface Transcript {
  readonly listen: (reply: Reply, sender: Sender) => void;
  /** The number of responses, and of request ids that occur in more than one of them. */
  readonly requestIds: () => { readonly answers: number; readonly repeated: number };
  /** The member names of ids that occur in successes of both tenants, one per id; each id should belong to one learner or run. */
  readonly sharedIds: () => readonly string[];
  /** Host names under reserved top-level domains (RFC 2606) in links of responses. */
  readonly reservedHosts: () => readonly string[];
}

/** Members with an id of one learner, attempt, operation or run: never the same for two tenants. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'attemptId',
  'qtiSessionId',
  'resultRecordId',
  'candidateSourcedId',
  'administrationId',
  'qtiOutcomeId',
  'resultComponentId',
  'operationId',
  'nextCursor',
  'improvementRunId',
  'revisionOrderId',
  'continuationToken',
  'deliverySessionId',
  'resultRecordRef',
  'caliperEventRef',
]);

/** Names that no deployment can have (RFC 2606, RFC 6761). */
const RESERVED_NAME = /(?:^|\.)(?:example|test|invalid|localhost)$|(?:^|\.)example\.(?:com|net|org)$/;

export function openTranscript(tenants: readonly Tenant[]): Transcript {
  const answersById = new Map<string, number>();
  const membersByTenant = new Map(tenants.map(({ side }) => [side, new Map<string, string>()]));
  const hosts = new Set<string>();
  let answers = 0;

  function listen({ status, headers, text }: Reply, { token }: Sender): void {
    answers += 1;
    const json = parseStrictJson(text);
    const body = json.ok ? json.value : undefined;
    const ids = new Set([headers.get('x-request-id'), ownRequestId(body)]);
    for (const id of ids) if (typeof id === 'string') answersById.set(id, (answersById.get(id) ?? 0) + 1);
    const tenant = tenants.find(({ full, withoutClaims }) => token === full || token === withoutClaims);
    const own = tenant === undefined || status >= 400 ? undefined : membersByTenant.get(tenant.side);
    for (const [name, value] of textsOf(body)) {
      if (own !== undefined && OWN_MEMBERS.has(name)) own.set(value, name);
      if (URL.canParse(value) && RESERVED_NAME.test(new URL(value).hostname))
        hosts.add(new URL(value).hostname);
    }
  }

  return {
    listen,
    requestIds: () => ({ answers, repeated: [...answersById.values()].filter((count) => count > 1).length }),
    sharedIds() {
      const [first, second] = [...membersByTenant.values()];
      return [...(first ?? [])].filter(([value]) => second?.has(value)).map(([, name]) => name);
    },
    reservedHosts: () => [...hosts].toSorted(),
  };
}

function ownRequestId(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'requestId' in body ? body.requestId : undefined;
}

/** Returns every string of a JSON value with the name of its member. */
function* textsOf(value: unknown, name = ''): Generator<[string, string]> {
  if (typeof value === 'string') yield [name, value];
  else if (Array.isArray(value)) for (const element of value) yield* textsOf(element, name);
  else if (typeof value === 'object' && value !== null)
    for (const [member, inside] of Object.entries(value)) yield* textsOf(inside, member);
}
