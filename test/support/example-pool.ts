import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { CfItem } from '#shared/platform/owners/case.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { AnchorTable } from '#shared/platform/owners/extmap.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import type { Platform, UpstreamAnswer } from '#shared/platform/platform.ts';

// A small world of valid owner answers, and a platform that answers with them; only tests import it.

const TENANT = 'tenant-a';
/** The GUID of the CASE framework. */
export const FRAMEWORK = 'f0000000-0000-4000-8000-000000000001';
export const ids = { testSpecId: 'spec-1', testBankId: 'bank-1', bankOperationId: 'operation-1' };

export interface World {
  blueprint: Blueprint;
  bank: BankMembers;
  manifest: CompleteManifest;
  root: DeliveryJson;
  anchors: AnchorTable;
  items: Record<string, CfItem>;
}
type CompleteManifest = Manifest & {
  root: NonNullable<Manifest['root']>;
  members: ManifestMember[];
};

export function validWorld(size = 4): World {
  const numbers = Array.from({ length: size }, (_, index) => index);
  const root = {
    packageId: 'package-1',
    packageHash: 'a'.repeat(64),
    artifactId: 'root',
    artifactVersionId: 'root@1',
    qtiIdentifier: 'pool',
  };
  return {
    blueprint: {
      tenantId: TENANT,
      itemId: ids.testSpecId,
      role: 'spec',
      version: '3',
      subject: 'mathematics',
      gradeLevels: ['05'],
      caseFrameworkGuid: FRAMEWORK,
      slots: [{ slotId: 'slot', caseGuids: ['00000000-0000-4000-9000-000000000001'] }],
    },
    bank: {
      tenantId: TENANT,
      bankId: ids.testBankId,
      specId: ids.testSpecId,
      role: 'bank',
      membershipRule: 'qti_adaptive_selection',
      updateVersion: '7',
      data: [],
    },
    manifest: {
      tenantId: TENANT,
      operationId: ids.bankOperationId,
      state: 'succeeded',
      testSpecId: ids.testSpecId,
      testBankId: ids.testBankId,
      root,
      members: numbers.map((number) => ({
        artifactId: `item-${number}`,
        artifactVersionId: `item-${number}@1`,
        qtiIdentifier: `qti-${number}`,
        caseGuids: ['00000000-0000-4000-9000-000000000001', '00000000-0000-4000-9000-000000000002'],
        kcGuids: [`00000000-0000-4000-8000-00000000000${number % 2}`, '00000000-0000-4000-8000-000000000009'],
      })),
    },
    root: {
      tenantId: TENANT,
      ...root,
      type: 'assessment-test',
      itemRefs: numbers.map((number) => ({
        identifier: `qti-${number}`,
        artifactVersionId: `item-${number}@1`,
      })),
    },
    anchors: {
      tenantId: TENANT,
      tableVersion: '2',
      sourcePoints: [
        {
          source: 'vendor',
          checksum: 'c'.repeat(64),
          licenseScope: 'research',
          sourceRef: 'ref-1',
        },
        {
          source: 'another vendor',
          checksum: 'd'.repeat(64),
          licenseScope: 'research',
          sourceRef: 'ref-0',
        },
      ],
    },
    items: Object.fromEntries(
      [
        '00000000-0000-4000-8000-000000000000',
        '00000000-0000-4000-8000-000000000001',
        '00000000-0000-4000-8000-000000000009',
      ].map((guid) => [guid, cfItemOf(guid)]),
    ),
  };
}

function cfItemOf(guid: string): CfItem {
  return {
    identifier: guid,
    uri: `https://case.example/items/${guid}`,
    fullStatement: 'statement',
    lastChangeDateTime: '2026-01-01T00:00:00Z',
    CFDocumentURI: { title: 'framework', identifier: FRAMEWORK, uri: 'https://case.example/framework' },
  };
}

export type Row = keyof typeof operations;

/** What a test changes in one answer. */
export interface Override {
  readonly value?: unknown;
  readonly etag?: string | undefined;
}

export interface Observed {
  readonly calls: {
    readonly row: string;
    readonly depth: number;
    readonly path: Readonly<Record<string, string>>;
  }[];
}

/**
 * A platform over a world. `change(row, nth)` may replace the nth answer (from 1) of a row. Every call takes one turn of the event loop, so
 * that `depth` says how many calls had to end before this one began.
 */
export function platformOf(
  world: World,
  change: (row: Row, nth: number) => Override | undefined = () => undefined,
): Platform & Observed {
  const calls: { row: string; depth: number; path: Readonly<Record<string, string>> }[] = [];
  const counts = new Map<Row, number>();
  let turn = 1;
  const answers: Partial<Record<Row, (path: Readonly<Record<string, string>>) => unknown>> = {
    readTestSpec: () => world.blueprint,
    validateAdaptiveBankIdentity: () => world.bank,
    readAdaptivePoolManifest: () => world.manifest,
    readAdaptivePoolRoot: () => world.root,
    resolveMapping: (path) => world.items[path['sourcedId'] ?? ''],
    verifyAnchor: () => world.anchors,
  };
  async function call(
    operation: UpstreamOperation,
    { path = {} }: { readonly path?: Readonly<Record<string, string>> },
  ): Promise<Result<UpstreamAnswer<unknown>, UpstreamFault>> {
    const row = (Object.keys(operations) as Row[]).find((name) => operations[name] === operation);
    if (row === undefined) throw new TypeError(`${operation.id}: not a row`);
    const nth = (counts.get(row) ?? 0) + 1;
    counts.set(row, nth);
    const depth = turn;
    calls.push({ row, depth, path });
    await new Promise(setImmediate);
    turn = Math.max(turn, depth + 1);
    const override = change(row, nth) ?? {};
    const value = 'value' in override ? override.value : answers[row]?.(path);
    if (value === undefined)
      return err({
        kind: 'not-found',
        service: operation.service,
        operation: operation.id,
        transient: false,
      });
    const text = JSON.stringify(value);
    return ok({
      value,
      etag: 'etag' in override ? override.etag : `"${sha256Hex(text).slice(0, 16)}"`,
      status: 200,
      upstreamRequestId: `up-${row}`,
      bodyHash: sha256Hex(text),
    });
  }
  return {
    tenantId: TENANT,
    // SAFETY: the world's members have the types of the rows' answers, and what a test overrides is its own business.
    call: call as Platform['call'],
    revalidate: ({ id }) => Promise.reject(new TypeError(`${id}: a pool is read, not revalidated`)),
    pause: () => Promise.resolve(),
    trace: () => [],
    calls,
  };
}
