import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answersCaller, backgroundFunctions, runCanary, watchStage } from '#shared/contract/background.ts';
import { routes } from '#shared/contract/routes.ts';
import { scenarios } from './scenarios.ts';
import { explore, Explorer, smallest, type Found } from './search.ts';
import type { Life } from './scheduler.ts';
import { World, type Fetched, type Plant } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.open();
  return () => world.close();
});
afterEach(() => {
  world.plant = {};
});

it('has a scenario for every function that writes', () => {
  const writing = [
    ...routes.filter(({ request }) => request.idempotencyKey),
    // The watcher only reads. The canary writes nothing but by the routes, as any client.
    ...backgroundFunctions.filter(
      (row) => !answersCaller(row) && row !== watchStage && row.operationId !== runCanary.operationId,
    ),
  ];
  const covered = new Set(Object.values(scenarios).flatMap(({ functions }) => functions));
  expect(writing.filter((row) => !covered.has(row)).map(({ operationId }) => operationId)).toEqual([]);
});

it('finds nothing in the product: one record, one event, one offer, no fact lost or invented, and every answer one that its row names [MA-038, MA-190]', async () => {
  const { explorers, found } = await explore(world, { seed: 1, schedules: 2_000, minutes: 25 });
  expect(found).toEqual([]);
  const ran = explorers.reduce((sum, explorer) => sum + explorer.ran, 0);
  expect(ran, 'how many schedules ran in 25 minutes').toBe(2_000);
  // The undisturbed schedule alone shows nothing.
  for (const { distinct } of explorers) expect(distinct).toBeGreaterThan(5);
}, 1_800_000);

describe('finds a planted defect', () => {
  /** The smallest schedule of a scenario that shows the defect. */
  async function search(plant: Plant, scenario: string): Promise<Found> {
    world.plant = plant;
    const { found } = await explore(world, { seed: 1, schedules: 400, minutes: 10, only: [scenario] });
    expect(found).toHaveLength(1);
    const explorer = new Explorer(world, scenario, 1);
    const schedule = await smallest(explorer, found[0]!.schedule);
    const { wrong } = await explorer.run(schedule);
    // Only because of the defect.
    world.plant = {};
    expect((await new Explorer(world, scenario, 1).run(schedule)).wrong).toEqual([]);
    return { scenario, schedule, wrong };
  }

  it('a write without its condition', async () => {
    const plant: Plant = {
      send({ constructor: { name }, input }) {
        if (name !== 'PutItemCommand' || !String(input['TableName']).endsWith('control')) return;
        delete input['ConditionExpression'];
        delete input['ExpressionAttributeNames'];
        delete input['ExpressionAttributeValues'];
        delete input['ReturnValuesOnConditionCheckFailure'];
      },
    };
    const { wrong } = await search(plant, 'start-one-key');
    expect(wrong.join()).toContain('not held: qti.session 1');
  }, 600_000);

  it('an acknowledgement that is taken before the read-back: of a sensor that sends an event with the next call', async () => {
    const events = new Map<string, { readonly id: string }>();
    /** What a container has not sent yet. */
    const unsent = new WeakMap<Life, () => Promise<unknown>>();
    const answer = (value?: object): Fetched => ({
      status: value === undefined ? 204 : 200,
      headers: { 'content-type': 'application/json' },
      bytes: value && Buffer.from(JSON.stringify(value)),
    });
    const plant: Plant = {
      async send(_command, by) {
        const send = unsent.get(by);
        unsent.delete(by);
        await send?.();
      },
      async fetch({ by, operation, url, body = '' }, ask) {
        if (operation === 'caliper.emit_completion_or_simulation') {
          const { data } = JSON.parse(body) as { data: readonly { readonly id: string }[] };
          for (const event of data) events.set(event.id, event);
          unsent.set(by, ask);
          return answer();
        }
        const eventIri = new URL(url).searchParams.get('eventIri') ?? '';
        return operation === 'caliper.read_evidence_ack'
          ? answer({ tenantId: 'tenant-aurora', eventIri, event: events.get(eventIri) })
          : ask();
      },
    };
    const { schedule, wrong } = await search(plant, 'end-one-key');
    expect(wrong.join()).toContain('its owner does not hold the caliper.event');
    expect(schedule).toHaveLength(1);
  }, 600_000);

  it('a lease that is too short', async () => {
    const shorten = (value: unknown): void => {
      const lease = value as { N?: string } | undefined;
      if (lease?.N !== undefined && lease.N !== '0') lease.N = String(Number(lease.N) - 9_000);
    };
    const plant: Plant = {
      send({ input }) {
        if (!String(input['TableName']).endsWith('control')) return;
        shorten((input['Item'] as Record<string, unknown> | undefined)?.['leaseUntil']);
        shorten((input['ExpressionAttributeValues'] as Record<string, unknown> | undefined)?.[':leaseUntil']);
      },
    };
    const { schedule, wrong } = await search(plant, 'advance-one-key');
    expect(wrong.join()).toMatch(/takes over the work of ., who is alive/);
    expect(schedule).toHaveLength(1);
  }, 600_000);
});
