import type { UpstreamOperation } from '../operation.ts';

/**
 * One identifier as exactly one path segment [MA-040]; undefined when no URL can carry it so. That is the empty text, a lone surrogate,
 * and `.` and `..`: URL parsers and proxies treat even `%2E%2E` as a dot segment, so it would address something else.
 */
export function encodeSegment(value: string): string | undefined {
  if (value === '' || value === '.' || value === '..' || !value.isWellFormed()) return undefined;
  return encodeURIComponent(value);
}

/**
 * The address of one call below `baseUrl`; undefined when an identifier cannot be one segment, so that nothing may be sent.
 * Throws when the call does not fit its row: a parameter missing, unknown, or of another tenant.
 */
export function addressOf(
  operation: UpstreamOperation,
  target: { readonly baseUrl: string; readonly tenantId: string },
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): string | undefined {
  if (path['tenantId'] !== undefined && path['tenantId'] !== target.tenantId) {
    throw new TypeError(`${operation.id}: the path names another tenant than the service profile`);
  }
  const values = new Map(Object.entries({ ...path, tenantId: target.tenantId }));
  const known = new Set(['tenantId']);
  const segments = operation.path.split('/').map((part) => {
    if (!part.startsWith('{')) return part;
    const name = part.slice(1, -1);
    known.add(name);
    const value = values.get(name);
    if (value === undefined) throw new TypeError(`${operation.id}: path parameter ${name} is missing`);
    return encodeSegment(value);
  });
  for (const name of values.keys()) {
    if (!known.has(name)) throw new TypeError(`${operation.id}: there is no path parameter ${name}`);
  }
  const optional = operation.optionalQuery ?? [];
  for (const name of Object.keys(query)) {
    if (!operation.query.includes(name) && !optional.includes(name))
      throw new TypeError(`${operation.id}: there is no query parameter ${name}`);
  }
  for (const name of operation.query) {
    if (query[name] === undefined) throw new TypeError(`${operation.id}: query parameter ${name} is missing`);
  }
  const pairs = [...operation.query, ...optional].flatMap((name) => {
    const value = query[name];
    if (value === undefined) return [];
    return [value.isWellFormed() ? `${name}=${encodeURIComponent(value)}` : undefined];
  });
  if (segments.includes(undefined) || pairs.includes(undefined)) return undefined;
  return `${target.baseUrl}${segments.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
