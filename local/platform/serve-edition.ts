import type * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Freshness } from '#shared/platform/owners/primitives.ts';
import { refuse, serve } from './route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from './route.ts';

/** An entity that names its version and how current it is. */
interface Edition {
  readonly version: string;
  readonly freshness: Freshness;
}

/**
 * The route of a read of one such entity: 200 with an ETag, or a refusal, 404 for what is not found. `version_drift` answers the version
 * that the owner would hold after its next write, `stale` the one that it held before its last.
 */
export function serveEdition<Answer extends z.ZodType>(
  row: UpstreamOperation<Answer, undefined>,
  find: (request: OwnerRequest<undefined>) => (Edition & z.input<Answer>) | OwnerRefusal | undefined,
): OwnerRoute {
  type Entity = Edition & z.input<Answer>;
  const answer = (
    request: OwnerRequest<undefined>,
    edition: (entity: Entity) => Entity,
  ): OwnerAnswer<z.input<Answer>> | OwnerRefusal => {
    const found = find(request);
    if (found === undefined) return refuse(404, 'no such entity');
    return isRefusal(found) ? found : { status: 200, body: edition(found) };
  };
  return serve(row, {
    versioned: true,
    handle: (request) => answer(request, (entity) => entity),
    // SAFETY: the server hands over only bodies that this route itself answered.
    drift: (body) => next(body as Entity),
    stale: (request) => answer(request, previous),
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
