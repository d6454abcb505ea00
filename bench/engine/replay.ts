import { compileModel, estimate } from '#functions/mastery/engine/index.ts';
import { makeBank } from '../bank.ts';
import { duration, judge, ratio, table, timeAll } from '../measure.ts';
import type { Part, Progress, Report } from '../measure.ts';
import { bankOf, contextOf, ends, REFERENCE, RUN_LENGTH, select } from './positions.ts';

/** Aim in milliseconds, on a machine like a Lambda with one whole processor. */
const REPLAY = 5;

async function replay(progress: Progress): Promise<Report> {
  progress('making the bank');
  const bank = bankOf(REFERENCE);
  const context = contextOf(bank, { maxItems: RUN_LENGTH + 1 });
  const positions = ends(context, RUN_LENGTH);
  const parameters = makeBank(REFERENCE);
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
      { name: 'compile', calls: [() => compileModel(parameters)] },
      { name: 'prepare', calls: [() => contextOf(bank)] },
    ],
    10,
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
  name: 'replay',
  title: 'Replay and preparation: the same bank',
  run: replay,
};
