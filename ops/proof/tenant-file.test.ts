import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import { describeUnfit, exampleTenantFile, readTenantFile } from './tenant-file.ts';
import type { Tenant, TenantFile } from './tenant-file.ts';

const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const folder = await mkdtemp(join(tmpdir(), 'tenant-file-'));

const jwt = (claims: Readonly<Record<string, unknown>>): string =>
  [{ alg: 'ES256' }, { tenantId: 'tenant-1', exp: NOW / 1000 + 60, ...claims }, 'signature']
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.');
const bare = jwt({});
const full = jwt({ iss: 'https://issuer', studentIds: ['student-17', 'student-18'] });
const environment = { PROOF_TOKEN_A: full, PROOF_TOKEN_A_WITHOUT_CLAIMS: bare };

async function read(
  content: unknown,
  variables: Readonly<Record<string, string>> = environment,
  side: Tenant['side'] = 'A',
) {
  const path = join(folder, 'tenant.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  const tenant = await readTenantFile(path, side, variables, NOW);
  // Whatever is wrong with a file, no secret of it is said.
  if (!tenant.ok) for (const token of [full, bare]) expect(tenant.error).not.toContain(token);
  return tenant.ok ? tenant.value : tenant.error.replace(path, 'FILE');
}
const value = (token: string) => ({ value: token });
const withTokens = (tokens: unknown): unknown => ({ ...exampleTenantFile, tokens });

describe('a tenant’s file', () => {
  it('as the example has it is read, with its tokens from the environment', async () => {
    expect(await read(exampleTenantFile)).toMatchObject({
      side: 'A',
      tenantId: 'tenant-1',
      issuer: 'https://issuer',
      full,
      withoutClaims: bare,
      claimed: new Set(['student-17', 'student-18']),
      reports: exampleTenantFile.reports,
    });
  });

  it('has one digest whatever its tokens are', async () => {
    const digestOf = async (content: unknown) => ((await read(content)) as Tenant).fixturesSha256;
    const one = await digestOf(exampleTenantFile);
    expect(await digestOf(withTokens({ full: value(bare) }))).toBe(one);
    expect(await digestOf({ ...exampleTenantFile, mastery: undefined })).not.toBe(one);
  });

  it('that is none is refused by places', async () => {
    expect(await read('{')).toBe('FILE is not JSON: it cannot be parsed');
    expect(await read('{"a":{"b":1,"b":2}}')).toBe('FILE is not JSON: duplicate member /a/b');
    const wrong: unknown = {
      ...exampleTenantFile,
      reports: { ...exampleTenantFile.reports, clas: 'x', school: { schoolSourcedId: 's', grade: '5' } },
    };
    expect(await read(wrong)).toMatch(
      /^FILE is not a tenant file .*\n(?:.*\n)?\s+\/reports\/school\/grade: /,
    );
    expect(await read(wrong)).toContain('"clas"');
    const missing = join(folder, 'nowhere.json');
    expect(await readTenantFile(missing, 'A', {}, NOW)).toEqual(
      err(`cannot read ${missing}: no such file or directory`),
    );
  });

  it.each<readonly [object, RegExp]>([
    [{ full: { environment: 'PROOF_ABSENT' } }, /full names the variable PROOF_ABSENT, which is not set$/],
    [{ full: value('secret') }, /^FILE cannot be used: \/tokens\/full is not a signed JWT$/],
    [
      { full: value(jwt({ exp: NOW / 1000 })) },
      /\/tokens\/full expired at 2030-01-01T00:00:00\.000Z: obtain a new one$/,
    ],
    [
      { full: value(full.replace(/\..*\./, '.bm90IEpTT04.')) },
      /\/tokens\/full is not a JWT: its payload is not JSON$/,
    ],
    [{ full: value(jwt({ tenantId: undefined })) }, /is not a token of the platform/],
    [
      { full: value(full), withoutClaims: value(jwt({ tenantId: 'tenant-2' })) },
      /tokens of different tenants/,
    ],
    [{ full: value(bare), withoutClaims: value(full) }, /must not have resource claims/],
  ])('with the tokens %j is refused before anything is asked: %s [RP-226, RP-312]', async (tokens, said) => {
    expect(await read(withTokens(tokens))).toMatch(said);
  });
});

describe('two tenants', () => {
  const b: TenantFile = JSON.parse(
    JSON.stringify(exampleTenantFile).replaceAll(
      /"((?:attempt|student|class|school|form|administration|spec|bank|operation)-[^"]*)"/g,
      '"$1-b"',
    ),
  ) as TenantFile;
  const lent = {
    ...b,
    reports: { ...b.reports, classSourcedId: exampleTenantFile.reports?.classSourcedId },
  };
  it.each<[service: 'reports' | 'mastery', ofB: object, fault: string | undefined, claims?: object]>([
    ['reports', b, undefined],
    ['mastery', b, undefined],
    ['reports', b, expect.stringContaining('of the same tenant') as string, { tenantId: 'tenant-1' }],
    [
      'reports',
      lent,
      'the tenants must not share ids:\n  /reports/classSourcedId of A equals /reports/classSourcedId of B',
    ],
    ['mastery', { ...b, mastery: undefined }, 'the file of tenant B has no /mastery'],
  ])(
    'for %s are two, disjoint but for records and grades that may be of both: %# [RP-024]',
    async (service, content, fault, claims = { tenantId: 'tenant-2' }) => {
      const tokens = { full: value(jwt({ ...claims })) };
      const tenants = [await read(exampleTenantFile), await read({ ...content, tokens }, {}, 'B')] as const;
      expect(describeUnfit(service, ...(tenants as unknown as readonly [Tenant, Tenant]))).toEqual(fault);
    },
  );
});
