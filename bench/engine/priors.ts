import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compileModel, estimate, type CompiledModel, type Outcome } from '#functions/mastery/engine/index.ts';
import { makeBank, type BankSize } from '../bank.ts';
import { duration, table, timeAll, type Part, type Progress, type Report } from '../measure.ts';
import { bankOf, contextOf, ends, referenceOf, RUN_LENGTH } from './positions.ts';

const priors: readonly { readonly name: string; readonly prior?: NonNullable<BankSize['prior']> }[] = [
  { name: 'the frozen kernel' },
  { name: 'no blocks', prior: 'curves' },
  { name: '100 chains of 5', prior: 'chains' },
  { name: '50 strands of 10', prior: 'strands' },
];

/** Returns the bytes in use, objects and buffers, after garbage has been collected; buffers are freed only in later rounds. */
async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  // SAFETY: the flag defines this function.
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Returns 60 answers of each of some runs. Nothing else of the runs is kept, so that it is not counted as memory. */
function answersOf(size: BankSize): readonly (readonly Outcome[])[] {
  const context = contextOf(bankOf(size), { maxItems: RUN_LENGTH + 1 });
  return ends(context, RUN_LENGTH).map(({ outcomes }) => outcomes);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

async function loadPriors(progress: Progress, isQuick: boolean): Promise<Report> {
  const rows: (readonly string[])[] = [];
  for (const { name, prior } of priors) {
    progress(`${name}: walking through runs`);
    const size = { ...referenceOf(isQuick), ...(prior === undefined ? {} : { prior }) };
    const parameters = makeBank(size);
    const runtimeVersion = prior === undefined ? 'ho-cdm-grid-1' : 'ho-cdm-block-1';
    const compile = (): CompiledModel => {
      const model = compileModel(parameters, runtimeVersion);
      if (!model.ok) throw new Error('the model does not compile');
      return model.value;
    };
    const answers = answersOf(size);
    const before = await bytesInUse();
    const model = compile();
    const compiled = await bytesInUse();
    for (const outcomes of answers) estimate(model, outcomes);
    const used = await bytesInUse();
    const fresh = answers.map((outcomes) => ({ outcomes, model: compile() }));
    const timings = await timeAll(
      [
        { name: `${name}: compiled`, calls: [compile] },
        {
          name: `${name}: 60 answers`,
          calls: answers.map((outcomes) => () => estimate(model, outcomes)),
        },
      ],
      isQuick ? 1 : 5,
      progress,
    );
    const first = fresh.map((one) => {
      const start = process.hrtime.bigint();
      estimate(one.model, one.outcomes);
      return Number(process.hrtime.bigint() - start) / 1e6;
    });
    rows.push([
      name,
      megabytes(JSON.stringify(parameters).length),
      ...timings.slice(0, 1).map(({ best }) => duration(best)),
      duration(Math.min(...first)),
      ...timings.slice(1).map(({ best }) => duration(best)),
      megabytes(compiled - before),
      megabytes(used - before),
    ]);
  }
  return {
    text: table(
      [
        '',
        'parameters as JSON',
        'compiled',
        '60 answers, first',
        'again',
        'memory compiled',
        'memory after 3 runs',
      ],
      rows,
    ),
    missed: [],
  };
}

export const priorPart: Part = {
  title: 'Blocks: parameters, load and memory of the same bank',
  run: loadPriors,
};
