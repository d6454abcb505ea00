import type { AttemptReport, Score } from 'mastery-reports-client';
import { endsFor, scoreAxis } from './axis.ts';
import type { Block, Section } from './document.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';

type Unit = Listed<Score['unit']>;

/**
 * Returns a settled score in words: "11 of 20 points".
 * @param required of the decision about it, if there is one
 */
export function scoreText(
  { texts, numbers }: Speaker,
  { value, maximum, unit }: Score,
  required = value,
): string {
  const [figure, most] = numbers([value, maximum ?? value, required]);
  const words: Readonly<Record<Unit, string>> = {
    points: texts.points(figure, maximum === null ? undefined : most),
    percent: `${figure} %`,
    mastery_scale: texts.onScale(figure),
    unknown: texts.withoutUnit(figure),
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
  const certainty =
    error === undefined
      ? texts.noError
      : texts.range(number(value - error), number(value + error), number(error));
  // A scale of one point has no length.
  const picture: readonly Block[] =
    high > low
      ? [
          { kind: 'axis', axis: scoreAxis(speaker, { value, error, low, high, figure, what: texts.score }) },
          { kind: 'text', quiet: true, text: axisText(number(low), number(high)) },
        ]
      : [];
  return {
    heading: texts.score,
    blocks: [
      { kind: 'text', text: texts.scored(figure) },
      ...picture.slice(0, 1),
      { kind: 'text', text: certainty },
      ...picture.slice(1),
      ...limitations.map((text): Block => ({ kind: 'text', text, isEnglish: true })),
    ],
  };
}

/** Returns the score of a report: that of its diagnosis if it has one. */
export function reportScore(speaker: Speaker, { score, diagnostic, gate }: AttemptReport): Section {
  const { minimum, maximum, scaleVersion } = score;
  const bounds = minimum === null || maximum === null ? undefined : { low: minimum, high: maximum };
  if (diagnostic === null) {
    const ends = bounds ?? speaker.scaleOf(scaleVersion);
    const figure = scoreText(speaker, score, gate?.required);
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
