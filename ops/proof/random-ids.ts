import { randomInt } from 'node:crypto';
import type { Ask } from './target.ts';

/** The number of random characters in an id: enough that it does not exist. */
const DRAWN = 12;

/**
 * Returns a random id of the same form and length, which no resource has: each of the last characters is replaced by another of its kind, so that
 * only the owner can distinguish it from a real one.
 */
export function randomId(id: string): string {
  const characters = Array.from(id);
  for (let at = characters.length - 1, drawn = 0; at >= 0 && drawn < DRAWN; at -= 1) {
    const anew = drawnLike(characters[at] ?? '');
    if (anew === undefined) continue;
    characters[at] = anew;
    drawn += 1;
  }
  return characters.join('');
}

/** Another character of the same kind; undefined for one that gives an id its form. A hexadecimal letter stays one. */
function drawnLike(character: string): string | undefined {
  const kinds = ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEF', 'GHIJKLMNOPQRSTUVWXYZ'];
  const others = kinds.find((kind) => kind.includes(character))?.replace(character, '');
  return character === '' || others === undefined ? undefined : others[randomInt(others.length)];
}

/** Members of paths and bodies that name no resource of a tenant by themselves. */
const NO_IDS: ReadonlySet<string> = new Set(['grade', 'sourceKey', 'view', 'runMode']);

/** Returns the same request for a resource that does not exist. */
export function withRandomIds(ask: Ask, members: readonly string[] = idMembers(ask)): Ask {
  const anew = <T extends string | readonly object[]>(
    values: Readonly<Record<string, T>>,
  ): Readonly<Record<string, T | string>> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        typeof value === 'string' && members.includes(name) ? randomId(value) : value,
      ]),
    );
  return {
    ...ask,
    ...(ask.path === undefined ? {} : { path: anew<string>(ask.path) }),
    ...(ask.body === undefined ? {} : { body: anew(ask.body) }),
  };
}

/** Returns the members of a request that name a resource of its tenant. */
export function idMembers({ path, body }: Ask): readonly string[] {
  return [...Object.entries(path ?? {}), ...Object.entries(body ?? {})]
    .filter(([name, value]) => typeof value === 'string' && !NO_IDS.has(name))
    .map(([name]) => name);
}
