import type { ServiceName } from '#shared/contract/route.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Side } from './check.ts';
import type { Transcript } from './transcript.ts';
import { idMembers } from './random-ids.ts';
import { describeReply } from './replies.ts';
import type { Ask, Reply, Target } from './target.ts';
import type { Tenant } from './tenant-file.ts';

/** Lets somebody answer the offered item in the platform's player. Undefined when it did; else why not. */
export type Play = (
  tenant: Tenant,
  item: { readonly deliverySessionId: string; readonly artifactVersionId: string },
) => Promise<string | undefined>;

/** What every check works with. */
export interface Suite {
  readonly service: ServiceName;
  /** Drawn for this run of the suite: no idempotency key of another run is used again. */
  readonly nonce: string;
  /** Of the routes that are open. */
  readonly subjects: readonly Subject[];
  readonly target: Target;
  readonly a: Tenant;
  readonly b: Tenant;
  readonly transcript: Transcript;
  /** Absent: no player can be reached, and what needs one is not asked. */
  readonly play?: Play;
}

/** A resource of each tenant, and the request for it. */
export interface Subject {
  /** An operation id, with a kind where there are several. */
  readonly name: string;
  readonly route: Ask['route'];
  /** The member of a tenant's file that it takes, as a JSON Pointer. */
  readonly needs: string;
  /** The request for the tenant's own. err: why there is none. */
  readonly own: (tenant: Tenant) => Promise<Result<Ask, string>>;
  /** Whether resource claims narrow who may see it within its tenant. */
  readonly narrowed: boolean;
  /** Whether its owner may ask again and again and be answered. */
  readonly repeatable: boolean;
}

/** Two tenants, one of which asks for what the other has. */
export interface Direction {
  readonly side: Extract<Side, 'A-B' | 'B-A'>;
  readonly asker: Tenant;
  readonly owner: Tenant;
}

/** Both directions: what is hidden one way only is not hidden. */
export function directionsOf({ a, b }: Pick<Suite, 'a' | 'b'>): readonly Direction[] {
  return [
    { side: 'A-B', asker: a, owner: b },
    { side: 'B-A', asker: b, owner: a },
  ];
}

/** An owner's own request, under a key that it keeps: asked again, it is the same operation. */
export function sendOwn(suite: Suite, subject: Subject, tenant: Tenant, ask: Ask): Promise<Reply> {
  const key = `proof-${suite.nonce}-${subject.name}-${tenant.side}`;
  return suite.target.send(ask, { token: tenant.full, key });
}

/** Whether a request names nothing that is one tenant's alone: both files name one and the same record. */
export function belongsToBoth(own: Ask, foreign: Ask): boolean {
  return idMembers(foreign).every((name) => valueOf(own, name) === valueOf(foreign, name));
}

function valueOf({ path, body }: Ask, name: string): string | undefined {
  const value = path?.[name] ?? body?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** `GET /v1/…`, the template and never a path. */
export function titleOf({ route }: Pick<Ask, 'route'>): string {
  return `${route.method} ${route.path}`;
}

/** Findings with what they are about before them. */
export function about(what: string, findings: readonly string[]): readonly string[] {
  return findings.map((finding) => `${what}: ${finding}`);
}

/** A finding unless the owner is given its own: an isolation that hides everything from everybody proves nothing. */
export function servedFindings(ask: Ask, reply: Reply): readonly string[] {
  const { service, success } = ask.route;
  return reply.status === success.status
    ? []
    : [`its owner is answered ${describeReply(service, reply)} in place of ${success.status}`];
}
