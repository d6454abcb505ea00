import { describe, expect, it } from 'vitest';
import { verifyCaseMappings } from './case-mappings.ts';
import { FRAMEWORK, platformOf, validWorld } from '#test/support/example-pool.ts';
import type { World } from '#test/support/example-pool.ts';

const mappings = [
  '00000000-0000-4000-8000-000000000000',
  '00000000-0000-4000-8000-000000000001',
  '00000000-0000-4000-8000-000000000009',
].map((guid) => ({
  guid,
  uri: `https://case.example/items/${guid}`,
}));
const verify = (change: (items: World['items']) => void = () => undefined) => {
  const world = validWorld();
  change(world.items);
  return verifyCaseMappings(platformOf(world), FRAMEWORK, mappings);
};

describe('verifyCaseMappings', () => {
  it('accepts components that CASE still describes as pinned, all read side by side [MA-031]', async () => {
    const platform = platformOf(validWorld());
    expect(await verifyCaseMappings(platform, FRAMEWORK, mappings)).toEqual({ ok: true, value: undefined });
    expect(platform.calls.map(({ depth, path }) => [depth, path['sourcedId']])).toEqual([
      [1, '00000000-0000-4000-8000-000000000000'],
      [1, '00000000-0000-4000-8000-000000000001'],
      [1, '00000000-0000-4000-8000-000000000009'],
    ]);
  });

  const others: [string, (items: World['items']) => void][] = [
    [
      'another identifier [MA-031]',
      (items) => (items['00000000-0000-4000-8000-000000000001']!.identifier = 'KC-1'),
    ],
  ];
  it.each(others)('refuses %s as a calibration that does not fit', async (_, change) => {
    expect(await verify(change)).toMatchObject({
      ok: false,
      error: { status: 422, code: 'calibration-invalid', retryable: false },
    });
  });

  it('stops asking after a failure', async () => {
    const many = Array.from({ length: 500 }, (_, index) => ({
      guid: `absent-${index}`,
      uri: 'https://case.example/x',
    }));
    const platform = platformOf(validWorld());
    expect((await verifyCaseMappings(platform, FRAMEWORK, many)).ok).toBe(false);
    expect(platform.calls).toHaveLength(32);
  });

  it('reads hundreds in lanes', async () => {
    const world = validWorld();
    const guids = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const guid of guids)
      world.items[guid] = { ...world.items['00000000-0000-4000-8000-000000000000']!, identifier: guid };
    const platform = platformOf(world);
    const uri = world.items['00000000-0000-4000-8000-000000000000']!.uri;
    expect(
      (
        await verifyCaseMappings(
          platform,
          FRAMEWORK,
          guids.map((guid) => ({ guid, uri })),
        )
      ).ok,
    ).toBe(true);
    expect(new Set(platform.calls.map(({ path }) => path['sourcedId']))).toEqual(new Set(guids));
    expect(platform.calls).toHaveLength(100);
  });

  it('has nothing to ask for no components', async () => {
    expect((await verifyCaseMappings(platformOf(validWorld()), FRAMEWORK, [])).ok).toBe(true);
  });
});
