import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { OwnerRoute } from './route.ts';
import { administrationRoutes } from './owners/administration.ts';
import { analyticsRoutes } from './owners/analytics.ts';
import { bankRoutes } from './owners/bank.ts';
import { caliperRoutes } from './owners/caliper.ts';
import { caseRoutes } from './owners/case.ts';
import { contentRoutes } from './owners/content.ts';
import { extmapRoutes } from './owners/extmap.ts';
import { oneRosterRoutes } from './owners/oneroster.ts';
import { qtiRoutes } from './owners/qti.ts';
import { resultsRoutes } from './owners/results.ts';
import { revisionOrderRoutes } from './owners/revision-orders.ts';

/** Every route of every owner. */
export const ownerRoutes: readonly OwnerRoute[] = [
  ...contentRoutes,
  ...qtiRoutes,
  ...bankRoutes,
  ...caseRoutes,
  ...extmapRoutes,
  ...resultsRoutes,
  ...caliperRoutes,
  ...oneRosterRoutes,
  ...analyticsRoutes,
  ...administrationRoutes,
  ...revisionOrderRoutes,
];

/** Returns the ids by which a caller sees what an operation's answer is about, by their JSON Pointers. */
export function identitiesOf({ id, method }: Pick<UpstreamOperation, 'id' | 'method'>): readonly string[] {
  return ownerRoutes.find((route) => route.operation === id && route.method === method)?.identities ?? [];
}

/** How a raw request path meets the routes. */
type RouteMatch =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'found'; readonly route: OwnerRoute; readonly path: Readonly<Record<string, string>> };

/** Finds the route of a raw path. Segments are decoded once, after the split: an encoded slash stays inside its segment [MA-040]. */
export function matchRoute(method: string, rawPath: string): RouteMatch {
  const segments = rawPath.split('/');
  const allow: string[] = [];
  for (const route of ownerRoutes) {
    const template = route.path.split('/');
    if (template.length !== segments.length) continue;
    if (!template.every((part, at) => part.startsWith('{') || part === segments[at])) continue;
    if (route.method !== method) {
      allow.push(route.method);
      continue;
    }
    const path: Record<string, string> = {};
    for (const [at, part] of template.entries()) {
      if (!part.startsWith('{')) continue;
      const value = decode(segments[at] ?? '');
      if (value === undefined || value === '') return { kind: 'malformed' };
      path[part.slice(1, -1)] = value;
    }
    return { kind: 'found', route, path };
  }
  return allow.length === 0 ? { kind: 'unknown' } : { kind: 'method', allow };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
