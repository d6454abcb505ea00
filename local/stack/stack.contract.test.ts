import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxIds } from '#shared/contract/sandbox.ts';
import { attemptReport } from '#shared/contract/reports/attempt-report.ts';
import { masteryProblem } from '#shared/problems/document.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
});
afterAll(async () => {
  await stack.close();
});

async function get(url: string, tenantId: string): Promise<Response> {
  const token = await stack.tokenFor(tenantId, ['mastery:read']);
  return fetch(url, { headers: { Authorization: `Bearer ${token}` } });
}

function policyUrl(tenantId: string): string {
  const id = stack.seededTenants.get(tenantId)?.policies[0]?.document.id ?? '';
  return `${stack.urls.masteryUrl}/v1/selection-policies/${encodeURIComponent(id)}`;
}

describe('the local stack', () => {
  it('serves the sandbox to anybody, without asking the platform for anything [RP-033, RP-034]', async () => {
    const url = `${stack.urls.sandboxUrl}/v1/attempt-reports/${sandboxIds.masteryGateAttempt}?view=evidence`;
    const calls = JSON.stringify(await stack.control('GET', 'calls'));
    const anonymous = await fetch(url);
    expect(anonymous.status).toBe(200);
    expect(attemptReport.parse(await anonymous.json()).attemptId).toBe(sandboxIds.masteryGateAttempt);
    expect((await get(url, 'tenant-aurora')).status).toBe(200);
    expect(JSON.stringify(await stack.control('GET', 'calls'))).toBe(calls);
  });

  it('lets the player’s call through with a client’s token of the same tenant only [MA-030]', async () => {
    const url = `${stack.urls.platformUrl}/tenants/tenant-aurora/qti/delivery-sessions/none/attempts`;
    const attempt = async (tenantId: string): Promise<number> => {
      const token = await stack.tokenFor(tenantId, []);
      const { status } = await fetch(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcomes: { SCORE: 1 } }),
      });
      return status;
    };
    expect(await attempt('tenant-aurora')).toBe(404);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  });

  it('collects what functions write, without any token in it', async () => {
    const token = await stack.tokenFor('tenant-aurora', ['mastery:read']);
    const before = stack.logs().length;
    await fetch(policyUrl('tenant-aurora'), { headers: { Authorization: `Bearer ${token}` } });
    const lines = stack.logs().slice(before);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.every((line) => line.function === 'readSelectionPolicy')).toBe(true);
    expect(JSON.stringify(lines)).not.toContain(token.split('.')[2]);
  });
});

describe('a function that dies in the middle of its work', () => {
  it('is answered for with the gateway’s problem, and replaced', async () => {
    const [bank] = stack.seededTenants.get('tenant-aurora')?.fixtures.mastery.banks ?? [];
    const token = await stack.tokenFor('tenant-aurora', ['mastery:run']);
    const start = (): Promise<Response> =>
      fetch(`${stack.urls.masteryUrl}/v1/adaptive-runs`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': randomUUID(),
        },
        body: JSON.stringify({
          selectionPolicyId: bank?.selectionPolicyId,
          scaleCalibrationId: bank?.scaleCalibrationId,
          testSpecId: bank?.testSpecId,
          testBankId: bank?.testBankId,
          bankOperationId: bank?.bankOperationId,
          runMode: 'owner_conformance',
        }),
      });
    await stack.fault({ operation: 'qti.offer_selected_item', kind: 'latency', milliseconds: 60_000 });
    const dying = start();
    await stack.faultsStruck();
    expect(await stack.killWorkers('startAdaptiveRun')).toBe(1);
    const dead = await dying;
    expect(dead.status).toBe(500);
    expect(masteryProblem.parse(await dead.json())).toMatchObject({
      code: 'internal-error',
      retryable: true,
    });
    expect((await start()).status).toBe(201);
  });
});
