import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { estimate } from '#functions/mastery/engine/index.ts';
import { makeRandom } from '../bank.ts';
import { duration, verdict, ratio, table, timeAll } from '../measure.ts';
import type { Part, Progress, Report, Timed } from '../measure.ts';
import {
  bankOf,
  contextOf,
  positionsOf,
  range,
  referenceOf,
  REFERENCE,
  RUN_LENGTH,
  select,
} from './positions.ts';

/** How many times faster than jsCAT the next item is chosen, from a bank of the same size in the same process. */
const RATIO_AIM = 40;

/** Places in a run at which jsCAT chooses. */
const PLACES = 20;

const PEER = '@bdelab/jscat';

/** The part of jsCAT 5 that is measured. */
interface Stimulus {
  readonly id: string;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}
interface Cat {
  readonly findNextItem: (
    stimuli: readonly Stimulus[],
    itemSelect?: string,
    deepCopy?: boolean,
  ) => { readonly nextStimulus: Stimulus | undefined };
}
type CatClass = new (options: object) => Cat;

/**
 * jsCAT (npm `@bdelab/jscat`, version 5) measures one ability by item response theory; we measure it together with hundreds of KCs. It is
 * not a dependency: one of its own comes from a Git host and not from the registry, and brings 500 packages. `JSCAT_DIR` names a folder where it is installed.
 */
async function peer(progress: Progress, isQuick: boolean): Promise<Report> {
  const directory = process.env['JSCAT_DIR'];
  const theirs = directory === undefined ? undefined : choicesOf(await loadCat(directory));
  progress('walking through a run');
  const context = contextOf(bankOf(referenceOf(isQuick)));
  const ours = positionsOf(context, isQuick ? 1 : 3);
  const cases: readonly Timed[] = [
    { name: 'ours, chosen', calls: ours.map((position) => () => select(context, position)) },
    {
      name: 'ours, posterior of all answers, and chosen',
      calls: ours.map(
        (position) => () =>
          select(context, { ...position, posterior: estimate(context.model, position.outcomes) }),
      ),
    },
    ...(theirs === undefined
      ? []
      : [
          { name: 'jsCAT, chosen', calls: theirs(true) },
          { name: 'jsCAT, chosen without its copy of the bank', calls: theirs(false) },
        ]),
  ];
  const timings = await timeAll(cases, isQuick ? 1 : 2, progress);
  const [chosen = NaN, , , plain = NaN] = timings.map(({ best }) => best);
  const faster = plain / chosen;
  const text = table(
    ['', 'p50', 'p95', 'best', 'to ours, chosen', `aim: jsCAT ≥ ${RATIO_AIM}`],
    timings.map(({ name, p50, p95, best }, n) => [
      name,
      ...[p50, p95, best].map(duration),
      ratio(best / chosen),
      n < 2 ? '' : verdict(best / chosen >= RATIO_AIM),
    ]),
  );
  if (theirs === undefined) return { text: `${text}\n${HOW_TO}`, missed: [] };
  return {
    text,
    missed: faster >= RATIO_AIM ? [] : [`next item, jsCAT to ours: ${ratio(faster)}, aim ${RATIO_AIM}`],
  };
}

const HOW_TO = [
  'jsCAT is not measured: JSCAT_DIR names no folder. It is no dependency, since one of its own does not come from the registry. To compare:',
  `  mkdir jscat && cd jscat && echo '{"private":true,"overrides":{"optimization-js":"npm:optimization-js@1.5.0"}}' > package.json`,
  '  npm install --ignore-scripts @bdelab/jscat@5',
  '  JSCAT_DIR=$PWD npm --prefix PROJECT run bench -- --only peer',
].join('\n');

async function loadCat(directory: string): Promise<CatClass> {
  const require = createRequire(join(resolve(directory), 'package.json'));
  const { Cat } = (await import(pathToFileURL(require.resolve(PEER)).href)) as { Cat: CatClass };
  return Cat;
}

/** Choices at abilities from low to high, from banks that answers have made smaller, as in a run. */
function choicesOf(Cat: CatClass): (deepCopy: boolean) => Timed['calls'] {
  const random = makeRandom(1);
  const stimuli = range(REFERENCE.items).map((item) => ({
    id: `item-${item}`,
    a: 0.8 + 1.7 * random(),
    b: -3 + 6 * random(),
    c: 0.25 * random(),
    d: 1,
  }));
  return (deepCopy) =>
    range(PLACES).map((place) => {
      const cat = new Cat({ method: 'EAP', itemSelect: 'MFI', theta: -2 + (4 * place) / (PLACES - 1) });
      const left = stimuli.slice(Math.floor((place * RUN_LENGTH) / PLACES));
      return () => {
        if (cat.findNextItem(left, 'MFI', deepCopy).nextStimulus === undefined)
          throw new Error('jsCAT has found no item');
      };
    });
}

export const peerPart: Part = {
  title: 'Next item beside jsCAT: a bank of the same size, in one process',
  run: peer,
};
