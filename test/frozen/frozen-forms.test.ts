import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { compactDecrypt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { adaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { receiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import { routes } from '#shared/contract/routes.ts';
import { controlRecord } from '#shared/idempotency/control-record.ts';
import {
  bundleRef,
  evidenceRecord,
  openRun,
  orderRecord,
  runPins,
  runRecord,
  runSummary,
} from '#shared/improvement/records.ts';
import { parsePartitionKey, recordKinds, type RecordKey } from '#shared/records/record-key.ts';
import { calibrationParameters } from '#shared/records/records.ts';
import { releaseManifest, type ReleaseManifest } from '#shared/release/manifest.ts';
import { flagValues } from '#shared/release/release-state.ts';
import { releaseColumns } from '#shared/stores/release-state-table.ts';
import { keyColumns } from '#shared/stores/settings-table.ts';
import { proofReceipt } from '#ops/proof/receipt.ts';
import { startTestAws, type TestAws } from '#test/support/aws.ts';
import { signingInput } from '#ops/gates/sign-manifest.ts';
import type { FrozenForms, FrozenItem, Stores } from './forms.ts';
import { missingExamples } from './missing-examples.ts';
import { openForms, readers, readForm, type DecodedForms } from './read.ts';
import { versionOf, versions, writeForms } from './write.ts';

const newest = versions.at(-1) ?? '';

/** The methods of stores, as `<store>.<method>`: those that were called, and all. */
const called = new Set<string>();
const every = new Set<string>();

/** The stores, noting what of them is used. */
function observe(stores: Stores): Stores {
  for (const [store, methods] of Object.entries(stores) as [
    string,
    Record<string, (...given: unknown[]) => unknown>,
  ][])
    for (const [name, method] of Object.entries(methods)) {
      every.add(`${store}.${name}`);
      methods[name] = (...given) => {
        called.add(`${store}.${name}`);
        return method(...given);
      };
    }
  return stores;
}

describe.each(versions)('what was stored and sealed as %s', (version) => {
  const { forms, decoded } = versionOf(version);
  let aws: TestAws;
  let reading: Awaited<ReturnType<typeof openForms>>;
  beforeAll(async () => {
    aws = await startTestAws();
    reading = await openForms(aws, forms);
  });
  afterAll(() => aws.close());

  it.each(Object.keys(readers))('is read to the last member: %s', async (name) => {
    expect(decoded).toHaveProperty([name]);
    expect(await readForm(name, reading)).toStrictEqual(decoded[name]);
  });
});

describe('the newest frozen forms', () => {
  const base = versionOf(newest);
  const { forms, decoded } = base;
  let aws: TestAws;
  let written: FrozenForms;
  beforeAll(async () => {
    aws = await startTestAws();
    // An ECDSA signature is another one every time; the frozen one is good while the same is signed.
    const [jws = ''] = Object.entries(forms.objects).flatMap(([key, { text }]) =>
      key.startsWith('release.manifests/') ? [text] : [],
    );
    const sign = (manifest: ReleaseManifest) => `${signingInput(manifest)}.${jws.split('.')[2] ?? ''}`;
    written = await writeForms(aws, base, { key: forms.keys.releaseKey, sign }, observe);
  });
  afterAll(() => aws.close());

  it.each(Object.keys(forms) as (keyof FrozenForms)[])('are what the code writes now: %s', async (part) => {
    expect(
      await comparable(written, part),
      `the code writes ${part} in a form other than that of test/frozen/${newest}: first release a version that reads the new form, then the one that writes it (docs/change.md, “A stored or sealed form”)`,
    ).toStrictEqual(await comparable(forms, part));
  });

  it('were written and are read through every method of every store', async () => {
    const double = await startTestAws();
    const reading = await openForms(double, forms, observe);
    for (const name of Object.keys(readers)) await readForm(name, reading);
    await double.close();
    expect(called).toEqual(every);
  });

  it('have every kind of sealed token and signed text that the code names', () => {
    const named = sourcesOf('functions', 'shared').flatMap((text) => text.match(/[\w-]+\+jw[es]\b/g) ?? []);
    const tokens = [...tokensIn(forms.tokens), ...Object.values(forms.objects).map(({ text }) => text)];
    const frozen = tokens.map((token) => headerOf(token)?.typ).filter((typ) => typ !== undefined);
    expect([...new Set(frozen)].toSorted()).toEqual([...new Set(named)].toSorted());
  });

  it.each(Object.keys(readers))(
    'have an example of each member of every union and enumeration: %s',
    (name) => {
      const missing = schemasOf(decoded)[name as keyof DecodedForms].flatMap(([form, schema, examples]) =>
        missingExamples(schema, examples).map((member) => `${form}${member}`),
      );
      expect(
        missing.filter((member) => !Object.keys(without).some((pattern) => new RegExp(pattern).test(member))),
        'no reader is fed with these members: test/frozen/write.ts has to write an example of each, before test/frozen/freeze.ts',
      ).toEqual([]);
    },
  );

  it('lack no other examples than those for which there is a reason', () => {
    const missing = Object.values(schemasOf(decoded)).flatMap((forms) =>
      forms.flatMap(([form, schema, examples]) =>
        missingExamples(schema, examples).map((member) => `${form}${member}`),
      ),
    );
    const idle = Object.keys(without).filter(
      (pattern) => !missing.some((member) => new RegExp(pattern).test(member)),
    );
    expect(idle).toEqual([]);
  });

  it('have a cursor of every list', () => {
    const lists = routes.filter(({ request }) => 'cursor' in request.query.shape);
    expect(new Set(Object.values(forms.tokens.cursors).map(({ list }) => list))).toEqual(
      new Set(lists.map(({ operationId }) => operationId)),
    );
  });

  it('have every kind of record, with and without a lifecycle, as text, compressed and in parts', () => {
    const items = forms.items.records.map(({ pk, sk, ...columns }) => ({
      kind: parsePartitionKey(textOf(pk))?.kind,
      form: [textOf(sk).replace(/#.*/, ''), ...Object.keys(columns).toSorted()].join(' '),
    }));
    expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(recordKinds));
    expect([...new Set(items.map(({ form }) => form))].toSorted()).toEqual([
      'document document',
      'document document parametersHash parametersParts',
      'document documentGzip parametersHash parametersParts',
      'lifecycle deprecatedAt',
      'lifecycle deprecatedAt sunsetAt',
      'parameters content',
    ]);
    expect(forms.items.records.filter(({ sk }) => textOf(sk).startsWith('parameters#'))).toHaveLength(9);
  });
});

/**
 * The forms that have a schema, by their reader: their name, the schema and the examples that the reader made of the frozen forms. A reader
 * whose forms are texts and names alone has none.
 */
function schemasOf(decoded: DecodedForms): {
  readonly [Name in keyof DecodedForms]: readonly (readonly [form: string, z.ZodType, readonly unknown[]])[];
} {
  const runs = Object.values(decoded.improvement.runs);
  const evidence = runs.flatMap((run) => Object.values(run.evidence));
  // SAFETY: each kind of record is read with the member that is asked for.
  const recordsOf = (kind: RecordKey['kind'], member: string) =>
    Object.values(decoded.records[kind] ?? {}).map(
      (read) => (read as Readonly<Record<string, unknown>>)[member],
    );
  return {
    continuation: [
      ['state', adaptiveRunState, Object.values(decoded.continuation).map(({ state }) => state)],
    ],
    cursor: [],
    'receipt-link': [['link', bundleRef, Object.values(decoded['receipt-link'])]],
    idempotency: [],
    pseudonym: [],
    control: [['record', controlRecord, Object.values(decoded.control)]],
    settings: [
      ['key', keyColumns, Object.values(decoded.settings.keys).flatMap(({ records }) => records)],
      ['release', releaseColumns, [decoded.settings.release]],
      ['manifest', releaseManifest, [decoded.settings.release.manifest]],
    ],
    records: [
      ['policy', selectionPolicy, recordsOf('policy', 'document')],
      ['calibration', scaleCalibration, recordsOf('calibration', 'document')],
      ['parameters', calibrationParameters, recordsOf('calibration', 'parameters')],
      ['analysis policy', analysisPolicy, recordsOf('analysis-policy', 'policy')],
    ],
    improvement: [
      ['run', runRecord, runs.map(({ run }) => run)],
      ['pins', runPins, runs.map(({ run }) => run?.pins)],
      ['receipt of a run', bundleRef, runs.map(({ run }) => run?.receipt)],
      ['summary', runSummary, runs.map(({ summary }) => summary)],
      ['evidence', evidenceRecord, evidence],
      ['receipt of evidence', bundleRef, evidence.map((one) => one?.receipt)],
      ['order', orderRecord, runs.flatMap(({ orders }) => orders)],
      ['open run', openRun, decoded.improvement.open],
    ],
    'receipt bundles': [
      ['receipt', receiptBundle, Object.values(decoded['receipt bundles']).map(({ receipt }) => receipt)],
    ],
    'objects of a release': [],
    'parameters of a release': [
      ['flags', z.record(z.string(), z.enum(flagValues)), [decoded['parameters of a release'].flags]],
    ],
    'retired keys': [],
    'leaked keys': [],
    'purposes with keys': [],
    'service profiles': [],
    'stored profiles': [],
    'messages of the queue': [],
    'files of commands': [['proof', proofReceipt, Object.values(decoded['files of commands'])]],
    'derived names': [],
  };
}

/** Members of which the forms have no example, as patterns, with the reason why. */
const without: Readonly<Record<string, string>> = {
  '^release/isolationProof/outcome: rehearsed$': 'a stage has one release, and any outcome is read alike',
  '^receipt/formatVersion: 1$': 'only version 0.1.0 wrote it: v1 has it',
  '^receipt/.*/service: (analytics|blueprint)$':
    'one schema names both owners, and at each place there is one',
  '^receipt/metrics/.*reasonCode: receiver_unavailable$': 'pins have it, and a receipt repeats them',
  '^receipt/sources/.*/mediaType: application/zip$': 'the receipt of a source is JSON',
  '^proof/tenants/': 'the first tenant is A, the second B',
};

/**
 * What the readers of a release refuse of the newest forms, or read differently from today's readers, with the reason why that is safe.
 * Version 0.1.0 was never deployed to a stage, so its readers need not have come before their writers.
 */
const knownDifferences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    'continuation: refused': 'seals the run tag, the clock of the time budget and the cause of the stop',
    'pseudonym: runTag': 'the run tag is new',
    'pseudonym: learner': 'one pseudonym per learner and bank is new',
    'settings: leaked': 'the reason of a retirement is new, and a reader that ignores it loses nothing',
    'settings: isolationProof': 'the isolation proof is new, and a reader that ignores it loses nothing',
    'records: refused': 'policies have priorUse, selectionTarget and exposure tables',
    'improvement: refused': 'pins name the rules and what was judged',
    'receipt bundles: receipt': 'formats 2 and 3',
    'receipt bundles: failures': 'formats 2 and 3',
    'service profiles: takesKcComponents':
      'the provisioned fact is new, and a reader that ignores it loses nothing',
  },
};

describe.each(versions.filter((version) => versionOf(version).isReleased))(
  'the readers of the release that wrote %s',
  (version) => {
    it('read the newest forms as today’s readers do, except for what is known', async () => {
      const { forms, decoded } = versionOf(newest);
      // SAFETY: freeze-readers.ts bundled the file of this name.
      const old = (await import(`./${version}/readers.mjs`)) as {
        readonly openForms: typeof openForms;
        readonly readForm: typeof readForm;
        readonly readers: typeof readers;
      };
      const aws = await startTestAws();
      const reading = await old.openForms(aws, forms);
      const differences = new Set<string>();
      for (const name of Object.keys(old.readers)) {
        const read = await old.readForm(name, reading).catch(() => 'refused');
        const found = read === 'refused' ? [read] : differingMembers(decoded[name], read);
        for (const member of found) differences.add(`${name}: ${member}`);
      }
      await aws.close();
      expect(
        [...differences].toSorted(),
        `an older version beside this one could not read what this one writes: first release a version that reads the new form, then the one that writes it (docs/change.md, “A stored or sealed form”)`,
      ).toEqual(Object.keys(knownDifferences[version] ?? {}).toSorted());
    });
  },
);

/** The names of the members that differ, without those of the objects that contain them. */
function differingMembers(one: unknown, other: unknown, name = ''): readonly string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return [name];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) =>
    differingMembers(
      (one as Readonly<Record<string, unknown>>)[key],
      (other as Readonly<Record<string, unknown>>)[key],
      /^\d+$/.test(key) ? name : key,
    ),
  );
}

