import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { GetParametersByPathCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { beforeEach, describe, expect, it } from 'vitest';
import { localKeyAlias, localTableName } from '#shared/stage/local-stage.ts';
import { openCredential } from '#shared/stores/kms.ts';
import { listProfileItems, readProfileItem, writeProfileItem } from '#shared/stores/service-profile-items.ts';
import { useTestAws } from '#test/support/aws.ts';
import { openProfiles } from './profiles.ts';

const test = useTestAws();
const table = localTableName('settings');
const NOW = Date.parse('2026-01-31T09:30:00.000Z');
const open = () =>
  openProfiles({
    ...{ dynamo: test.dynamo, kms: test.kms, ssm: test.ssm, now: () => NOW },
    ...{ stage: 'frozen', approvedHosts: ['platform.example'], settingsTable: table, keyId: localKeyAlias },
  });

/** A JWT with these claims: nobody looks at its signature here. */
const jwt = (claims: unknown): string =>
  `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
const provide = (tenantId: string, changed: Readonly<Record<string, string>> = {}) =>
  open().parameters.write(tenantId, {
    PLATFORM_TENANT: tenantId,
    PLATFORM_URL: 'https://platform.example/base/',
    PLATFORM_JWT: jwt({ exp: NOW / 1000 + 3600 }),
    RESULTS_KC_COMPONENTS: 'supported',
    ...changed,
  });

beforeEach(async () => {
  for (const tenantId of [
    ...(await listProfileItems(test.dynamo, table)),
    ...(await open().provisionedTenants()),
  ])
    await open().remove(tenantId);
});

describe('npm run release -- profile', () => {
  it('stores what a function needs, bound to its tenant, and never shows the credential [MA-007, MA-009]', async () => {
    const credential = jwt({ exp: NOW / 1000 + 3600 });
    for (const tenantId of ['tenant-a', 'tenant ü/b']) await provide(tenantId);
    const said = await open().move('tenant ü/b');
    expect(said).toEqual({
      ok: true,
      value:
        'profile of tenant ü/b: stored for https://platform.example/base; the credential expires at 2026-01-31T10:30:00.000Z',
    });
    const item = await readProfileItem(test.dynamo, table, 'tenant ü/b');
    if (typeof item !== 'object') throw new Error('expected an item');
    expect(item).toMatchObject({
      parameters: { PLATFORM_TENANT: 'tenant ü/b', RESULTS_KC_COMPONENTS: 'supported' },
      credentialExpiresAt: NOW + 3_600_000,
      writtenAt: NOW,
    });
    expect(JSON.stringify([item, Buffer.from(item.wrappedCredential).toString()])).not.toContain(
      credential.slice(2, 20),
    );
    const opened = (stage: string, tenantId: string) =>
      openCredential(test.kms, stage, item.wrappedCredential, tenantId);
    expect(await opened('frozen', 'tenant ü/b')).toBe(credential);
    expect(await opened('frozen', 'tenant-a')).toBeUndefined();
    expect(await opened('prod', 'tenant ü/b')).toBeUndefined();
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toBeUndefined();
  });

  it.each([
    ['opaque', 'does not show when it expires'],
    [jwt({ exp: NOW / 1000 }), 'has expired at 2026-01-31T09:30:00.000Z'],
    [jwt({ exp: '1' }), 'does not show when it expires'],
    [jwt({ exp: 1e30 }), 'does not show when it expires'],
    [jwt(null), 'does not show when it expires'],
    ['h.bm8ganNvbg.s', 'does not show when it expires'],
  ])('of the credential %j says that it %s', async (PLATFORM_JWT, expected) => {
    await provide('tenant-a', { PLATFORM_JWT });
    expect(await open().move('tenant-a')).toMatchObject({
      value: expect.stringContaining(`the credential ${expected}`) as string,
    });
    expect(typeof (await readProfileItem(test.dynamo, table, 'tenant-a'))).toBe('object');
  });

  it.each<readonly [string, Readonly<Record<string, string>>, RegExp]>([
    ['another tenant’s', { PLATFORM_TENANT: 'tenant-b' }, /its PLATFORM_TENANT is not tenant-a$/],
    ['for another host', { PLATFORM_URL: 'https://elsewhere.example' }, /not an address of approvedHosts/],
    ['with a credential that is no token', { PLATFORM_JWT: 'with space' }, /cannot be a Bearer token$/],
  ])(
    'refuses a profile %s as a function would, and leaves the stored one [MA-008, MA-009]',
    async (_, changed, why) => {
      await provide('tenant-a');
      await open().move('tenant-a');
      const before = await readProfileItem(test.dynamo, table, 'tenant-a');
      await provide('tenant-a', changed);
      const refused = await open().move('tenant-a');
      expect(refused).toEqual({ ok: false, error: expect.stringMatching(why) as string });
      expect(JSON.stringify(refused)).not.toContain('with space');
      expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toEqual(before);
    },
  );

  it('removes a tenant with its parameters, and only when it is told to', async () => {
    for (const tenantId of ['tenant-a', 'tenant-b']) {
      await provide(tenantId);
      await open().move(tenantId);
    }
    expect(await open().remove('tenant-a')).toMatchObject({
      value: expect.stringMatching(/^profile of tenant-a: removed, with its parameters/) as string,
    });
    expect(await open().remove('tenant-a')).toMatchObject({
      value: expect.stringContaining('functions had none') as string,
    });
    await open().parameters.remove('tenant-b');
    expect(await open().move('tenant-b')).toMatchObject({
      error: expect.stringContaining('--remove') as string,
    });
    expect(await listProfileItems(test.dynamo, table)).toEqual(new Set(['tenant-b']));
    const { Parameters } = await test.ssm.send(
      new GetParametersByPathCommand({ Path: '/frozen', Recursive: true }),
    );
    expect(Parameters).toEqual([]);
  });

  it('stores nothing over what was stored or removed meanwhile, and says so', async () => {
    await provide('tenant-a');
    await open().move('tenant-a');
    const stored = await readProfileItem(test.dynamo, table, 'tenant-a');
    if (typeof stored !== 'object') throw new Error('expected an item');
    const write = (seen: Parameters<typeof writeProfileItem>[4]) =>
      writeProfileItem(test.dynamo, table, 'tenant-a', { ...stored, writtenAt: NOW + 1 }, seen);
    expect([await write(undefined), await write({ ...stored, writtenAt: NOW - 1 })]).toEqual([false, false]);
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toEqual(stored);
    expect(await write(stored)).toBe(true);
    await open().remove('tenant-a');
    expect([await write(stored), await write('invalid')]).toEqual([false, false]);
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toBeUndefined();
  });

  it('of all tenants wraps anew only what has changed', async () => {
    await provide('tenant-a');
    await open().move('tenant-a', true);
    const before = await readProfileItem(test.dynamo, table, 'tenant-a');
    expect(await open().move('tenant-a', true)).toMatchObject({
      value: 'profile of tenant-a: functions read it already',
    });
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toEqual(before);
    await provide('tenant-a', { PLATFORM_JWT: 'opaque' });
    await open().move('tenant-a', true);
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).not.toEqual(before);
  });

  it('of all tenants wraps anew what KMS does not open, also if it was wrapped from the same value, and says what it could not try', async () => {
    for (const tenantId of ['tenant-a', 'tenant-b']) {
      await provide(tenantId);
      await open().move(tenantId);
    }
    const [mine, foreign] = await Promise.all(
      ['tenant-a', 'tenant-b'].map((tenantId) => readProfileItem(test.dynamo, table, tenantId)),
    );
    if (typeof mine !== 'object' || typeof foreign !== 'object') throw new Error('expected two items');
    const swapped = { ...mine, wrappedCredential: foreign.wrappedCredential };
    expect(await writeProfileItem(test.dynamo, table, 'tenant-a', swapped, mine)).toBe(true);
    test.aws.faults.refuse('Decrypt', 'AccessDeniedException', 1);
    expect(await open().move('tenant-a', true)).toEqual({
      ok: true,
      value:
        'profile of tenant-a: functions read it already, if KMS opens its credential, which could not be tried (AccessDeniedException)',
    });
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toEqual(swapped);
    expect(await open().move('tenant-a', true)).toMatchObject({
      value: expect.stringContaining('stored for https://platform.example/base') as string,
    });
    const mended = await readProfileItem(test.dynamo, table, 'tenant-a');
    if (typeof mended !== 'object') throw new Error('expected an item');
    expect(await openCredential(test.kms, 'frozen', mended.wrappedCredential, 'tenant-a')).toBe(
      jwt({ exp: NOW / 1000 + 3600 }),
    );
  });

  it.each([0, 6_145])('an item with %i bytes of a wrapped credential is damaged', async (length) => {
    await provide('tenant-a');
    await open().move('tenant-a');
    await test.dynamo.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: 'profile#dGVuYW50LWE' }, sk: { S: 'profile' } },
        UpdateExpression: 'SET wrappedCredential = :wrapped',
        ExpressionAttributeValues: { ':wrapped': { B: new Uint8Array(length) } },
      }),
    );
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toBe('invalid');
  });

  it('says what is left when the parameters cannot be removed', async () => {
    await provide('tenant-a');
    await open().move('tenant-a');
    test.aws.faults.refuse('DeleteParameter', 'AccessDeniedException', 1);
    expect(await open().remove('tenant-a')).toMatchObject({
      error: expect.stringMatching(
        /removed, .*not all of its parameters .*AccessDeniedException.*again/,
      ) as string,
    });
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toBeUndefined();
  });

  it('an item of other columns is told from a missing one', async () => {
    await test.dynamo.send(
      new PutItemCommand({
        TableName: table,
        Item: { pk: { S: 'profile#dGVuYW50LWE' }, sk: { S: 'profile' } },
      }),
    );
    expect(await readProfileItem(test.dynamo, table, 'tenant-a')).toBe('invalid');
  });

  it('a credential larger than KMS wraps is refused', async () => {
    await test.ssm.send(
      new PutParameterCommand({
        ...{ Name: '/frozen/profiles/dGVuYW50LWE/PLATFORM_JWT', Type: 'SecureString', Tier: 'Advanced' },
        Value: 'x'.repeat(4_097),
      }),
    );
    await open().parameters.write('tenant-a', {
      PLATFORM_TENANT: 'tenant-a',
      PLATFORM_URL: 'https://platform.example',
    });
    expect(await open().move('tenant-a')).toMatchObject({
      error: expect.stringContaining('more than the 4096 bytes') as string,
    });
  });
});
