import { finerReceipts, gates, routeGates, type GateName } from '#shared/contract/gates.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { gatesPath, manifestParameter, markerName, parseReference } from './applied-manifest.ts';
import type { ManifestReference } from './applied-manifest.ts';
import { describeFault } from './describe-fault.ts';
import { verifyManifest, type ManifestUse, type ReleaseManifest } from './manifest.ts';
import { closed, flagsOf, releaseOf, type GateFlags, type ReleaseState } from './release-state.ts';

export type OpenGates = ReadonlySet<GateName>;

/** Part of every message about gates of a stage that cannot be read. */
const offlineHint =
  'to synthesize without the stage’s account, name the open gates: -c gates=A,D (-c gates= for none)';

/**
 * Returns the gates of a list as in `A,D`; the empty text means that none is open. Strict: an unknown or lower-case letter, a blank, an empty member
 * or a repetition is an error, because a lenient reading could open a route.
 */
export function parseGates(text: string): Result<OpenGates, string> {
  const open = new Set<GateName>();
  for (const part of text === '' ? [] : text.split(',')) {
    const gate = gates.find((name) => name === part);
    if (gate === undefined) {
      return err(
        `unknown gate ${JSON.stringify(part)}: expected ${gates[0]} to ${gates.at(-1) ?? ''}, as in A,D`,
      );
    }
    if (open.has(gate)) return err(`gate ${gate} is given twice`);
    open.add(gate);
  }
  return ok(open);
}

/**
 * Returns the release that given gates open without a proof, for offline use: C includes the candidate/attempt index and the mastery engine's
 * production learners [RP-023, RP-026]. It cannot be deployed.
 */
export function offlineRelease(open: OpenGates): ReleaseState {
  const named = routeGates.filter((gate) => open.has(gate));
  return {
    open: new Set(named),
    proved: new Set([...named, ...(open.has('C') ? finerReceipts : [])]),
  };
}

/** Reads what `npm run gates -- apply` wrote for a stage. Each function throws the errors of AWS. */
export interface AppliedGates {
  /** Returns the parameters directly below a path, by their last name. */
  readonly readFlags: (path: string) => Promise<ReadonlyMap<string, string>>;
  /** Returns the value of a parameter; undefined if it does not exist. */
  readonly readParameter: (name: string) => Promise<string | undefined>;
  /** Returns the bytes at `s3://…`; undefined if the object does not exist. */
  readonly readManifest: (location: string) => Promise<Uint8Array | undefined>;
}

/**
 * Returns why the parameters below `/<stage>/gates` cannot be this stage's: the marker of its stores' stack is missing. An empty response from
 * another account or region must not look like a stage whose gates are closed.
 */
export function placeFault(stage: string, parameters: ReadonlyMap<string, string>): string | undefined {
  if (parameters.has(markerName)) return undefined;
  const path = gatesPath(stage);
  return parameters.size === 0
    ? `this account and region have neither ${path}/${markerName} nor a gate flag of ${stage}: they are the wrong ones, or the stores of ${stage} are not deployed yet`
    : `${path} has gate flags without ${path}/${markerName}: this is not where the stores of ${stage} are deployed`;
}

/** Returns the flags below `/<stage>/gates`, and a sentence for each parameter with another name or value. */
export function sortFlags(
  stage: string,
  parameters: ReadonlyMap<string, string>,
): { readonly flags: GateFlags; readonly wrong: readonly string[] } {
  const wrong: string[] = [];
  for (const [name, value] of parameters) {
    if (name === markerName) continue;
    const parameter = `${gatesPath(stage)}/${name}`;
    if (!gates.some((gate) => gate === name))
      wrong.push(`${parameter} is not a gate: expected ${gates.join(', ')}`);
    else if (value !== 'open' && value !== 'closed')
      wrong.push(`${parameter} is neither "open" nor "closed"`);
  }
  return { flags: flagsOf(Object.fromEntries(parameters)), wrong };
}

/**
 * Reads the manifest that is applied to a stage from the place in its parameter, compares it with the digest there, and verifies it.
 * @returns err: a sentence; undefined if none has been applied
 */
