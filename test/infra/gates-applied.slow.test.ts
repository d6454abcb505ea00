import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readRelease } from '#shared/release/read-release.ts';
import { localBucketName } from '#shared/stage/local-stage.ts';
import { ssm } from '#shared/stores/clients.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { gates, type GateName } from '#shared/contract/gates.ts';
import { routesOf } from '#shared/contract/routes.ts';
import { bucketParameter } from '#shared/release/applied-manifest.ts';
import { isReleased } from '#shared/release/release-state.ts';
import { err } from '#shared/kernel/result.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createSigner, sampleManifest } from '#test/support/release.ts';
import { applyManifest, withdraw, type ReleaseStore } from '#ops/gates/apply.ts';
import { signManifest } from '#ops/gates/sign-manifest.ts';
import { appliedGates, releaseStore } from '#ops/gates/stage-places.ts';

const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const { key, privateKey } = createSigner();
const use = { key, stage: 'prod', now: NOW };
const manifest = sampleManifest(['A', 'C', 'D'], { stage: 'prod', rehearsal: false });
const checked = { jws: signManifest(manifest, privateKey), manifest };

const test = useTestAws();
let store: ReleaseStore;
let printed: string[];
const options = { stage: 'prod', now: NOW, dryRun: false, print: (line: string) => printed.push(line) };

// The clients of the command and of the synth, in front of the emulator.
beforeAll(() => Object.assign(process.env, test.env));

beforeEach(async () => {
  printed = [];
  const opened = await releaseStore('prod', 'local-settings');
  if (!opened.ok) throw new Error(opened.error);
  store = opened.value;
  await writeGateParameter(ssm(), bucketParameter('prod'), localBucketName);
  await writeGateParameter(ssm(), '/prod/gates/marker', 'prod');
  for (const gate of gates) await writeGateParameter(ssm(), `/prod/gates/${gate}`, 'closed');
});

/** The routes that a synth of the stage releases (gates.test.ts compares the templates). */
async function released(): Promise<readonly string[]> {
  const read = await readRelease(use, appliedGates());
  if (!read.ok) throw new Error(read.error);
  const { release } = read.value;
  return routesOf('reports')
    .filter((route) => isReleased(route, release))
    .map(({ operationId }) => operationId)
    .toSorted();
}

const APPLIED = 'A open, B closed, C open, D open, E open, F closed';
const cohorts = ['readClassCohort', 'readEquivalence', 'readSchoolGradeCohort'];
const details = ['readAttemptReport', 'readReadiness'];
const flags = async (): Promise<string> =>
  [...(await store.readFlags('/prod/gates'))]
    .filter(([name]) => name !== 'marker')
    .toSorted()
    .map(([gate, state]) => `${gate} ${state}`)
    .join(', ');
const apply = (to: ReleaseStore = store, ...held: readonly GateName[]) =>
  applyManifest(to, checked, new Set(held), options);
const withdrawing = (...names: readonly GateName[]) => withdraw(store, new Set(names), options);

