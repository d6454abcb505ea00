import type { Route, ServiceName, Transfer } from '#shared/contract/route.ts';

/** What the gateway knows of a row that it serves. */
export interface ServedRoute extends Pick<Route, 'operationId' | 'method'> {
  /** Template below the base path; `{name}` is one segment. */
  readonly path: string;
  readonly success: { readonly transfer: Transfer };
}

/** A service of the gateway: the base path before its paths, and the rows served under it. */
export interface GatewayService {
  readonly service: ServiceName;
  /** Begins with a slash and does not end with one, for example `/mastery`. */
  readonly basePath: string;
  readonly routes: readonly ServedRoute[];
}

interface RouteMatch {
  readonly route: ServedRoute;
  /** As in the URL: a REST API passes path parameters on percent-encoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Which service a raw path belongs to, if any. */
export function serviceOf(services: readonly GatewayService[], rawPath: string): GatewayService | undefined {
  return services.find(({ basePath }) => rawPath === basePath || rawPath.startsWith(`${basePath}/`));
}

/**
 * Finds the row that serves a method and a raw path. Literal segments are compared byte for byte, so `adaptive-runs%3Ainspect` is not
 * `adaptive-runs:inspect`; a literal segment wins over a parameter; a parameter is never empty. A slash at the end changes nothing: a REST API
 * routes `/my/path/` as `/my/path` (aws-powertools/powertools-lambda-python#1552, aws/chalice#65).
 */
export function matchRoute(service: GatewayService, method: string, rawPath: string): RouteMatch | undefined {
  return matchesOf(service, rawPath).find(({ route }) => route.method === method);
}

/** The methods of a raw path, by its best template; empty when no row has it. */
export function methodsOf(service: GatewayService, rawPath: string): readonly Route['method'][] {
  const matches = matchesOf(service, rawPath);
  return matches
    .filter(({ route }) => route.path === matches[0]?.route.path)
    .map(({ route }) => route.method);
}

/** Best match first. */
function matchesOf(service: GatewayService, rawPath: string): readonly RouteMatch[] {
  const segments = rawPath.slice(service.basePath.length).replace(/\/$/, '').split('/');
  return service.routes
    .map((route) => ({ route, pathParameters: matchTemplate(route.path.split('/'), segments) }))
    .filter((match): match is RouteMatch => match.pathParameters !== undefined)
    .sort((a, b) => Object.keys(a.pathParameters).length - Object.keys(b.pathParameters).length);
}

function matchTemplate(
  template: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (template.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== segment) return undefined;
    } else {
      if (segment === '') return undefined;
      parameters[name] = segment;
    }
  }
  return parameters;
}
