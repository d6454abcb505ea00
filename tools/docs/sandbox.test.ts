import { describe, expect, it } from 'vitest';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { renderSandboxOpenApi } from './sandbox.ts';

interface Operation {
  readonly operationId: string;
  readonly security: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

const document = renderSandboxOpenApi();
const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
  // SAFETY: as the document was made.
  Object.entries(methods as unknown as Record<string, Operation>).map(([method, operation]) => ({
    place: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

describe('the document of the sandbox', () => {
  it('holds every route of the sandbox, whatever the gates, and nothing else [RP-033]', () => {
    expect(operations.map(({ place, operation }) => `${operation.operationId} ${place}`)).toEqual(
      Object.values(sandboxRoutes).map(({ operationId, method, path }) => `${operationId} ${method} ${path}`),
    );
    expect(JSON.stringify(document)).not.toContain('x-gates');
  });

  it('demands no token, and promises no failure of one or of an owner [RP-034, RP-042]', () => {
    for (const { operation } of operations) {
      expect(operation.security).toEqual([{}, { bearer: [] }]);
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => ['401', '403', '409', '503'].includes(status))).toEqual([]);
    }
  });
});
