import { compileModel, estimate } from '#functions/mastery/engine/index.ts';
import { makeBank } from '../bank.ts';
import {
  duration,
  verdict,
  ratio,
  table,
  timeAll,
  type Part,
  type Progress,
  type Report,
} from '../measure.ts';
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
  const compile = () => {
    if (!compileModel(parameters).ok) throw new Error('the model does not compile');
  };
  const replayed = positions.map((position) => () => {
    const posterior = estimate(context.model, position.outcomes);
    return select(context, { ...position, posterior });
  });
  const cases = [
    { name: '60 outcomes replayed, next item chosen', calls: replayed },
    { name: 'parameters parsed (JSON.parse)', calls: [() => JSON.parse(text) as unknown] },
    { name: 'model compiled, once a container', calls: [compile] },
    { name: 'pool prepared for selection, once a container', calls: [() => contextOf(bank)] },
  ];
  const timings = await timeAll(cases, isQuick ? 2 : 10, progress);
  const parsed = timings[1]?.p50 ?? NaN;
  return {
    text: table(
      ['', 'p50', 'to JSON.parse', 'aim', ''],
      timings.map(({ name, p50 }, n) => [
        name,
        duration(p50),
        ...(n === 0 ? ['', `≤ ${REPLAY} ms`, verdict(p50 <= REPLAY)] : [ratio(p50 / parsed)]),
      ]),
    ),
    missed: [],
  };
}

export const replayPart: Part = {
  title: 'Replay and preparation: the same bank',
  run: replay,
};