describe('a manifest that is applied to a stage', () => {
  it('opens what it proves, and withdrawing takes it out again [RP-019, RP-023, RP-025]', async () => {
    expect(await released()).toStrictEqual([]);
    expect(await apply()).toMatchObject({ ok: true });
    expect(await flags()).toBe(APPLIED);
    // The list of a candidate has no index in this manifest.
    expect(await released()).toStrictEqual([...cohorts, ...details].toSorted());
    expect(await store.state.read()).toStrictEqual({
      manifest: checked.jws,
      flags: { A: 'open', B: 'closed', C: 'open', D: 'open', E: 'open', F: 'closed' },
      appliedAt: NOW,
      isolationProof: {
        digest: manifest.receipts.find(({ proves }) => proves === 'D')?.sha256,
        outcome: 'proved',
      },
    });

    expect(await withdrawing('C')).toMatchObject({ ok: true });
    expect(await released()).toStrictEqual(cohorts);
    expect((await store.state.read())?.flags).toMatchObject({ A: 'open', C: 'closed', D: 'open' });
    expect(await withdrawing('E')).toMatchObject({ ok: true });
    expect(await released()).toStrictEqual([]);
  });

  it('holds back what is withdrawn with it', async () => {
    await apply(store, 'C');
    expect(await flags()).toBe('A open, B closed, C closed, D open, E open, F closed');
  });

  it('writes nothing when it is only asked what it would write', async () => {
    const before = [await flags(), await store.state.read()];
    expect(await applyManifest(store, checked, new Set(), { ...options, dryRun: true })).toMatchObject({
      ok: true,
    });
    expect(await withdraw(store, new Set(['A']), { ...options, dryRun: true })).toMatchObject({ ok: true });
    expect([await flags(), await store.state.read()]).toStrictEqual(before);
    expect(printed.join('\n')).toMatch(/A {2}closed -> open[\s\S]*nothing was written/);
  });

  it('is sound after a crash at any of its writes, and complete after another run', async () => {
    const crash = new Error('the connection was lost');
    for (let survived = 0; ; survived += 1) {
      for (const gate of gates)
        await writeGateParameter(ssm(), `/prod/gates/${gate}`, gate === 'F' ? 'open' : 'closed');
      let writes = 0;
      const counted = async <T>(work: () => Promise<T>): Promise<T> => {
        writes += 1;
        if (writes > survived) throw crash;
        return work();
      };
      const failing: ReleaseStore = {
        ...store,
        keepManifest: (jws) => counted(() => store.keepManifest(jws)),
        writeParameter: (name, value) => counted(() => store.writeParameter(name, value)),
        state: { ...store.state, write: (...state) => counted(() => store.state.write(...state)) },
      };
      const done = await apply(failing).catch((error: unknown) => error);
      if (done !== crash) {
        expect(survived).toBeGreaterThan(5);
        break;
      }
      // F is the old manifest's, which nothing proves any more: until it is closed a synth may refuse, but opens nothing unproved.
      const read = await readRelease(use, appliedGates());
      if (read.ok) for (const gate of read.value.release.open) expect(['A', 'C', 'D']).toContain(gate);
      expect(await apply()).toMatchObject({ ok: true });
      expect(await flags()).toBe(APPLIED);
    }
  });

  it('does not undo a withdrawal that overtakes it', async () => {
    await apply();
    await withdrawing('A');
    const slow: ReleaseStore = {
      ...store,
      keepManifest: async (jws) => {
        await store.keepManifest(jws);
        await withdrawing('D');
      },
    };
    expect(await apply(slow)).toStrictEqual(
      err(expect.stringMatching(/another operator applied to prod at the same time/)),
    );
    expect(await flags()).toBe('A closed, B closed, C open, D closed, E open, F closed');
    expect((await store.state.read())?.flags).toMatchObject({ A: 'closed', D: 'closed' });
  });

  it('refuses a synth over a flag that was set by hand, and opens nothing with it [RP-025, RP-032]', async () => {
    await apply();
    await writeGateParameter(ssm(), '/prod/gates/B', 'open');
    await expect(released()).rejects.toThrow(
      '/prod/gates/B is "open", but no applied manifest has a receipt for it',
    );
  });
});

describe('a withdrawal', () => {
  it('closes for the functions also when SSM does not answer, and says what is left to do', async () => {
    await apply();
    const deaf: ReleaseStore = {
      ...store,
      writeParameter: () => Promise.reject(new Error('ThrottlingException')),
    };
    expect(await withdraw(deaf, new Set(['D']), options)).toStrictEqual(
      err(
        expect.stringMatching(
          /run the command again\nthe parameter \/prod\/gates\/D was not changed: ThrottlingException/,
        ),
      ),
    );
    expect((await store.state.read())?.flags).toMatchObject({ C: 'open', D: 'closed' });
  });

  it('does not call closed what another operator opened in the meantime', async () => {
    await apply();
    const slow: ReleaseStore = {
      ...store,
      writeParameter: async (name, value) => {
        await apply();
        await store.writeParameter(name, value);
      },
    };
    printed.length = 0;
    expect(await withdraw(slow, new Set(['D']), options)).toStrictEqual(
      err(expect.stringMatching(/^could not close D completely: run the command again\n.*another operator/)),
    );
    expect(printed.join('\n')).not.toMatch(/closed D/);
    expect(await withdrawing('D')).toMatchObject({ ok: true });
    expect((await store.state.read())?.flags).toMatchObject({ C: 'open', D: 'closed' });
  });

  it('needs no manifest, and none that was ever applied', async () => {
    await withdrawing('B', 'F');
    expect(await flags()).toMatch(/B closed.*F closed/);
  });
});
