import { expect, it } from 'vitest';
import type { Grant } from '#shared/contract/grants.ts';
import { defineRoute } from '#shared/contract/route.ts';
import { serveSandbox } from '#shared/contract/sandbox.ts';
import { gatewayRow } from '#test/support/probe-routes.ts';
import { createSigner } from '#test/support/release.ts';
import { variablesOf } from './function-variables.ts';

const releaseKey = createSigner().key;
const addresses = { awsUrl: 'http://127.0.0.1:1', gatewayUrl: 'http://127.0.0.1:2', releaseKey };
const named = (row: Parameters<typeof variablesOf>[0]) => Object.keys(variablesOf(row, addresses));

// Where they lead: test/contract, where every function runs with them.
it('a function is told of the stores that its grants name, and of no other', () => {
  const row = gatewayRow('x', 'GET', '/v1/x');
  const withGrants = (...grants: readonly Grant[]) =>
    named(defineRoute({ ...row, lambda: { ...row.lambda, grants } }));
  const bare = withGrants();
  // Where the requests of a tenant are counted.
  expect(bare.filter((name) => /_TABLE|_PATH|_BUCKET|_QUEUE|RECEIPTS/.test(name))).toEqual(['CONTROL_TABLE']);
  const more = withGrants('records:read', 'receipts:link').filter((name) => !bare.includes(name));
  expect(more.toSorted()).toEqual(['RECEIPTS_URL', 'RECORDS_TABLE']);
});

it('the sandbox is told nothing of any emulator [RP-033]', () => {
  expect(named(serveSandbox).toSorted()).toEqual(['LOG_LEVEL', 'PROBLEMS_URL', 'STAGE', 'TZ']);
});
