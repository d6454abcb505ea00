import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { localTableName } from '#shared/stage/local-stage.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { bundledFunctions } from '#shared/contract/functions.ts';
import { readScaleCalibration, readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import { deprecateRecord } from '#shared/records/release.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callMastery } from '#test/support/mastery-call.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { lazily } from '#test/support/lazily.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

const root = new URL('../../', import.meta.url);

const stack = useTestStack();
const runs = lazily(() => openAdaptiveRuns(stack));

describe('rows and handlers', () => {
  it('every row names a file, and every handler is named by one row', () => {
    for (const { handler } of bundledFunctions)
      expect([handler, existsSync(new URL(handler, root))]).toEqual([handler, true]);
    const handlers = readdirSync(new URL('functions', root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('handler.ts'))
      .map((file) => `functions/${file}`);
    expect(handlers.sort()).toEqual(bundledFunctions.map(({ handler }) => handler as string).sort());
  });
});

describe('an owner that is missing for now', () => {
  it('closes no route for good: the same request is served once the owner is back [MA-017, MA-219]', async () => {
    const starting = runs.start();
    await stack.fault({ operation: 'bank.read_adaptive_pool_manifest', kind: 'down', times: 1_000 });
    const missing = await starting.send();
    expect(missing.body).toMatchObject({ status: 424, code: 'upstream-unavailable', retryable: true });
    await stack.control('DELETE', 'faults');
    expect((await starting.sendForRun()).status).toBe(201);
  });
});

describe('a deprecated record', () => {
  it.each([
    ['policy', readSelectionPolicy, 'policyId', 'selectionPolicyId'],
    ['calibration', readScaleCalibration, 'calibrationId', 'scaleCalibrationId'],
  ] as const)(
    '%s: says so in its headers and stays as it is [MA-049, MA-050]',
    async (kind, route, parameter, name) => {
      const tenantId = 'tenant-borealis';
      const other = openAdaptiveRuns(stack, tenantId);
      const { [name]: id = '' } = other.startBody({ bank: 'generated' }) as Readonly<Record<string, string>>;
      other.close();
      const read = () => callMastery(stack, route, { tenantId, path: { [parameter]: id } });
      const before = await read();
      for (const header of ['deprecation', 'sunset', 'link']) expect(before.headers.get(header)).toBeNull();
      const deprecated = await deprecateRecord(
        createRecordsTable(clientsOf(stack).dynamo, localTableName('records')),
        { kind, id, tenantId },
        { deprecatedAt: '2026-06-01T00:00:00Z', sunsetAt: '2027-06-01T12:00:00Z' },
      );
      expect(deprecated.ok).toBe(true);
      // Records are kept for minutes by each container.
      await stack.killWorkers(route.operationId);
      const after = await read();
      expect(after.status).toBe(200);
      expect(after.text).toBe(before.text);
      expect(after.headers.get('deprecation')).toBe('@1780272000');
      expect(after.headers.get('sunset')).toBe('Tue, 01 Jun 2027 12:00:00 GMT');
      expect(after.headers.get('link')).toMatch(/^<https:.*>; rel="deprecation"/);
      openPublishedContract('mastery')(route, after);
    },
  );
});
