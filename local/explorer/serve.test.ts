import { describe, expect, it } from 'vitest';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import { stopCause } from '#functions/mastery/continuation/run-state.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { wordsFor } from './app/words.ts';
import { serveExplorer } from './serve.ts';

const seed = await soundSeed();
const tenant = instantiateSeed(seed, 'tenant-aurora');
const [bank] = tenant.fixtures.mastery.banks;
const items = Object.entries(tenant.itemNames);
const itemNamed = (name: string): string => items.find(([, known]) => known === name)?.[0] ?? '';

/** What the platform was sent. */
const sent: { url: string; init: RequestInit | undefined }[] = [];
const serve = serveExplorer({
  files: new Map([['index.html', '<!doctype html>']]),
  seed: seed,
  tenants: new Map([[tenant.tenantId, tenant]]),
  operationIds: ['readAttemptReport'],
  sandbox: {},
  platformUrl: 'http://platform.example',
  tokenFor: (tenantId, scopes, claims) => Promise.resolve(JSON.stringify({ tenantId, scopes, claims })),
  playerToken: (tenantId) => `player of ${tenantId}`,
  fetch: (url, init) => {
    sent.push({ url: url as string, init });
    if ((url as string).endsWith('/_control/state')) {
      const request = { stopReason: 'max_items', metadata: { stopCause: 'no_deciding_item' } };
      const entities = { 'results.record': { 'record-1': { request }, 'record-2': { request: {} } } };
      return Promise.resolve(Response.json({ tenants: { [tenant.tenantId]: { entities } } }));
    }
    return Promise.resolve(
      (init?.body as string).includes('no such operation')
        ? Response.json({ errors: [{ pointer: '/operation', message: 'is unknown' }] }, { status: 400 })
        : Response.json({}, { status: 201 }),
    );
  },
});

async function ask(method: string, path: string, body: unknown = '', isForeign = false) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const page = await serve({ method, rawPath: `/explorer/${path}`, body: Buffer.from(text), isForeign });
  return page === undefined ? undefined : { ...page, body: String(page.body) };
}

const common = { tenantId: 'tenant-aurora', bank: bank?.name };

describe('serveExplorer', () => {
  it('serves its page under a policy that admits this origin alone', async () => {
    const page = await ask('GET', '');
    expect(page).toMatchObject({ status: 200, body: '<!doctype html>' });
    expect(page?.headers['Content-Security-Policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(JSON.stringify(page?.headers)).not.toContain('unsafe');
    expect(await ask('GET', 'other.html')).toBeUndefined();
    expect(await ask('POST', '')).toBeUndefined();
  });

  it('issues tokens, except to a page of another origin', async () => {
    const request = { tenantId: 'tenant-aurora', scopes: ['reports:read'], studentIds: ['s'] };
    const issued = JSON.parse((await ask('POST', 'api/token', request))?.body ?? '') as { token: string };
    expect(JSON.parse(issued.token)).toEqual({
      tenantId: 'tenant-aurora',
      scopes: ['reports:read'],
      claims: { studentIds: ['s'] },
    });
    expect(await ask('POST', 'api/token', request, true)).toMatchObject({ status: 403 });
  });

  it.each([
    ['an unknown tenant', 'api/token', { tenantId: 'tenant-other', scopes: ['reports:read'] }],
    ['an unknown member', 'api/token', { tenantId: 'tenant-aurora', scopes: ['a'], sub: 'root' }],
    ['what is not JSON', 'api/token', '{'],
    ['no body', 'api/token', ''],
    ['an unknown bank', 'api/information', { ...common, bank: 'x', answered: [], artifactVersionId: 'x' }],
    ['an unknown item', 'api/information', { ...common, answered: [], artifactVersionId: 'x' }],
    ['an unknown fault', 'api/faults', { operation: 'no such operation' }],
  ])('refuses %s with a sentence', async (_, path, body) => {
    const answer = await ask('POST', path, body);
    expect(answer?.status).toBe(400);
    expect((JSON.parse(answer?.body ?? '') as { message: string }).message).toMatch(/\w{3}/);
  });

  it.each([
    ['3/8', 1],
    ['1/2', 0],
    [true, 1],
  ])(
    'scores the answer %s with %i and hands it to QTI as the player does [MA-030]',
    async (response, score) => {
      const artifactVersionId = itemNamed('Item02');
      const answer = { ...common, deliverySessionId: 'a/b', artifactVersionId, response };
      const scored = await ask('POST', 'api/answer', answer);
      expect(JSON.parse(scored?.body ?? '')).toEqual({ correct: score === 1 });
      expect(sent.at(-1)).toMatchObject({
        url: 'http://platform.example/tenants/tenant-aurora/qti/delivery-sessions/a%2Fb/attempts',
        init: {
          headers: { Authorization: 'Bearer player of tenant-aurora' },
          body: JSON.stringify({ outcomes: { SCORE: score } }),
        },
      });
    },
  );

  it('hands no answer to QTI that cannot be read, and says how to write it', async () => {
    const already = sent.length;
    const artifactVersionId = itemNamed('Item02');
    const answer = { ...common, deliverySessionId: 'a', artifactVersionId, response: '0,375' };
    const refused = await ask('POST', 'api/answer', answer);
    expect(JSON.parse(refused?.body ?? '')).toEqual({ unreadable: 'Did you mean 0.375?' });
    expect(sent).toHaveLength(already);
  });

  it('finds the cause of a run’s end in its result record, for which the page has words', async () => {
    const causeIn = async (resultRecordRef: string): Promise<unknown> =>
      JSON.parse(
        (await ask('POST', 'api/stop-cause', { tenantId: tenant.tenantId, resultRecordRef }))?.body ?? '',
      );
    expect(await causeIn('record-1')).toEqual({ stopCause: 'no_deciding_item' });
    expect(await causeIn('record-2')).toEqual({});
    expect(await causeIn('record-3')).toEqual({});
    const causes = stopCause.exclude(stopReason.exclude(['max_items']).options).options;
    expect(causes).toContain('no_deciding_item');
    for (const cause of causes) expect(wordsFor('stopCauses', cause), cause).not.toContain('does not know');
  });

  it('works out an item’s information, which is never negative and falls when the item has been answered', async () => {
    const artifactVersionId = itemNamed('Item02');
    const bitsAfter = async (answered: readonly object[]): Promise<number> => {
      const answer = await ask('POST', 'api/information', { ...common, answered, artifactVersionId });
      return (JSON.parse(answer?.body ?? '') as { bits: number }).bits;
    };
    const first = await bitsAfter([]);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(1);
    expect(await bitsAfter([{ artifactVersionId, correct: true }])).toBeLessThan(first);
  });
});
