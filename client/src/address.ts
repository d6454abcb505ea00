/**
 * Returns the address of a request.
 * @param baseUrl of the service, without `/v1`
 * @param template of the path; `{name}` is replaced by the encoded parameter
 * @throws {TypeError} if a parameter of the path is absent or empty, which would be the path of another resource
 */
export function addressOf(
  baseUrl: string,
  template: string,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, string>>,
): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${name} must be a non-empty string: it is part of the path ${template}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return `${baseUrl.replace(/\/$/, '')}${filled}${search === '' ? '' : `?${search}`}`;
}
