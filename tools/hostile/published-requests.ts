import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { addressOf } from '#client/address.ts';
import { routes } from '#shared/contract/routes.ts';
import type { Aim } from './cases.ts';
import { projectRoot } from '../checks/checks.ts';

const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        requestBody: z
          .object({ content: z.object({ 'application/json': z.object({ example: z.unknown() }) }) })
          .optional(),
      }),
    ),
  ),
});

/** Values of path parameters that are no id. */
const formed: Readonly<Record<string, string>> = { grade: '05' };

/**
 * Returns a request for every route of a deployed service, made of the published document: its body is the document's example, and its path names what the
 * stage does not have.
 * @param target the stage, up to its base path
 */
export function publishedRequests(
  target: string,
  service: 'mastery' | 'reports',
  token: string,
): readonly Aim[] {
  const file = join(projectRoot, `docs/openapi/${service}.json`);
  const { paths } = document.parse(JSON.parse(readFileSync(file, 'utf8')));
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return routes
    .filter((route) => route.service === service)
    .map((route) => {
      const { operationId, method, request } = route;
      const names = Object.keys(request.path.shape);
      const path = Object.fromEntries(names.map((name) => [name, formed[name] ?? `no-such-${name}`]));
      const address = new URL(addressOf(target, route.path, path, {}));
      const example = operations.find((each) => each.operationId === operationId)?.requestBody?.content[
        'application/json'
      ].example;
      return {
        address,
        base: {
          ...{ operationId, method, target: `${address.pathname}${address.search}`, host: address.host },
          body: example === undefined ? undefined : JSON.stringify(example),
          headers: {
            Authorization: `Bearer ${token}`,
            ...(example === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...(request.idempotencyKey ? { 'Idempotency-Key': `hostile-${crypto.randomUUID()}` } : {}),
            ...(request.ifMatch ? { 'If-Match': '"no-such-tag"' } : {}),
          },
        },
      };
    });
}
