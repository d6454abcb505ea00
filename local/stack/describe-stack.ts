import { localTenant } from '#local/seeds/tenants.ts';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { describeFixtures, type StackDescription } from '#shared/stage/description.ts';
import type { Stack } from './stack.ts';

/** Returns the description with which commands find and call the stack of this process. */
export function describeStack(
  { urls, seededTenants, rehearsal: { releaseKey } }: Stack,
  seedDirectory: string,
  logFile: string,
): StackDescription {
  return {
    ...urls,
    tenants: [...seededTenants.keys()].map((tenantId) => {
      const { sub, role, credentials } = localTenant(tenantId);
      return { tenantId, sub, role, playerToken: credentials.playerToken };
    }),
    fixtures: describeFixtures(
      Object.fromEntries([...seededTenants].map(([tenantId, { fixtures }]) => [tenantId, fixtures])),
      sandboxIds,
    ),
    releaseKey,
    pid: process.pid,
    seedDirectory,
    logFile,
  };
}
