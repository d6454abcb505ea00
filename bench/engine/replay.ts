import { compileModel, estimate } from '#functions/mastery/engine/index.ts';
import { makeBank } from '../bank.ts';
import { duration, judge, ratio, table, timeAll, type Part, type Progress, type Report } from '../measure.ts';
import { bankOf, contextOf, ends, referenceOf, RUN_LENGTH, select } from './positions.ts';

/** Aim in milliseconds, on a machine like a Lambda with one whole processor. */
const REPLAY = 5;

async function replay(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('making the bank');
  const size = referenceOf(isQuick);
  const bank = bankOf(size);
  const context = contextOf(bank, { maxItems: RUN_LENGTH + 1 });
  const positions = ends(context, RUN_LENGTH);
  const parameters = makeBank(size);
  const text = JSON.stringify(parameters);
  const timings = await timeAll(
    [
      {
        name: 'replay',
        calls: positions.map((position) => () => {
          const posterior = estimate(context.model, position.outcomes);
          return select(context, { ...position, posterior });
        }),
      },
      { name: 'parse', calls: [() => JSON.parse(text) as unknown] },
      {
        name: 'compile',
        calls: [
          () => {
            if (!compileModel(parameters).ok) throw new Error('the model does not compile');
          },
        ],
      },
      { name: 'prepare', calls: [() => contextOf(bank)] },
    ],
    isQuick ? 2 : 10,
    progress,
  );
  const [replayed, parsed, compiled, prepared] = timings.map(({ p50 }) => p50);
  if (replayed === undefined || parsed === undefined || compiled === undefined || prepared === undefined)
    throw new Error('a case was not timed');
  return {
    text: table(
      ['', 'p50', 'to JSON.parse', 'aim', ''],
      [
        [
          '60 outcomes replayed, next item chosen',
          duration(replayed),
          '',
          `≤ ${REPLAY} ms`,
          judge(replayed <= REPLAY),
        ],
        ['parameters parsed (JSON.parse)', duration(parsed), '1.00'],
        ['model compiled, once a container', duration(compiled), ratio(compiled / parsed)],
        ['pool prepared for selection, once a container', duration(prepared), ratio(prepared / parsed)],
      ],
    ),
    missed: [],
  };
}

export const replayPart: Part = {
  title: 'Replay and preparation: the same bank',
  run: replay,
};
