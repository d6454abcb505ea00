import type { ServiceName } from '#shared/contract/route.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Side } from './check.ts';
import type { Transcript } from './transcript.ts';
import { idMembers } from './random-ids.ts';
import { describeReply } from './replies.ts';
import type { Ask, Reply, Target } from './target.ts';
import type { Tenant } from './tenant-file.ts';

/** Answers the offered item in the platform's player. Undefined if that succeeded; otherwise why not. */
export type Play = (
  tenant: Tenant,
  item: { readonly deliverySessionId: string; readonly artifactVersionId: string },
) => Promise<string | undefined>;

export interface Suite {
  readonly service: ServiceName;
  /** Random for this run of the suite, so that it does not repeat idempotency keys of another run. */
  readonly nonce: string;
  /** The subjects of the routes that are open. */
  readonly subjects: readonly Subject[];
  readonly target: Target;
  readonly a: Tenant;
  readonly b: Tenant;
  readonly transcript: Transcript;
  /** Absent: there is no player, and the checks that need one do not run. */
  readonly play?: Play;
}

/** A kind of resource, and the request for it. */
export interface Subject {
  /** An operation id, with a kind where there are several. */
  readonly name: string;
  readonly route: Ask['route'];
  /** The member of a tenant's file that it needs, as a JSON Pointer. */
  readonly needs: string;
  /** The request for the tenant's own resource. err: why there is none. */
  readonly own: (tenant: Tenant) => Promise<Result<Ask, string>>;
  /** Whether resource claims restrict access within its tenant. */
  readonly narrowed: boolean;
  /** Whether the request can be repeated with the same result. */
  readonly repeatable: boolean;
}

/** Two tenants: one requests resources of the other. */
export interface Direction {
  readonly side: Extract<Side, 'A-B' | 'B-A'>;
  readonly asker: Tenant;
  readonly owner: Tenant;
}

/** Returns both directions: isolation must hold in each. */
export function directionsOf({ a, b }: Pick<Suite, 'a' | 'b'>): readonly Direction[] {
  return [
    { side: 'A-B', asker: a, owner: b },
    { side: 'B-A', asker: b, owner: a },
  ];
}

/** Sends an owner's request for its own resource. Its key is always the same, so that a repetition is the same operation. */
export function sendOwn(suite: Suite, subject: Subject, tenant: Tenant, ask: Ask): Promise<Reply> {
  const key = `proof-${suite.nonce}-${subject.name}-${tenant.side}`;
  return suite.target.send(ask, { token: tenant.full, key });
}

/** Returns whether both requests name the same records, because both files do. */
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

/** Findings with their subject as a prefix. */
export function about(what: string, findings: readonly string[]): readonly string[] {
  return findings.map((finding) => `${what}: ${finding}`);
}

/** Returns a finding if the owner does not get its own resource: isolation that hides everything from every tenant proves nothing. */
export function servedFindings(ask: Ask, reply: Reply): readonly string[] {
  const { service, success } = ask.route;
  return reply.status === success.status
    ? []
    : [`the owner’s own request returned ${describeReply(service, reply)} instead of ${success.status}`];
}
