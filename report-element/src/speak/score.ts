import type { AttemptReport, Score } from 'mastery-reports-client';
import { endsFor, scoreAxis } from './axis.ts';
import type { Block, Section } from './document.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';

type Unit = Listed<Score['unit']>;

/** Returns a settled score in words: "11 of 20 points". */
export function scoreText({ texts, number }: Speaker, { value, maximum, unit }: Score): string {
  const words: Readonly<Record<Unit, string>> = {
    points: texts.points(number(value), maximum === null ? undefined : number(maximum)),
    percent: `${number(value)} %`,
    mastery_scale: texts.onScale(number(value)),
    unknown: texts.withoutUnit(number(value)),
  };
  return ofListed(words, unit, words.unknown);
}

interface Measured {
  readonly value: number;
  readonly error: number | undefined;
  readonly figure: string;
  readonly ends: { readonly low: number; readonly high: number } | undefined;
  readonly limitations: readonly string[];
}

/** Returns a score on its scale, and what it does not support. */
export function scoreSection(speaker: Speaker, measured: Measured): Section {
  const { texts, number } = speaker;
  const { value, error, figure, ends, limitations } = measured;
  const reach = error ?? 0;
  const [low, high] = ends === undefined ? endsFor([value - reach, value + reach]) : [ends.low, ends.high];
  const axisText = ends === undefined ? texts.axisWithoutEnds : texts.axisEnds;
  return {
    heading: texts.score,
    blocks: [
      { kind: 'text', text: texts.scored(figure) },
      // A scale of one point has no length.
      ...(high > low
        ? [
            {
              kind: 'axis' as const,
              axis: scoreAxis(speaker, { value, error, low, high, figure, what: texts.score }),
            },
          ]
        : []),
      {
        kind: 'text',
        text:
          error === undefined
            ? texts.noError
            : texts.range(number(value - error), number(value + error), number(error)),
      },
      { kind: 'text', quiet: true, text: axisText(number(low), number(high)) },
      ...limitations.map((text): Block => ({ kind: 'text', text, isEnglish: true })),
    ],
  };
}

/** Returns the score of a report: that of its diagnosis if it has one. */
export function reportScore(speaker: Speaker, { score, diagnostic }: AttemptReport): Section {
  const { minimum, maximum, scaleVersion } = score;
  const bounds = minimum === null || maximum === null ? undefined : { low: minimum, high: maximum };
  if (diagnostic === null) {
    const ends = bounds ?? speaker.scaleOf(scaleVersion);
    const figure = scoreText(speaker, score);
    return scoreSection(speaker, { value: score.value, error: undefined, figure, ends, limitations: [] });
  }
  const isScale = score.unit === 'mastery_scale' && scaleVersion === diagnostic.scaleVersion;
  return scoreSection(speaker, {
    value: diagnostic.scaleScore,
    error: diagnostic.standardError,
    figure: speaker.texts.onScale(speaker.number(diagnostic.scaleScore)),
    ends: (isScale ? bounds : undefined) ?? speaker.scaleOf(diagnostic.scaleVersion),
    limitations: [],
  });
}
