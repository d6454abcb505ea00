import { err, ok, type Result } from '#shared/kernel/result.ts';

export const gates = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
/** A release gate: E is the prerequisite manifest itself, the others open routes. */
export type GateName = (typeof gates)[number];
export type OpenGates = ReadonlySet<GateName>;

/** Said wherever the gates of a stage cannot be read. */
const offlineHint =
  'for a synth without the stage’s account say which gates are open: -c gates=A,D (-c gates= for none)';

/**
 * The gates of `-c gates=A,D`; the empty text means that none is open. Strict: an unknown or lower-case letter, a blank, an empty member
 * or a repetition is an error, since whatever a lenient reading made of it could open a route.
 */
export function parseGates(text: string): Result<OpenGates, string> {
  const open = new Set<GateName>();
  for (const part of text === '' ? [] : text.split(',')) {
    const gate = gates.find((name) => name === part);
    if (gate === undefined) {
      return err(
        `-c gates=${text}: ${JSON.stringify(part)} is no gate; known are ${gates.join(', ')}, as in -c gates=A,D`,
      );
    }
    if (open.has(gate)) return err(`-c gates=${text}: gate ${gate} is named twice`);
    open.add(gate);
  }
  return ok(open);
}

/**
 * The open gates of a stage as its parameters `/<stage>/gates/{A..F}` say. A gate without a parameter is closed; a parameter of another
 * name or with another value than `open` or `closed`, and no answer at all, are errors: closing a gate by accident would remove routes
 * that are in use. A flag alone opens nothing: it counts when the stage's verified prerequisite manifest proves it too, so an `open` flag
 * without that proof is an error as well.
 * @param readFlags the parameters below a path by their last name; throws what SSM throws
 * @param proved the gates that the verified manifest lists a receipt for
 */
export async function readGates(
  stage: string,
  readFlags: (path: string) => Promise<ReadonlyMap<string, string>>,
  proved: OpenGates,
): Promise<Result<OpenGates, string>> {
  const path = `/${stage}/gates`;
  let flags;
  try {
    flags = await readFlags(path);
  } catch (error) {
    return err(
      `the gates of ${stage} cannot be read from SSM (${error instanceof Error ? error.message : 'unknown failure'}); ${offlineHint}`,
    );
  }
  const open = new Set<GateName>();
  for (const [name, value] of flags) {
    const gate = gates.find((candidate) => candidate === name);
    if (gate === undefined)
      return err(`${path}/${name} is no gate; known are ${gates.join(', ')}; ${offlineHint}`);
    if (value !== 'open' && value !== 'closed') {
      return err(`${path}/${name} is neither "open" nor "closed"; ${offlineHint}`);
    }
    if (value === 'closed') continue;
    if (!proved.has(gate))
      return err(`${path}/${name} is "open" without a verified manifest that proves it; ${offlineHint}`);
    open.add(gate);
  }
  return ok(open);
}

/** Whether all gates of a route are open. */
export function isOpen(route: { readonly gates: readonly GateName[] }, open: OpenGates): boolean {
  return route.gates.every((gate) => open.has(gate));
}