/** A part of the forms without what is another one every time: nonces of tokens, and the bytes in which gzip packs a text. */
function comparable(forms: FrozenForms, part: keyof FrozenForms): unknown {
  if (part === 'items')
    return Object.fromEntries(Object.entries(forms.items).map(([table, items]) => [table, unpacked(items)]));
  return part === 'tokens' ? withContents(forms, forms.tokens) : JSON.parse(JSON.stringify(forms[part]));
}

/** A value in which every token is replaced by what it holds. */
async function withContents(forms: FrozenForms, value: unknown): Promise<unknown> {
  if (typeof value === 'string') {
    const [token] = tokensIn(value);
    return token === undefined ? value : [value.replace(token, ''), await contentOf(forms, token)];
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = await Promise.all(
    Object.entries(value).map(async ([name, member]) => [name, await withContents(forms, member)] as const),
  );
  return Object.fromEntries(members);
}

/** Items with their gzip as text; parts of one text are put together. */
function unpacked(items: readonly FrozenItem[]): unknown {
  const texts = new Map<string, Buffer>();
  const rest = items.map((item) => {
    const column = ['pins', 'content', 'documentGzip'].find((name) => item[name] !== undefined);
    if (column === undefined) return item;
    const name = `${textOf(item['pk'])} ${column}`;
    texts.set(
      name,
      Buffer.concat([texts.get(name) ?? Buffer.alloc(0), bytesOf(item[column]) ?? Buffer.alloc(0)]),
    );
    return { ...item, [column]: 'packed' };
  });
  return { rest, texts: [...texts].map(([name, bytes]) => [name, gunzipSync(bytes).toString()]) };
}

function bytesOf(value: unknown): Buffer | undefined {
  const text = (value as { readonly B?: string }).B;
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

function textOf(value: unknown): string {
  return (value as { readonly S?: string } | undefined)?.S ?? '';
}

/** Every compact JWE among tokens and links. */
function tokensIn(tokens: FrozenForms['tokens'] | string): readonly string[] {
  return JSON.stringify(tokens).match(/[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/g) ?? [];
}

function headerOf(token: string): { readonly typ?: string; readonly kid?: string } | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
      readonly typ?: string;
    };
  } catch {
    return undefined;
  }
}

/** A token's header and what it holds, opened by the key ring's own key without the product's readers. */
async function contentOf({ keys }: FrozenForms, token: string): Promise<unknown> {
  const header = headerOf(token);
  for (const { context, key } of keys.dataKeys.filter(({ context }) => context['kid'] === header?.kid)) {
    const opened = await compactDecrypt(token, Buffer.from(key, 'base64')).catch(() => undefined);
    if (opened !== undefined)
      return [header, context['purpose'], JSON.parse(new TextDecoder().decode(opened.plaintext)) as unknown];
  }
  throw new Error('no key opens the token');
}

/** The production sources of folders. */
function sourcesOf(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(`${import.meta.dirname}/../../${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => readFileSync(`${import.meta.dirname}/../../${folder}/${path}`, 'utf8')),
  );
}
