import { DeleteItemCommand, ListTablesCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { changeKeys, initKeyRing } from '#shared/keys/administration.ts';
import { planReplace, planRetireNow } from '#shared/keys/key-states.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import {
  localBucketName,
  localCredentials,
  localKeyAlias,
  localRegion,
  localStage,
  localTableName,
} from '#shared/stage/local-stage.ts';
import { makeS3 } from '#shared/stores/make-clients.ts';
import { readGateParameter } from '#shared/stores/gate-parameters.ts';
import { createImprovementTable } from '#shared/stores/improvement-table.ts';
import { createDataKeyMaker, createDataKeyOpener } from '#shared/stores/kms.ts';
import { createObjectVersions } from '#shared/stores/object-versions.ts';
import type { ObjectVersions, VersionedObject } from '#shared/stores/object-versions.ts';
import { keepProof, placeOfProof, readObject } from '#shared/stores/proof-objects.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { startTestAws, type TestAws } from '#test/support/aws.ts';
import { createCompareImprovement } from '#ops/restore/compare-improvement.ts';
import { compareRecords } from '#ops/restore/compare-records.ts';
import { createCompareSettings } from '#ops/restore/compare-settings.ts';
import type { Compare } from '#ops/restore/finding.ts';
import { attributesOf, type Item, type ItemKey } from '#shared/stores/dynamo.ts';
import { createTableBackup } from '#shared/stores/table-backup.ts';
import { checkAppliedManifest } from '#ops/restore/check-applied-manifest.ts';
import { openReport } from '#ops/restore/report.ts';
import { restoreReceipts } from '#ops/restore/restore-receipts.ts';
import { restoreTable } from '#ops/restore/restore-table.ts';
import { ephemeralKey, rehearse } from '#local/stack/rehearsal.ts';
import { createSigner, signedManifest } from '#test/support/release.ts';

// The drill: fill a store, damage it, restore it from the emulator's journal.

const START = Date.UTC(2026, 0, 31, 9, 30);
const HOUR = 3_600_000;

let test: TestAws;
let now: number;
let lines: string[];
/** Called when the second table is there and nothing has been copied yet. */
let beforeCopy: () => Promise<unknown>;
beforeEach(async () => {
  now = START;
  lines = [];
  beforeCopy = () => Promise.resolve();
  test = await startTestAws({ now: () => now });
});
afterEach(() => test.close());

type Store = 'records' | 'settings' | 'improvement';

/** An item of a table with partitions. */
type Held = Item & ItemKey;
async function itemsOf(store: Store): Promise<readonly Held[]> {
  const { Items = [] } = await test.dynamo.send(new ScanCommand({ TableName: localTableName(store) }));
  return Items.map((one) => unmarshall(one) as Held);
}
const put = (store: Store, given: Item) =>
  test.dynamo.send(new PutItemCommand({ TableName: localTableName(store), Item: attributesOf(given) }));
const erase = ({ pk, sk }: Held, store: Store) =>
  test.damaging.send(
    new DeleteItemCommand({ TableName: localTableName(store), Key: attributesOf({ pk, sk }) }),
  );
async function item(store: Store, pk: RegExp, sk: string): Promise<Held> {
  const found = (await itemsOf(store)).find((each) => pk.test(each.pk) && each.sk === sk);
  if (found === undefined) throw new Error(`no item ${sk}`);
  return found;
}

function compareFor(store: Store): Compare {
  if (store === 'records') return compareRecords;
  if (store === 'improvement')
    return createCompareImprovement((key) => createTableBackup(test.dynamo, localTableName(store)).find(key));
  const notes = createKeyNotes(test.ssm, localStage);
  return createCompareSettings({ kms: createDataKeyOpener(test.kms), stage: localStage, notes, now });
}

