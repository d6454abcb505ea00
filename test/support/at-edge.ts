import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';

interface EdgeResult {
  readonly uri?: string;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, { readonly value: string }>>;
  readonly body?: { readonly data: string };
}
/** What a function of CloudFront makes of a request. */
export function atEdge(code: string, uri: string): EdgeResult {
  return runInContext(
    `${code}\nhandler(event)`,
    createContext({ event: { request: { uri } }, require: createRequire(import.meta.url) }),
  ) as EdgeResult;
}
