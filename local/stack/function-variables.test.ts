import { describe, expect, it } from 'vitest';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import type { Grant } from '#shared/contract/grants.ts';
import { defineRoute } from '#shared/contract/route.ts';
import { gatewayRow } from '#test/support/probe-routes.ts';
import { createSigner } from '#test/support/release.ts';
import { variablesOf } from './function-variables.ts';

const releaseKey = createSigner().key;
const addresses = { awsUrl: 'http://127.0.0.1:1', gatewayUrl: 'http://127.0.0.1:2', releaseKey };

function variables(...grants: readonly Grant[]): Readonly<Record<string, string>> {
  const row = gatewayRow('x', 'GET', '/v1/x');
  return variablesOf(defineRoute({ ...row, lambda: { ...row.lambda, grants } }), addresses);
}

describe('variablesOf', () => {
  it.each([
    ['records:read', 'RECORDS_TABLE'],
    ['control:write', 'CONTROL_TABLE'],
    ['keys:continuation', 'SETTINGS_TABLE'],
    ['keys:cursor', 'SETTINGS_TABLE'],
    ['profiles:read', 'PROFILES_PATH'],
    ['improvement:write', 'IMPROVEMENT_TABLE'],
    ['improvement:queue', 'IMPROVEMENT_QUEUE_URL'],
    ['receipts:read', 'RECEIPTS_BUCKET'],
    ['receipts:link', 'RECEIPTS_URL'],
  ] as const)('tells of a store only with the grant: %s', (grant, name) => {
    expect(variables()).not.toHaveProperty(name);
    expect(variables(grant)).toHaveProperty(
      name,
      expect.stringMatching(/^local-|^\/local\/|^http:\/\/127\.0\.0\.1:\d\/[^?#]*\w$/),
    );
  });

  it('tells the sandbox nothing of any emulator [RP-033]', () => {
    const given = variablesOf(serveSandbox, addresses);
    expect(Object.keys(given).toSorted()).toEqual(['LOG_LEVEL', 'PROBLEMS_URL', 'STAGE', 'TZ']);
  });
});
