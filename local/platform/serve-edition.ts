import type * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Freshness } from '#shared/platform/owners/primitives.ts';
import { refuse, serve } from './route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from './route.ts';
import type { TenantState } from './tenant-state.ts';

/** An entity that names its version and how current it is. */
interface Edition {
  readonly version: string;
  readonly freshness: Freshness;
}

/** What finds the entity that is asked for; undefined is a 404. */
type Find<Entity> = (request: OwnerRequest<undefined>) => Entity | OwnerRefusal | undefined;

/**
 * Returns the route of a read of one such entity: 200 with an ETag, or a refusal, 404 for what is not found. `version_drift` answers the version
 * that the owner would hold after its next write, `stale` the one that it held before its last.
 */
export function serveEdition<Answer extends z.ZodType>(
  row: UpstreamOperation<Answer, undefined>,
  identities: readonly string[],
  find: Find<Edition & z.input<Answer>>,
): OwnerRoute {
  return serveEntity<Answer, Edition & z.input<Answer>>(row, identities, find, { next, previous });
}

/**
 * Returns the route of a read of an entity that never changes under its id. `version_drift` and `stale` answer what an owner that does not keep to
 * this would: other bytes under the same id.
 * @param other the entity with one of its versions marked by a suffix
 */
export function serveImmutable<Answer extends z.ZodType>(
  row: UpstreamOperation<Answer, undefined>,
  identities: readonly string[],
  find: Find<object & z.input<Answer>>,
  other: (entity: z.output<Answer>, suffix: string) => z.input<Answer>,
): OwnerRoute {
  return serveEntity<Answer, object & z.input<Answer>>(row, identities, find, {
    // SAFETY: what an owner holds has been parsed by the row's own schema.
    next: (entity) => other(entity as z.output<Answer>, '-next') as object & z.input<Answer>,
    previous: (entity) => other(entity as z.output<Answer>, '-previous') as object & z.input<Answer>,
  });
}

/**
 * Returns the route of a read of an entity: 200 with an ETag, or a refusal, 404 for what is not found.
 * @param versions for `version_drift` the entity after its next write, for `stale` before its last one; for `wrong_tenant` what another tenant holds, where
 *   the answer itself names no tenant
 */
export function serveEntity<Answer extends z.ZodType, Entity extends object & z.input<Answer>>(
  row: UpstreamOperation<Answer, undefined>,
  identities: readonly string[],
  find: Find<Entity>,
  versions: {
    readonly next: (entity: Entity) => Entity;
    readonly previous?: (entity: Entity) => Entity;
    readonly foreign?: (other: TenantState) => Entity | undefined;
  },
): OwnerRoute {
  const { next, previous, foreign } = versions;
  const answer = (
    request: OwnerRequest<undefined>,
    version: (entity: Entity) => Entity,
  ): OwnerAnswer<z.input<Answer>> | OwnerRefusal => {
    const found = find(request);
    if (found === undefined) return refuse(404, 'no such entity');
    return isRefusal(found) ? found : { status: 200, body: version(found) };
  };
  return serve(row, {
    versioned: true,
    identities,
    handle: (request) => answer(request, (entity) => entity),
    // SAFETY: the server hands over only bodies that this route itself answered.
    drift: (body) => next(body as Entity),
    ...(previous && { stale: (request: OwnerRequest<undefined>) => answer(request, previous) }),
    ...(foreign && { foreign }),
  });
}

function next<Entity extends Edition>(entity: Entity): Entity {
  return { ...entity, version: `${entity.version}-next` };
}

function previous<Entity extends Edition>(entity: Entity): Entity {
  return { ...entity, version: `${entity.version}-previous`, freshness: 'stale' };
}

function isRefusal(found: object): found is OwnerRefusal {
  return 'refused' in found;
}
