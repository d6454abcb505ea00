import { randomInt } from 'node:crypto';
import type { Ask } from './target.ts';

/** How many characters of an id are drawn anew: enough that nobody has it. */
const DRAWN = 12;

/**
 * An id of the same form and length that nobody has: the last characters are drawn anew, each from its own kind, so that nothing but the
 * owner's knowledge tells it from a real one.
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

/** The same request for something that nobody has. */
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

/** The members of a request that name a resource of its tenant. */
export function idMembers({ path, body }: Ask): readonly string[] {
  return [...Object.entries(path ?? {}), ...Object.entries(body ?? {})]
    .filter(([name, value]) => typeof value === 'string' && !NO_IDS.has(name))
    .map(([name]) => name);
}
