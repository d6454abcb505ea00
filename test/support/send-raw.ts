import { request } from 'node:http';
import type { RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request with any headers: fetch sets Host, Origin and others itself. */
export function sendRaw(
  url: string,
  { body = '', ...options }: RequestOptions & { readonly body?: string },
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, body: read }), reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
