import { callRaw } from './raw-call.ts';

/** Request headers that need no permission, and response headers that are always shown: Fetch standard, sections 2.2.2 and 3.2.7. */
const safeRequestHeaders = new Set(['accept', 'accept-language', 'content-language']);
const safeMediaTypes = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)(?:;|$)/;
const safeResponseHeaders = new Set([
  ...['cache-control', 'content-language', 'content-length', 'content-type'],
  ...['expires', 'last-modified', 'pragma'],
]);

/**
 * `fetch` of a page of this origin, without credentials: the CORS protocol as the Fetch standard defines it, over raw requests. It rejects
 * with a TypeError where a browser reports a network error, and hides the headers that a browser hides.
 */
export function browserFetch(origin: string): typeof fetch {
  return async (input, init = {}) => {
    // SAFETY: the project's client calls it with an address and a record of headers.
    const url = input as string;
    const headers = Object.entries(init.headers as Record<string, string>);
    const { method = 'GET', body } = init;
    const unsafe = headers
      .filter(([name, value]) => !isSafe(name.toLowerCase(), value))
      .map(([name]) => name.toLowerCase())
      .toSorted();
    const { search } = new URL(url);
    if (unsafe.length > 0 || !['GET', 'HEAD', 'POST'].includes(method)) {
      const { status, headers: allowed } = await callRaw(url, search, {
        method: 'OPTIONS',
        headers: [
          ['Origin', origin],
          ['Access-Control-Request-Method', method],
          ...(unsafe.length > 0 ? [['Access-Control-Request-Headers', unsafe.join(',')] as const] : []),
        ],
      });
      if (status < 200 || status > 299) throw new TypeError(`the preflight request returned ${status}`);
      demandOrigin(allowed, origin);
      const refused = unsafe.filter((name) => !listOf(allowed, 'access-control-allow-headers').has(name));
      if (refused.length > 0) throw new TypeError(`these request headers are not allowed: ${refused.join()}`);
      const methods = listOf(allowed, 'access-control-allow-methods');
      if (!['GET', 'HEAD', 'POST'].includes(method) && !methods.has(method.toLowerCase()))
        throw new TypeError(`the method ${method} is not allowed`);
    }
    const answer = await callRaw(url, search, {
      method,
      headers: [...headers, ['Origin', origin]],
      ...(typeof body === 'string' ? { body } : {}),
    });
    demandOrigin(answer.headers, origin);
    const shown = listOf(answer.headers, 'access-control-expose-headers');
    return new Response(answer.text, {
      status: answer.status,
      headers: [...answer.headers].filter(([name]) => safeResponseHeaders.has(name) || shown.has(name)),
    });
  };
}

function isSafe(name: string, value: string): boolean {
  return safeRequestHeaders.has(name) || (name === 'content-type' && safeMediaTypes.test(value));
}

/** A header with two values, joined, is not the origin either. */
function demandOrigin(headers: Headers, origin: string): void {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed !== origin)
    throw new TypeError(`the response is for the origin ${String(allowed)}, not for ${origin}`);
}

function listOf(headers: Headers, name: string): ReadonlySet<string> {
  return new Set((headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/));
}
