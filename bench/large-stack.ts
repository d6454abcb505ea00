import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIssuerKey } from '#shared/stage/local-issuer.ts';
import { loadSeed } from '#local/seeds/load.ts';
import { renderDefects, type Seed } from '#local/seeds/seed.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { startStack, type Stack } from '#local/stack/stack.ts';
import { provable } from '#shared/contract/gates.ts';
import { routesOf } from '#shared/contract/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { buildFunctions } from '#tools/bundling/build.ts';
import { unwrap } from './measure.ts';

const KCS_PER_STANDARD = 10;
const BANK = 'large';

/** What a large bank is made of, and of how many of its knowledge components a run reports. */
export interface LargeBank {
  readonly items: number;
  /** The knowledge components of the bank, a multiple of 10. */
  readonly kcs: number;
  /** The knowledge components that a run reports: the generator's first ones. */
  readonly scope: number;
  readonly maxItems: number;
}

/** A local stack over one large bank, with the mastery engine's functions as they deploy. Disposing of it ends it. */
export async function startLargeStack(bank: LargeBank): Promise<Stack & AsyncDisposable> {
  const stack = await startStack({
    port: 0,
    seed: await largeSeed(bank),
    routes: routesOf('mastery'),
    background: [],
    proved: new Set(provable),
    bundles: unwrap(await buildFunctions()),
    issuerKey: await createIssuerKey(),
  });
  return { ...stack, [Symbol.asyncDispose]: () => stack.close() };
}

/** The environment of a function that runs outside the stack. */
export function variablesBeside({ urls, rehearsal }: Stack, route: Route): Readonly<Record<string, string>> {
  return variablesOf(route, {
    awsUrl: urls.awsUrl,
    gatewayUrl: new URL(urls.masteryUrl).origin,
    releaseKey: rehearsal.releaseKey,
  });
}

async function largeSeed({ items, kcs, scope, maxItems }: LargeBank): Promise<Seed> {
  const directory = await mkdtemp(join(tmpdir(), 'mastery-bench-'));
  const files = {
    'seed.json': { name: BANK, title: 'Large', banks: [{ name: BANK }] },
    [`${BANK}/generator.json`]: {
      generator: 'standards-by-components/1',
      seed: '2026',
      title: 'Large',
      subject: 'mathematics',
      grades: ['06', '07', '08'],
      learners: 1,
      standards: kcs / KCS_PER_STANDARD,
      kcsPerStandard: KCS_PER_STANDARD,
      items,
    },
    [`${BANK}/policy.json`]: {
      kcCutScore: 0.5,
      // Nothing but the number of items ends a run.
      confidenceThreshold: 1,
      precisionTarget: 1e-9,
      maxItems,
      timeBudgetSeconds: null,
      coverageFloors: [],
      eligibilityRules: { kcScope: Array.from({ length: scope }, (_, n) => kcName(n, kcs)) },
    },
  };
  try {
    await mkdir(join(directory, BANK));
    for (const [name, value] of Object.entries(files))
      await writeFile(join(directory, name), JSON.stringify(value));
    return unwrap(await loadSeed(directory), renderDefects);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function kcName(n: number, kcs: number): string {
  const number = (value: number, largest: number): string =>
    String(value + 1).padStart(String(largest).length, '0');
  const standard = number(Math.floor(n / KCS_PER_STANDARD), kcs / KCS_PER_STANDARD);
  return `S${standard}.K${number(n % KCS_PER_STANDARD, KCS_PER_STANDARD)}`;
}