/** Restores an hour after the damage, to the second before it. */
async function restore(
  store: Store,
  { to = now - 1000, isDryRun = false, from = undefined as string | undefined } = {},
): Promise<Result<undefined, string>> {
  now += HOUR;
  const compare = compareFor(store);
  let isFirst = true;
  const outcome = await restoreTable(
    {
      backup: createTableBackup(test.dynamo, localTableName(store)),
      table: localTableName(store),
      source: from === undefined ? { to } : { table: from },
      isDryRun,
      print: (line) => lines.push(line),
      pause: () => Promise.resolve(),
    },
    async (...partition) => {
      const findings = await compare(...partition);
      if (isFirst) await beforeCopy();
      isFirst = false;
      return findings;
    },
  );
  // A table that is deleted is listed for a while.
  await expect
    .poll(async () => (await test.dynamo.send(new ListTablesCommand({}))).TableNames)
    .not.toContainEqual(expect.stringContaining('-restored-'));
  return outcome;
}
const said = (pattern: RegExp): readonly string[] => lines.filter((line) => pattern.test(line));

async function release(id: string): Promise<void> {
  const content = { id, name: 'calibration' };
  const text = canonicalJson({ of: id, filler: 'x'.repeat(100) });
  await createRecordsTable(test.dynamo, localTableName('records')).writeOnce(
    { kind: 'calibration', id, tenantId: 'aurora' },
    {
      document: canonicalJson({ ...content, checksum: documentChecksum(content) }),
      parameters: { hash: sha256Hex(text), text },
    },
  );
}
/** A document whose bytes are no longer those of its checksum. */
async function damageDocument(id: string): Promise<void> {
  const document = await item('records', new RegExp(`#${id}$`), 'document');
  await put('records', { ...document, document: String(document['document']).replace('calibration', 'x') });
}

