import { localStage } from '#shared/stage/local-stage.ts';
import { gates, routeGates, type GateName } from '#shared/contract/gates.ts';
import type { ReleaseStateTable } from '#shared/stores/release-state-table.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { formatReference, gatesPath, manifestParameter } from '#shared/release/applied-manifest.ts';
import { placeFault } from '#shared/release/read-release.ts';
import type { ManifestReference } from '#shared/release/applied-manifest.ts';
import type { ReleaseManifest } from '#shared/release/manifest.ts';
import type { AppliedRelease, GateFlags, IsolationProof } from '#shared/release/release-state.ts';

/** Where a stage keeps its release. Each call throws what AWS throws. */
export interface ReleaseStore {
  readonly state: ReleaseStateTable;
  readonly readFlags: (path: string) => Promise<ReadonlyMap<string, string>>;
  readonly writeParameter: (name: string, value: string) => Promise<void>;
  /** Where `keepManifest` stores a manifest permanently. Writes nothing. */
  readonly placeOf: (jws: string) => Promise<Result<ManifestReference, string>>;
  readonly keepManifest: (jws: string) => Promise<void>;
}

export interface ApplyOptions {
  readonly stage: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
}

/** Attempts to write a withdrawal while other operators apply at the same time. */
const MAX_WITHDRAWALS = 5;

type Flags = Readonly<Record<GateName, 'open' | 'closed'>>;

/**
 * Returns the flags of a manifest with valid receipts: E, the manifest itself, and each gate that it has a receipt for, except the withdrawn ones
 * [RP-025].
 */
function flagsFor({ receipts }: ReleaseManifest, withdrawn: ReadonlySet<GateName>): Flags {
  const proved = new Set<string>(receipts.map(({ proves }) => proves));
  const flag = (gate: GateName): 'open' | 'closed' =>
    !withdrawn.has(gate) && (gate === 'E' || proved.has(gate)) ? 'open' : 'closed';
  return { A: flag('A'), B: flag('B'), C: flag('C'), D: flag('D'), E: flag('E'), F: flag('F') };
}

/**
 * Closes gates, with or without a valid manifest: first for the deployed functions, then for the next synth. If one step fails, the other is
 * still tried; a repetition does no harm. Another operator who applies between the two steps reads flags that are still open, so the last
 * step checks the item again.
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
      failures.push(`${what}: ${error instanceof Error ? error.message || error.name : 'unknown error'}`);
    }
  };
  await attempt('the release state that deployed functions read was not changed', async () => {
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
      if (tried >= MAX_WITHDRAWALS) throw new Error('another operator is applying at the same time');
    }
  });
  for (const gate of names) {
    const name = `${gatesPath(stage)}/${gate}`;
    await attempt(`the parameter ${name} was not changed`, () => store.writeParameter(name, 'closed'));
  }
  await attempt('the release state that deployed functions read could not be verified', async () => {
    const after = await store.state.read();
    if (names.some((gate) => after?.flags[gate] === 'open'))
      throw new Error('another operator applied in the meantime');
  });
  if (failures.length > 0) {
    return err(
      `could not close ${names.join(', ')} completely: run the command again\n${failures.join('\n')}`,
    );
  }
  print(
    `closed ${names.join(', ')} of ${stage}: their routes return 503 within 30 s; ${nextDeployment(stage)} removes them`,
  );
  return ok(undefined);
}

/**
 * Applies a verified manifest with valid receipts. It writes, in this order: the manifest, the flags that close, the manifest's digest and
 * place, the flags that open, gate E first, and finally the release state that functions read. After each step, every open flag is proved by
 * the stored manifest. So after a crash it is enough to run the command again.
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
  const misplaced = placeFault(stage, present);
  if (misplaced !== undefined) return err(misplaced);
  const flags = flagsFor(manifest, withdrawn);
  const isolationProof = isolationProofOf(manifest);
  for (const gate of gates) {
    print(`  ${gate}  ${(present.get(gate) ?? 'closed').padEnd(6)} -> ${flags[gate]}`);
  }
  if (dryRun) {
    print(`nothing was written; apply would store the manifest at ${place.value.location}`);
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
    // A withdrawal that was faster must not be undone.
    const newer = await store.state.read();
    for (const gate of gates) {
      if (flags[gate] === 'open' && newer?.flags[gate] !== 'open')
        await store.writeParameter(`${gatesPath(stage)}/${gate}`, 'closed');
    }
    return err(
      `another operator applied to ${stage} at the same time: check npm run gates -- show --stage ${stage}, then apply again`,
    );
  }
  print(`applied to ${stage}: ${place.value.location}`);
  print(`deployed routes follow it within 30 s; ${nextDeployment(stage)} adds and removes routes`);
  return ok(undefined);
}

/** Returns the command that adds and removes routes. */
function nextDeployment(stage: string): string {
  return stage === localStage ? 'npm start -- --gates LIST' : `npm run deploy -- -c stage=${stage}`;
}

/** Later than the previous state, so that no two states have the same time. */
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

/** Returns the stage's proof of tenant isolation, for receipts of the mastery engine: the manifest's receipt for gate D [MA-088]. */
function isolationProofOf({ receipts, rehearsal }: ReleaseManifest): IsolationProof | undefined {
  const receipt = receipts.find(({ proves }) => proves === 'D');
  return receipt && { digest: receipt.sha256, outcome: rehearsal ? 'rehearsed' : 'proved' };
}
