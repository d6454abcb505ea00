import { describe, expect, it } from 'vitest';
import { verifyCaseMappings } from './case-mappings.ts';
import { FRAMEWORK, platformOf, validWorld } from '#test/support/example-pool.ts';

const known = Object.keys(validWorld().items);
const mappingsOf = (
  guids: readonly string[],
  uriOf = (guid: string) => `https://case.example/items/${guid}`,
) => guids.map((guid) => ({ guid, uri: uriOf(guid) }));

describe('verifyCaseMappings', () => {
  it('accepts components that CASE still describes as pinned, all read side by side [MA-031]', async () => {
    const platform = platformOf(validWorld());
    const verified = await verifyCaseMappings(platform, FRAMEWORK, mappingsOf(known));
    expect(verified).toEqual({ ok: true, value: undefined });
    expect(platform.calls.map(({ depth, path }) => [depth, path['sourcedId']])).toEqual(
      known.map((guid) => [1, guid]),
    );
    expect((await verifyCaseMappings(platformOf(validWorld()), FRAMEWORK, [])).ok).toBe(true);
  });

  it('reads hundreds in lanes, and stops asking after a failure', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    const world = validWorld();
    const item = world.items[known[0]!]!;
    for (const guid of many) world.items[guid] = { ...item, identifier: guid };
    const platform = platformOf(world);
    expect(
      (
        await verifyCaseMappings(
          platform,
          FRAMEWORK,
          mappingsOf(many, () => item.uri),
        )
      ).ok,
    ).toBe(true);
    expect(platform.calls.map(({ path }) => path['sourcedId']).sort()).toEqual(many.toSorted());
    const without = platformOf(validWorld());
    expect((await verifyCaseMappings(without, FRAMEWORK, mappingsOf(many))).ok).toBe(false);
    expect(without.calls).toHaveLength(32);
  });
});