describe('a restore of the records', () => {
  it('brings back what was deleted or damaged, and keeps what is newer', async () => {
    for (const id of ['deleted', 'damaged', 'parts', 'kept']) await release(id);
    const before = await itemsOf('records');
    now += 1000;
    for (const each of before) {
      if (/#deleted$/.test(each.pk)) await erase(each, 'records');
      if (/#parts$/.test(each.pk) && each['content'] !== undefined)
        await put('records', { ...each, content: Uint8Array.of(1, 2, 3) });
    }
    await damageDocument('damaged');
    await release('newer');
    const damaged = await itemsOf('records');
    expect(await restore('records', { isDryRun: true, to: START })).toStrictEqual(ok(undefined));
    expect(await itemsOf('records')).toStrictEqual(damaged);
    expect(await restore('records', { to: START })).toStrictEqual(ok(undefined));
    expect(said(/^missing .*#deleted: restored/)).toHaveLength(1);
    expect(said(/^damaged .*#(damaged|parts): restored/)).toHaveLength(2);
    expect(await itemsOf('records')).toEqual(expect.arrayContaining([...before]));
    expect((await itemsOf('records')).filter((each) => /#newer$/.test(each.pk))).toHaveLength(2);
    expect(await restore('records', { to: START })).toStrictEqual(ok(undefined));
    expect(lines).toContain('Compared 5 partitions: 0 restored, 0 not repaired.');
  });

  it('notices a record that is damaged in the backup, names it and does not copy it', async () => {
    await release('bad');
    await release('good');
    await damageDocument('bad');
    now += 1000;
    for (const each of await itemsOf('records')) await erase(each, 'records');
    expect(await restore('records')).toMatchObject({ ok: false });
    expect(said(/#bad: its copy in the backup is damaged: not copied/)).toHaveLength(1);
    expect((await itemsOf('records')).every((each) => /#good$/.test(each.pk))).toBe(true);
  });

  it('never writes over what was written while it compared', async () => {
    await release('raced');
    const document = await item('records', /#raced$/, 'document');
    now += 1000;
    await erase(document, 'records');
    const newer = { ...document, document: 'released again' };
    beforeCopy = () => put('records', newer);
    expect(await restore('records')).toMatchObject({ ok: false });
    expect(await item('records', /#raced$/, 'document')).toStrictEqual(newer);
  });

  it('restores from a table that other means have brought back, and keeps that one', async () => {
    for (const id of ['good', 'bad']) await release(id);
    await damageDocument('bad');
    const before = await itemsOf('records');
    now += HOUR;
    const from = 'records-from-elsewhere';
    const backup = createTableBackup(test.dynamo, localTableName('records'));
    await backup.restoreInto(from, START);
    while (!(await backup.isActive(from)));
    for (const each of before) await erase(each, 'records');
    expect(await restore('records', { from })).toMatchObject({
      error: '1 not repaired: see the lines above',
    });
    expect(await itemsOf('records')).toStrictEqual(before.filter((each) => /#good$/.test(each.pk)));
    expect((await test.dynamo.send(new ListTablesCommand({}))).TableNames).toContain(from);
  });

  it('says which times can be restored', async () => {
    expect(await restore('records', { to: START - 1000 })).toMatchObject({
      error:
        '--to is outside of what can be restored of local-records: 2026-01-31T09:30:00.000Z to 2026-01-31T10:25:00.000Z',
    });
  });
});

describe('a restore of the settings', () => {
  const administration = () => ({
    settings: noteChanges(
      createWritableKeySettings(test.dynamo, localTableName('settings')),
      createKeyNotes(test.ssm, localStage),
    ),
    kms: createDataKeyMaker(test.kms, localKeyAlias),
    stage: localStage,
    clock: () => now,
  });
  const releaseState = { pk: 'release', sk: 'state', appliedAt: 'then' };
  const stateOf = async (kid: string) => (await item('settings', /^key#continuation$/, kid))['state'];
  const eraseAll = async () => {
    for (const each of await itemsOf('settings')) await erase(each, 'settings');
  };

  it('brings back a lost ring, but no key that was retired since, no service profile and no state of the gates', async () => {
    await initKeyRing(administration());
    await put('settings', releaseState);
    await put('settings', { pk: 'profile#dGVuYW50', sk: 'profile', wrappedCredential: Uint8Array.of(1) });
    const before = await itemsOf('settings');
    now += 1000;
    await changeKeys(administration(), 'cursor', planReplace);
    await changeKeys(administration(), 'cursor', planRetireNow('k1'));
    await eraseAll();
    expect(await restore('settings', { to: START })).toStrictEqual(ok(undefined));
    const isBack = (each: Held) => !['release', 'profile#dGVuYW50', 'key#cursor'].includes(each.pk);
    expect((await itemsOf('settings')).filter(isBack)).toStrictEqual(before.filter(isBack));
    expect(said(/^withheld .*key cursor k1: it leaked and was retired/)).toHaveLength(1);
    // What is left of it unwraps nothing, and keeps its number taken.
    const left = await item('settings', /^key#cursor$/, 'k1');
    expect(left).toMatchObject({ state: 'retired', leaked: true });
    expect(left).not.toHaveProperty('wrappedKey');
    expect(said(/^withheld .*release state: .*gates -- apply/)).toHaveLength(1);
    expect(said(/^withheld .*profile#dGVuYW50 profile: .*release -- profile --all/)).toHaveLength(1);
    const withheld = (await itemsOf('settings')).filter(({ pk }) => pk === 'profile#dGVuYW50');
    expect(withheld).toStrictEqual([]);
    expect(await restore('settings', { to: START })).toStrictEqual(ok(undefined));
    expect(said(/restored, 0 not repaired/).at(-1)).toMatch(/: 0 restored/);
    const [cursor] = await initKeyRing(administration(), ['cursor']);
    expect(cursor?.done).toMatchObject([{ kid: 'k3', state: 'active' }]);
  });

  it('repairs only the wrapped key of a damaged one, and lets a replaced key open only', async () => {
    await initKeyRing(administration());
    const first = await item('settings', /^key#continuation$/, 'k1');
    now += 1000;
    await changeKeys(administration(), 'continuation', planReplace);
    const opening = await item('settings', /^key#continuation$/, 'k1');
    await put('settings', { ...opening, wrappedKey: Uint8Array.of(1, 2, 3) });
    expect(await restore('settings', { to: START })).toStrictEqual(ok(undefined));
    expect(await item('settings', /^key#continuation$/, 'k1')).toStrictEqual(opening);
    await erase(first, 'settings');
    expect(await restore('settings', { to: START })).toStrictEqual(ok(undefined));
    expect(await stateOf('k1')).toBe('opening');
    expect(await stateOf('k2')).toBe('active');
  });

  it('does not copy a key that KMS does not unwrap in its place', async () => {
    await initKeyRing(administration());
    const [mine, other] = [
      await item('settings', /^key#cursor$/, 'k1'),
      await item('settings', /^key#pseudonym$/, 'k1'),
    ];
    await put('settings', { ...mine, wrappedKey: other['wrappedKey']! });
    now += 1000;
    await erase(mine, 'settings');
    expect(await restore('settings')).toMatchObject({ ok: false });
    expect(said(/key cursor k1: its copy in the backup is damaged/)).toHaveLength(1);
    await expect(item('settings', /^key#cursor$/, 'k1')).rejects.toThrow('no item');
  });
});

describe('a restore of the improvement runs', () => {
  const digest = sha256Hex('x');
  const pins = {
    contentTestSpecId: 'spec-1',
    contentTestSpecVersion: '4',
    analysisPolicy: { owner: 'tenant', id: 'policy', version: '2', checksum: digest },
    formulaVersion: 'alignment-v1',
    sourceSet: { ref: 'set-1', sha256: digest },
    metrics: [],
    sources: [],
  } as const;
  const store = () => createImprovementTable(test.dynamo, localTableName('improvement'), processRuntime());
  const create = (improvementRunId: string) =>
    store().createRun({
      tenantId: 'aurora',
      improvementRunId,
      administrationId: 'a',
      pins,
      createdAt: START,
    });
  const open = async (improvementRunId: string) => {
    const run = await create(improvementRunId);
    const order = {
      revisionOrderId: `of-${improvementRunId}`,
      evidence: 'source:act',
      targetModule: 'bank',
    } as const;
    await store().openOrder(run, { ...order, lineage: sha256Hex(improvementRunId) }, START);
    return run;
  };

  it('brings back runs, orders and lineages; a run that has ended since stays so and is not listed again', async () => {
    await open('lost');
    await open('damaged');
    const ended = await open('ended');
    const before = await itemsOf('improvement');
    now += 1000;
    const done = { state: 'failed', completedAt: now } as const;
    await store().moveRun(ended, done, now);
    for (const each of before) {
      const isOf = (id: string) => canonicalJson(each).includes(id);
      if (isOf('lost') || /^lineage/.test(each.pk)) await erase(each, 'improvement');
      if (/damaged/.test(each.pk)) await put('improvement', { pk: each.pk, sk: each.sk, state: 'x' });
    }
    expect(await restore('improvement', { to: START })).toStrictEqual(ok(undefined));
    const now2 = await itemsOf('improvement');
    const isOfEnded = (each: Item) => canonicalJson(each).includes('"ended"');
    expect(now2.filter((each) => !isOfEnded(each))).toStrictEqual(before.filter((each) => !isOfEnded(each)));
    expect((await store().readRun(ended))?.state).toBe('failed');
    expect(now2.filter((each) => each.pk === 'open')).toHaveLength(2);
  });

  it('names an item that is damaged in the backup and does not copy it', async () => {
    await open('bad');
    const order = await item('improvement', /bad$/, '3-order#of-bad');
    await put('improvement', { ...order, status: 'unknown' });
    now += 1000;
    await erase(order, 'improvement');
    expect(await restore('improvement')).toMatchObject({ ok: false });
    expect(said(/3-order#of-bad in the backup: not copied/)).toHaveLength(1);
    await expect(item('improvement', /bad$/, '3-order#of-bad')).rejects.toThrow('no item');
  });
});

describe('a restore of the receipts', () => {
  // As functions and commands make theirs: it sends no checksum but the one that it is given.
  const s3 = () => makeS3({ endpoint: test.aws.url, region: localRegion, credentials: localCredentials });
  const objects = () => createObjectVersions(s3(), localBucketName);
  const receipts = () => createReceiptBucket(s3(), localBucketName);
  const bytesOf = (name: string) => Buffer.from(`the receipt ${name}`);
  const keyOf = (name: string) => `aurora/${sha256Hex(bytesOf(name))}`;
  const write = (...names: readonly string[]) =>
    Promise.all(
      names.map((name) =>
        receipts().put('aurora', {
          sha256: sha256Hex(bytesOf(name)),
          mediaType: 'application/json',
          bytes: bytesOf(name),
        }),
      ),
    );
  const at = (name: string) => ({ Bucket: localBucketName, Key: keyOf(name) });
  const head = (name: string) => test.s3.send(new HeadObjectCommand(at(name)));
  const hide = (name: string) => test.s3.send(new DeleteObjectCommand(at(name)));
  const damage = async (name: string, Body = 'other bytes') => {
    const { ETag: IfMatch } = await head(name);
    await test.s3.send(new PutObjectCommand({ ...at(name), Body, IfMatch }));
  };
  const listed = async () => {
    const all: VersionedObject[] = [];
    for await (const object of objects().objects()) all.push(object);
    return all;
  };
  const versionIds = async () => (await listed()).flatMap(({ versions }) => versions.map(({ id }) => id));
  const repair = (to: number, { isDryRun = false, over = objects(), key = createSigner().key } = {}) =>
    restoreReceipts({
      objects: over,
      bucket: localBucketName,
      to,
      isDryRun,
      trust: { stage: localStage, key: { ...key } },
      print: (line) => lines.push(line),
    });

  it('brings back what was deleted or overwritten, and loses no version [RP-211]', async () => {
    const names = Array.from({ length: 24 }, (_, n) => `number ${n}`);
    await write(...names);
    now += 60_000;
    await hide('number 3');
    await damage('number 5');
    await damage('number 6');
    await damage('number 6', 'damaged again');
    await damage('number 7');
    await hide('number 7');
    await write('newer');
    const before = await listed();
    const ids = await versionIds();
    expect(await repair(START, { isDryRun: true })).toStrictEqual(ok(undefined));
    expect(await listed()).toStrictEqual(before);
    now += 60_000;
    expect(await repair(START)).toStrictEqual(ok(undefined));
    for (const name of [...names, 'newer'])
      expect(await receipts().get('aurora', sha256Hex(bytesOf(name))), name).toEqual(
        new Uint8Array(bytesOf(name)),
      );
    for (const [state, name] of [
      ['missing', 'number 3'],
      ['damaged', 'number 5'],
      ['damaged', 'number 6'],
      ['missing', 'number 7'],
    ] as const)
      expect(lines).toContain(`${state}   ${keyOf(name)}: restored`);
    expect(await versionIds()).toEqual(expect.arrayContaining(ids));
    const { ContentType, ObjectLockRetainUntilDate } = await head('number 3');
    expect(ContentType).toBe('application/json');
    expect(ObjectLockRetainUntilDate).toEqual(new Date(START + 120_000 + 365 * 24 * HOUR));
    expect(await repair(START)).toStrictEqual(ok(undefined));
    expect(lines.at(-1)).toBe('Compared 25 objects: 0 restored, 0 not repaired.');
  });

  it('names an object without a sound version and never copies a damaged one', async () => {
    await write('kept');
    await test.s3.send(new PutObjectCommand({ ...at('bad'), Body: 'never sound', IfNoneMatch: '*' }));
    await test.s3.send(
      new PutObjectCommand({ Bucket: localBucketName, Key: 'aurora/readme', Body: 'x', IfNoneMatch: '*' }),
    );
    const damaged = (await listed()).find(({ key }) => key === keyOf('bad'))?.versions[0];
    now += 60_000;
    await hide('bad');
    await hide('kept');
    const ids = await versionIds();
    expect(await repair(START)).toMatchObject({ error: '1 not repaired: see the lines above' });
    expect(said(/^withheld /)).toStrictEqual(
      [
        expect.stringContaining(
          `${keyOf('bad')} version ${damaged!.id}: its bytes are not those of its name`,
        ),
        expect.stringContaining('aurora/readme: its name is not a digest'),
      ].sort(),
    );
    expect(lines).toContain(`missing   ${keyOf('bad')}: no former version has the bytes of its name`);
    expect(await versionIds()).toHaveLength(ids.length + 1);
  });

  it('brings back nothing that was deleted before the time, or written after it', async () => {
    await write('gone', 'back');
    now += 60_000;
    await hide('gone');
    await write('late');
    now += 60_000;
    await hide('late');
    expect(await repair(START + 60_000)).toStrictEqual(ok(undefined));
    expect(lines).toContain(`missing   ${keyOf('late')}: restored`);
    expect(said(/^withheld .*deleted before --to, at 2026-01-31T09:31/)).toHaveLength(1);
    await expect(head('gone')).rejects.toThrow();
    await hide('late');
    expect(await repair(START)).toMatchObject({ ok: false });
    expect(said(/newer than --to: choose 2026-01-31T09:31:00.000Z or later/)).toHaveLength(1);
  });

  it('never writes over what was written while it compared', async () => {
    await write('hidden', 'damaged');
    now += 60_000;
    await hide('hidden');
    await damage('damaged');
    const over: ObjectVersions = {
      ...objects(),
      async write(...args) {
        if (args[0] === keyOf('hidden')) await write('hidden');
        else await damage('damaged', 'written meanwhile');
        return objects().write(...args);
      },
    };
    const count = (await versionIds()).length;
    expect(await repair(START, { over })).toMatchObject({ ok: false });
    expect(said(/was written meanwhile and is kept/)).toHaveLength(2);
    expect(await versionIds()).toHaveLength(count + 2);
  });

  it('tries again what another write is in the way of, then leaves it to the next run and goes on', async () => {
    await write('one', 'two');
    now += 60_000;
    await hide('one');
    await hide('two');
    test.aws.faults.conflict(3);
    expect(await repair(START)).toMatchObject({ error: '1 not repaired: see the lines above' });
    expect(said(/was written meanwhile and is kept: run the command again$/)).toHaveLength(1);
    expect(said(/: restored$/)).toHaveLength(1);
    test.aws.faults.conflict(2);
    expect(await repair(START)).toStrictEqual(ok(undefined));
    expect(said(/: restored$/)).toHaveLength(2);
  });

  it('brings back only a manifest with the signature of the stage, and verifies the applied one', async () => {
    const { releaseKey, manifest } = await rehearse(test, new Set(), ephemeralKey(), now);
    const foreign = signedManifest(createSigner());
    await keepProof(s3(), localBucketName, 'manifest', foreign);
    const nameOf = (jws: string) =>
      placeOfProof(localBucketName, 'manifest', jws).location.split('/').slice(3).join('/');
    const applied = (key = releaseKey) =>
      checkAppliedManifest(
        { stage: localStage, key: { ...key }, now },
        {
          readParameter: (name) => readGateParameter(test.ssm, name),
          readManifest: (location) => readObject(test.s3, location, 100_000),
        },
        (line) => lines.push(line),
      );
    now += 60_000;
    for (const jws of [manifest, foreign])
      await test.s3.send(new DeleteObjectCommand({ Bucket: localBucketName, Key: nameOf(jws) }));
    expect(await applied()).toMatchObject({ error: expect.stringContaining('does not exist') as string });
    expect(await repair(START, { key: releaseKey })).toMatchObject({ ok: false });
    expect(lines).toContain(`missing   ${nameOf(manifest)}: restored`);
    expect(said(/^missing .*no manifest that the releaseKey of the stage has signed/)).toStrictEqual([
      expect.stringContaining(nameOf(foreign)),
    ]);
    expect(await applied()).toStrictEqual(ok(undefined));
    expect(lines.at(-1)).toContain(`${nameOf(manifest)} is intact`);
    expect(await applied(createSigner().key)).toMatchObject({ ok: false });
  });
});

it('a restore prints how far it is', async () => {
  const report = openReport({
    isDryRun: true,
    print: (line) => lines.push(line),
    write: () => Promise.resolve(true),
  });
  for (let n = 0; n < 2500; n += 1) await report.add([]);
  expect(report.end('objects')).toStrictEqual(ok(undefined));
  expect(lines.slice(0, 2)).toStrictEqual(['Compared 1000 so far.', 'Compared 2000 so far.']);
});