export async function readAppliedManifest(
  use: ManifestUse,
  { readParameter, readManifest }: Pick<AppliedGates, 'readParameter' | 'readManifest'>,
): Promise<
  Result<{ readonly reference: ManifestReference; readonly manifest: ReleaseManifest } | undefined, string>
> {
  const name = manifestParameter(use.stage);
  const text = await readParameter(name);
  if (text === undefined) return ok(undefined);
  const reference = parseReference(text);
  if (reference === undefined) return err(`${name} does not contain the digest and the place of a manifest`);
  const bytes = await readManifest(reference.location);
  const what = `the manifest ${reference.location}`;
  if (bytes === undefined) return err(`${what} does not exist`);
  if (sha256Hex(bytes) !== reference.sha256)
    return err(`${what} is not the one that was applied: its digest is not that of ${name}`);
  const verified = await verifyManifest(new TextDecoder().decode(bytes), use);
  return verified.ok
    ? ok({ reference, manifest: verified.value })
    : err(`${what} ${describeFault(verified.error, use.stage)}`);
}

/**
 * Reads the open gates of a stage, from its parameters and its applied manifest (`releaseOf`). A gate is closed only if its flag, or that of gate E,
 * is `closed` or was never set: an operator decided that. If anything else prevents an `open` flag from opening its gate (AWS does not respond, an
 * invalid parameter, a manifest that is missing, changed, expired or signed with another key, a missing receipt), the result is an error: the flag
 * may have been valid yesterday, and a deployment would remove routes that are in use. A stage without the marker of its stores is an error too
 * (`placeFault`).
 * @param options `isFirst`: the first deployment of the stage to this place, where nothing of it may exist
 * @returns the release with sentences for the operator
 */
export async function readRelease(
  use: ManifestUse,
  applied: AppliedGates,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<Result<{ readonly release: ReleaseState; readonly notes: readonly string[] }, string>> {
  const { stage } = use;
  const path = gatesPath(stage);
  let parameters;
  try {
    parameters = await applied.readFlags(path);
  } catch (error) {
    return err(`cannot read the gates of ${stage} from SSM (${messageOf(error)}); ${offlineHint}`);
  }
  if (isFirst) {
    return parameters.size === 0
      ? ok({ release: closed, notes: [`first deployment of ${stage}: all gates are closed`] })
      : err(`${path} is not empty, so this is not the first deployment of ${stage} here: omit -c first`);
  }
  const misplaced = placeFault(stage, parameters);
  if (misplaced !== undefined) return err(`${misplaced} (docs/deploy.md, step 5)`);
  const { flags, wrong } = sortFlags(stage, parameters);
  const [first] = wrong;
  if (first !== undefined) return err(`${first}; ${offlineHint}`);
  const flagged = routeGates.filter((gate) => flags[gate] === 'open');
  if (flagged.length === 0) {
    const isUnset = gates.every((gate) => flags[gate] === undefined);
    return ok({
      release: closed,
      notes: isUnset ? [`${stage} has no gate flags yet: all gates are closed`] : [],
    });
  }
  if (flags.E === 'closed') {
    return ok({
      release: closed,
      notes: [
        `gate E of ${stage} is closed, and therefore ${flagged.join(', ')} too, although open in their flags`,
      ],
    });
  }

  const wayOut = `sign and apply a manifest, or close these gates: npm run gates -- apply --stage ${stage} --withdraw ${flagged.join(',')}; ${offlineHint}`;
  let found;
  try {
    found = await readAppliedManifest(use, applied);
  } catch (error) {
    return err(`cannot read the manifest of ${stage} (${messageOf(error)}); ${offlineHint}`);
  }
  if (!found.ok)
    return err(
      `${flagged.map((gate) => `${path}/${gate}`).join(', ')}: open flags without a valid manifest: ${found.error}; ${wayOut}`,
    );
  const release = found.value === undefined ? closed : releaseOf(found.value.manifest, flags);
  const unproved = flagged.find((gate) => !release.open.has(gate));
  return unproved === undefined
    ? ok({ release, notes: [] })
    : err(`${path}/${unproved} is "open", but no applied manifest has a receipt for it; ${wayOut}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : 'unknown error';
}
