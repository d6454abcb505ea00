import { localStage } from '#shared/stage/local-stage.ts';
import { gates, routeGates } from '#shared/contract/gates.ts';
import type { GateName } from '#shared/contract/gates.ts';
import type { ReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { formatReference, gatesPath, manifestParameter } from '#shared/release/applied-manifest.ts';
import type { ManifestReference } from '#shared/release/applied-manifest.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import type { AppliedRelease, GateFlags, IsolationProof } from '#shared/release/release-state.ts';

/** Where a stage keeps its release. Each call throws what AWS throws. */
export interface ReleaseStore {
  readonly state: ReleaseStateTable;
  readonly readFlags: (path: string) => Promise<ReadonlyMap<string, string>>;
  readonly writeParameter: (name: string, value: string) => Promise<void>;
  /** Keeps a manifest for good, and says where; without writing when only its place is asked for. */
  readonly placeOf: (jws: string) => Promise<Result<ManifestReference, string>>;
  readonly keepManifest: (jws: string) => Promise<void>;
}

export interface ApplyOptions {
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Nothing is written. */
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
}

/** How often a withdrawal is written against others who apply at the same time. */
const MAX_WITHDRAWALS = 5;

type Flags = Readonly<Record<GateName, 'open' | 'closed'>>;

/**
 * The flags of a manifest whose receipts all dereference: E, the manifest itself, and the gates that it has a receipt for, without those
 * that are withdrawn [RP-025].
 */
export function flagsFor({ receipts }: ReleaseManifest, withdrawn: ReadonlySet<GateName>): Flags {
  const proved = new Set<string>(receipts.map(({ proves }) => proves));
  const flag = (gate: GateName): 'open' | 'closed' =>
    !withdrawn.has(gate) && (gate === 'E' || proved.has(gate)) ? 'open' : 'closed';
  return { A: flag('A'), B: flag('B'), C: flag('C'), D: flag('D'), E: flag('E'), F: flag('F') };
}

/**
 * Closes gates, whatever there is of a manifest: first for the functions that are deployed, then for the next synth. Both are tried, and
 * again does nothing. Whoever applies between the two sees flags that are still open: so the item is looked at again at the end.
 */
export async function withdraw(
  store: ReleaseStore,
  withdrawn: ReadonlySet<GateName>,
  { stage, now, dryRun, print }: ApplyOptions,
): Promise<Result<undefined, string>> {
  const names = gates.filter((gate) => withdrawn.has(gate));
  if (dryRun) {
    print(`would close ${names.join(', ')}`);
    return ok(undefined);
  }
  const failures: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.push(`${what}: ${error instanceof Error ? error.message || error.name : 'unknown failure'}`);
    }
  };
  await attempt('the item that functions read is as it was', async () => {
    for (let tried = 1; ; tried += 1) {
      const before = await store.state.read();
      if (before !== undefined && names.every((gate) => before.flags[gate] !== 'open')) return;
      const flags = Object.fromEntries(names.map((gate) => [gate, 'closed'])) as GateFlags;
      const after = nextState(
        {
          manifest: before?.manifest ?? '',
          flags: { ...before?.flags, ...flags },
          isolationProof: before?.isolationProof,
        },
        before,
        now,
      );
      if (await store.state.write(after, before)) return;
      if (tried >= MAX_WITHDRAWALS) throw new Error('others apply at the same time');
    }
  });
  for (const gate of names) {
    const name = `${gatesPath(stage)}/${gate}`;
    await attempt(`${name} is as it was`, () => store.writeParameter(name, 'closed'));
  }
  await attempt('the item that functions read is not known to be closed', async () => {
    const after = await store.state.read();
    if (names.some((gate) => after?.flags[gate] === 'open'))
      throw new Error('somebody else has applied meanwhile');
  });
  if (failures.length > 0) {
    return err(`${names.join(', ')} could not be closed everywhere; run it again.\n${failures.join('\n')}`);
  }
  print(
    `closed ${names.join(', ')} of ${stage}: their routes answer 503 within 30 s, and go with ${nextDeployment(stage)}`,
  );
  return ok(undefined);
}

/**
 * Applies a manifest that was verified and whose receipts all dereference. What it writes, in this order: the manifest, the flags that
 * close, the manifest's digest and place, the flags that open, gate E first, and at last the item that functions read. After each step the
 * whole is sound: no flag is open that the manifest beside it does not prove. So a crash at any point costs nothing but another run.
 */
export async function applyManifest(
  store: ReleaseStore,
  { jws, manifest }: { readonly jws: string; readonly manifest: ReleaseManifest },
  withdrawn: ReadonlySet<GateName>,
  { stage, now, dryRun, print }: ApplyOptions,
): Promise<Result<undefined, string>> {
  const place = await store.placeOf(jws);
  if (!place.ok) return place;
  const before = await store.state.read();
  const present = await store.readFlags(gatesPath(stage));
  const flags = flagsFor(manifest, withdrawn);
  const isolationProof = isolationProofOf(manifest);
  for (const gate of gates) {
    print(`  ${gate}  ${(present.get(gate) ?? 'closed').padEnd(6)} -> ${flags[gate]}`);
  }
  if (dryRun) {
    print(`nothing was written; the manifest would be kept at ${place.value.location}`);
    return ok(undefined);
  }
  await store.keepManifest(jws);
  const set = (state: 'open' | 'closed') => async (gate: GateName) => {
    if (flags[gate] === state && present.get(gate) !== state)
      await store.writeParameter(`${gatesPath(stage)}/${gate}`, state);
  };
  for (const gate of gates) await set('closed')(gate);
  await store.writeParameter(manifestParameter(stage), formatReference(place.value));
  for (const gate of ['E', ...routeGates] as const) await set('open')(gate);
  if (!(await store.state.write(nextState({ manifest: jws, flags, isolationProof }, before, now), before))) {
    // Who was overtaken by a withdrawal must not have undone it.
    const newer = await store.state.read();
    for (const gate of gates) {
      if (flags[gate] === 'open' && newer?.flags[gate] !== 'open')
        await store.writeParameter(`${gatesPath(stage)}/${gate}`, 'closed');
    }
    return err(
      `somebody else applied to ${stage} at the same time; see npm run gates -- show --stage ${stage}, then apply again`,
    );
  }
  print(`applied to ${stage}: ${place.value.location}`);
  print(`routes that are there go by it within 30 s; others come and go with ${nextDeployment(stage)}`);
  return ok(undefined);
}

/** What makes routes come and go. */
function nextDeployment(stage: string): string {
  return stage === localStage ? 'npm start -- --gates LIST' : `npm run deploy -- -c stage=${stage}`;
}

/** Later than what was there, so that no two states have the same time. */
function nextState(
  {
    isolationProof,
    ...applied
  }: Pick<AppliedRelease, 'manifest' | 'flags'> & { readonly isolationProof: IsolationProof | undefined },
  before: AppliedRelease | undefined,
  now: number,
): AppliedRelease {
  return {
    ...applied,
    appliedAt: Math.max(now, (before?.appliedAt ?? 0) + 1),
    ...(isolationProof === undefined ? {} : { isolationProof }),
  };
}

/** What receipts of the mastery engine say of the stage: the manifest's receipt for gate D [MA-088]. */
function isolationProofOf({ receipts, rehearsal }: ReleaseManifest): IsolationProof | undefined {
  const receipt = receipts.find(({ proves }) => proves === 'D');
  return receipt && { digest: receipt.sha256, outcome: rehearsal ? 'rehearsed' : 'proved' };
}
