import type { UpstreamOperation } from '../operation.ts';

/**
 * Encodes an identifier as exactly one path segment [MA-040]. Returns undefined if no URL can safely contain it: the empty text, a lone surrogate, and `.` or
 * `..` by itself or between slashes, since URL parsers and proxies treat even `%2E%2E` as a dot segment, and some decode `%2F` before they resolve it.
 */
export function encodeSegment(value: string): string | undefined {
  const parts = value.split(/[/\\]/);
  if (value === '' || parts.includes('.') || parts.includes('..') || !value.isWellFormed()) return undefined;
  return encodeURIComponent(value);
}

/**
 * Returns the address of one call below `baseUrl`; undefined if an identifier cannot be one segment, so that nothing may be sent. Its tenant is always
 * the target's own, regardless of `path`. Throws if the call does not match its row: a parameter is missing or unknown.
 */
export function addressOf(
  { id, path: template, query: demanded, optionalQuery = [] }: UpstreamOperation,
  target: { readonly baseUrl: string; readonly tenantId: string },
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): string | undefined {
  const names = [...demanded, ...optionalQuery];
  const unknown = [
    ...Object.keys(path).filter((name) => !template.includes(`{${name}}`)),
    ...Object.keys(query).filter((name) => !names.includes(name)),
  ];
  if (unknown.length > 0) throw new TypeError(`${id}: there is no parameter ${unknown.join(', ')}`);
  const given = (values: Readonly<Record<string, string>>, name: string): string => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${id}: parameter ${name} is missing`);
    return value;
  };
  const values = { ...path, tenantId: target.tenantId };
  const segments = template
    .split('/')
    .map((part) => (part.startsWith('{') ? encodeSegment(given(values, part.slice(1, -1))) : part));
  const sent = names.filter((name) => demanded.includes(name) || query[name] !== undefined);
  const texts = sent.map((name) => given(query, name));
  if (segments.includes(undefined) || !texts.every((text) => text.isWellFormed())) return undefined;
  const pairs = sent.map((name, at) => `${name}=${encodeURIComponent(texts[at] ?? '')}`);
  return `${target.baseUrl}${segments.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
