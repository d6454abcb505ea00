import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { compactDecrypt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopCause } from '#functions/mastery/continuation/run-state.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { runMode } from '#shared/contract/mastery/adaptive-run.ts';
import { orderStatus } from '#shared/contract/reports/revision-order.ts';
import { controlRecord } from '#shared/idempotency/control-record.ts';
import { improvementRunStates } from '#shared/improvement/records.ts';
import type { ReceiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import type { KeyState } from '#shared/keys/key-ring.ts';
import type { RecordKey } from '#shared/records/record-key.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import { startTestAws } from '#test/support/aws.ts';
import type { TestAws } from '#test/support/aws.ts';
import { signingInput } from '#ops/gates/sign-manifest.ts';
import type { FrozenForms, FrozenItem, Stores } from './forms.ts';
import { openForms, readers, readForm } from './read.ts';
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

  // One entry for each value of a type: another one does not compile until it stands here, and then has to be frozen.
  it.each([
    ['adaptive run modes', 'continuation', runMode.options, 'runMode'],
    ['stop reasons', 'continuation', stopReason.options, 'stopReason'],
    ['stop causes', 'continuation', stopCause.options, 'stopCause'],
    ['control states', 'control', controlRecord.shape.state.options, 'state'],
    ['key states', 'settings', everyOf<KeyState>({ pending: 0, active: 0, opening: 0, retired: 0 }), 'state'],
    ['improvement run states', 'improvement', improvementRunStates, 'state'],
    ['order statuses', 'improvement', orderStatus.options, 'status'],
    [
      'receipt bundles',
      'receipt bundles',
      everyOf<ReceiptBundle['object']>({ source_receipt: 0, run_receipt: 0 }),
      'object',
    ],
  ] as const)('have all %s', (_, section, values, member) => {
    const found = membersOf(decoded[section], member);
    expect(values.filter((value) => !found.has(value))).toEqual([]);
  });

  it('have every kind of record, with and without a lifecycle, as text, compressed and in parts', () => {
    const items = forms.items.records.map(({ pk, sk, ...columns }) => ({
      kind: /^(?:system|tenant#[^#]*)#([^#]*)/.exec(textOf(pk))?.[1],
      form: [textOf(sk).replace(/#.*/, ''), ...Object.keys(columns)].join(' '),
    }));
    expect(new Set(items.map(({ kind }) => kind))).toEqual(
      new Set(everyOf<RecordKey['kind']>({ policy: 0, calibration: 0, 'analysis-policy': 0 })),
    );
    expect([...new Set(items.map(({ form }) => form))].toSorted()).toEqual([
      'document document',
      'document document parametersHash parametersParts',
      'document documentGzip parametersHash parametersParts',
      'lifecycle deprecatedAt',
      'lifecycle deprecatedAt sunsetAt',
      'parameters content',
    ]);
    expect(forms.items.records.filter(({ sk }) => textOf(sk).startsWith('parameters#'))).toHaveLength(5);
  });
});

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
    'receipt bundles: receipt': 'format 2',
    'receipt bundles: failures': 'format 2',
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

function everyOf<T extends string>(values: Readonly<Record<T, 0>>): readonly T[] {
  return Object.keys(values) as T[];
}

/** All values of members of a name, at any depth. */
function membersOf(value: unknown, name: string): ReadonlySet<unknown> {
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(
    Object.entries(value).flatMap(([key, member]) => [
      ...(key === name ? [member as unknown] : []),
      ...membersOf(member, name),
    ]),
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
  for (const { context, key } of keys.dataKeys.filter(({ context: { kid } }) => kid === header?.kid)) {
    const opened = await compactDecrypt(token, Buffer.from(key, 'base64')).catch(() => undefined);
    if (opened !== undefined)
      return [header, context.purpose, JSON.parse(new TextDecoder().decode(opened.plaintext)) as unknown];
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
