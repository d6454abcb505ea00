import { describe, expect, it } from 'vitest';
import { findPhrases } from './plain-english.ts';

describe('findPhrases', () => {
  it.each([
    ['nobody', 'Nobody is asked.', 'The service asks no owner.'],
    ['whoever', 'for whoever holds the link', 'for the holder of the link'],
    ['whatever', 'whatever the gates', 'whether or not gates are open'],
    ['beside', 'The comparison is shown beside it.', 'The comparison is shown next to it.'],
    ['stands in', 'The id stands in the path.', 'The id is in the path.'],
    ['alone', 'the service alone', 'only the service'],
    ['Of', ' Of a source: its bundle.', 'The bundle of a source.'],
    ['What of', '* What of a release is open.', 'The open part of a release.'],
    ['So many', ' So many sources a run can have.', 'The most sources of a run.'],
    ['all the same', 'The work stands all the same.', 'The work is valid anyway.'],
    ['for ever', 'handed on for ever', 'handed on endlessly'],
    ['also when', 'refused, also when they agree', 'rejected, even if they agree'],
    ['says', 'What the policy says.', 'The rules of the policy.'],
    ['told', 'The caller is told nothing.', 'The caller learns nothing.'],
  ])('reports "%s"', (phrase, bad, good) => {
    const [found, ...others] = findPhrases(bad).map(({ message }) => message.split('": ')[0]?.slice(1));
    expect([found?.toLowerCase(), others]).toEqual([phrase.toLowerCase(), []]);
    expect(findPhrases(good)).toEqual([]);
  });

  it('names the line, also of a phrase that two lines share', () => {
    expect(
      findPhrases('*\n * The text is right.\n * The id stands\n * for a run. Nobody knows.\n '),
    ).toMatchObject([
      { line: 3, message: expect.stringMatching(/^"Nobody": name the role/) as string },
      { line: 2, message: expect.stringMatching(/^"stands for": write /) as string },
    ]);
  });

  it.each([
    'The caller may say no.',
    'to tell two texts apart',
    'left alone',
    'a stand-in',
    'J. of Statistics',
  ])('passes %j', (text) => {
    expect(findPhrases(text)).toEqual([]);
  });
});
