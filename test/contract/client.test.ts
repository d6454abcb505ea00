import { describe, expect, it } from 'vitest';
import { createMasteryClient, createSandboxClient, runAdaptive, type Reply } from '#client/index.ts';
import { masteryOperations } from '#client/generated/mastery.ts';
import { reportsOperations } from '#client/generated/reports.ts';
import { sandboxOperations } from '#client/generated/sandbox.ts';
import { manifest } from '#functions/sandbox/manifest.ts';
import { chooseLearner, startRequest } from '#local/journey/bank.ts';
import { createPlayer } from '#local/journey/player.ts';
import { serviceNames } from '#shared/contract/route.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { sandboxRoutes } from '#shared/contract/sandbox.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { SHORT_BANK } from '#test/support/adaptive-run.ts';
import { lazily } from '#test/support/lazily.ts';
import { startLeakyProxy } from '#test/support/leaky-proxy.ts';
import { useTestStack } from '#test/support/stack.ts';
import { bankOf } from '#test/support/take-journey.ts';

const TENANT = 'tenant-aurora';

const stack = useTestStack();
const worlds = lazily(() => openWorlds(stack));

/** The methods of a client by the ids of their operations. */
type Methods = Readonly<Record<string, (input: object) => Promise<Reply<unknown>>>>;

describe('the client against the stack', () => {
  it('has a method for every route', () => {
    const tables = { mastery: masteryOperations, reports: reportsOperations };
    for (const service of serviceNames)
      expect(Object.keys(tables[service]).toSorted()).toEqual(
        routesOf(service)
          .map(({ operationId }) => operationId)
          .toSorted(),
      );
    expect(Object.keys(sandboxOperations).toSorted()).toEqual(Object.keys(sandboxRoutes).toSorted());
  });

  it.each(operations)('gets what the contract promises from $operation', async ({ operation, route }) => {
    const { path, body, ifMatch, claims } = await worlds.request(operation, TENANT);
    const client =
      route.service === 'mastery' ? stack.masteryClient(TENANT) : stack.reportsClient(TENANT, claims);
    // SAFETY: the first test compares the methods with the routes.
    const methods = client as unknown as Methods;
    const reply = await methods[operation]!({ ...path, ...(body as object | undefined), ifMatch });
    expect(reply.status).toBe(route.success.status);
    expect(route.success.schema.safeParse(reply.data).error).toBeUndefined();
  });

  it('gets what the contract promises from every operation of the sandbox, without a token', async () => {
    // SAFETY: as above.
    const methods = createSandboxClient({ baseUrl: stack.urls.sandboxUrl }) as unknown as Methods;
    for (const { route, path } of manifest) {
      const reply = await methods[route.operationId]!({
        ...path,
        ...(route.requestExample as object | undefined),
      });
      expect(route.success.schema.safeParse(reply.data).error).toBeUndefined();
    }
  });
});

describe('runAdaptive against the stack', () => {
  const playerOf = (learner: Parameters<typeof createPlayer>[0]['learner']) =>
    createPlayer({
      platformUrl: stack.urls.platformUrl,
      tenantId: TENANT,
      playerToken: stack.seededTenants.get(TENANT)!.platform.credentials.playerToken,
      learner,
      fetch,
    });

  it.each<[string, (etag: string) => string]>([
    ['weakens the ETag', (etag) => `W/${etag}`],
    ['appends the coding to the ETag', (etag) => etag.replace(/"$/, '-gzip"')],
  ])('finishes behind a proxy that %s of a response that it compresses [MA-193]', async (_, changed) => {
    const proxy = await startLeakyProxy(stack.urls.masteryUrl);
    const advances: (string | null)[] = [];
    proxy.leak = async (request, pass) => {
      if (request.target.endsWith(':advance')) advances.push(request.headers.get('idempotency-key'));
      const answer = await pass(request);
      const etag = answer.headers.get('etag');
      if (etag !== null) answer.headers.set('etag', changed(etag));
      return answer;
    };
    try {
      const bank = bankOf(stack.seed, TENANT, SHORT_BANK);
      const learner = chooseLearner(bank, undefined, 3);
      if (!learner.ok) throw new Error(learner.error);
      const token = await stack.tokenFor(TENANT, ['mastery:run', 'mastery:read']);
      const play = playerOf(learner.value);
      const { data: run } = await runAdaptive(createMasteryClient({ baseUrl: proxy.url, token }), {
        start: startRequest(bank, 'owner_conformance'),
        play: async (item) => void (await play(item)),
      });
      expect(run.status).toBe('completed');
      // Every advance is first a 412: the server compares strong tags alone.
      expect(advances).toHaveLength(10);
      expect(new Set(advances).size).toBe(advances.length);
    } finally {
      await proxy.close();
    }
  });
});
