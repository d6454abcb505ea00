import { describe, expect, it } from 'vitest';
import { ConnectionError, ProblemError, RunStalledError, type Problem } from '#client/index.ts';
import {
  endOf,
  failureOf,
  figure,
  isSettled,
  orderRule,
  percent,
  PlainError,
  ruleOf,
  stateOf,
  waitOf,
  wordsFor,
} from './words.ts';

const call = {
  service: 'reports',
  operation: 'readAttemptReport',
  idempotencyKey: undefined,
  baseUrl: 'http://127.0.0.1:1',
};
const problem = (code: string, more: Partial<Problem> = {}): ProblemError =>
  new ProblemError(
    call,
    {
      type: `https://problems.example/${code}`,
      title: 'A title',
      status: 503,
      detail: 'secret-id-4711',
      instance: '/v1/attempt-reports/secret-id-4711',
      requestId: 'secret-id-4711',
      retryable: true,
      ...more,
    },
    undefined,
  );

describe('the words of the explorer', () => {
  it.each([
    [0.5, 0.8, 'mastered from 80 %, gap up to 20 %, between: not settled'],
    [0.9, 0.8, 'mastered from 90 %, gap up to 20 %, between: not settled'],
    [0.1, 0.8, 'mastered from 80 %, gap below 10 %, between: not settled'],
    [0.5, 0.99999, 'mastered from 99.999 %, gap up to 0.001 %, between: not settled'],
  ])(
    'state the rule of a cut score of %d and a confidence of %d in one sentence',
    (cut, confidence, rule) => {
      expect(ruleOf({ kcCutScore: cut, confidenceThreshold: confidence })).toBe(rule);
    },
  );

  it.each([
    [0.8249, '82 %'],
    [0.9999, '>99 %'],
    [0.0001, '<1 %'],
    [1, '100 %'],
    [0, '0 %'],
  ])('give the probability %d as %s, never a certainty by rounding', (share, words) => {
    expect(percent(share, { kcCutScore: 0.5, confidenceThreshold: 0.8 })).toBe(words);
  });

  it('keep a probability in its zone, and count only what is settled as settled', () => {
    expect(percent(0.796, { kcCutScore: 0.5, confidenceThreshold: 0.8 })).toBe('79.6 %');
    expect(
      ['mastered', 'gap', 'not_yet', 'half_settled'].map((classification) => isSettled({ classification })),
    ).toEqual([true, true, false, false]);
  });

  it('name every reason for which a test can stop', () => {
    const rule = { kcCutScore: 0.5, confidenceThreshold: 0.8, maxItems: 12, timeBudgetSeconds: null };
    expect(endOf(rule)).toMatch(
      /settled, .* reached its target, when there is no further item to ask, or after 12 items$/,
    );
    expect(endOf({ ...rule, timeBudgetSeconds: 90 })).toMatch(/, when 90 seconds are over, /);
    expect(endOf({ ...rule, minimumDecisionGain: 0.01 })).toMatch(
      /, when no further item .* settled, or after 12 items$/,
    );
  });

  it.each([
    [0.123456789012, '0.123'],
    [71.4, '71.4'],
    [512.25, '512'],
    [12345.678, '12,346'],
    [-0.25, '-0.25'],
    [0, '0'],
  ])('give the figure %d as %s', (value, words) => {
    expect(figure(value)).toBe(words);
  });

  it.each([
    [problem('dependency-unavailable', { dependency: 'analytics' }), 'Analytics does not respond'],
    [
      problem('dependency-incomplete', { dependency: 'analytics' }),
      'Analytics does not have all facts yet, or they contradict others',
    ],
    [
      problem('x', { code: 'upstream-unavailable', upstream: { service: 'qti', operation: 'qti.read' } }),
      'QTI, which delivers and scores the items, does not respond',
    ],
    [
      problem('finalization-incomplete', { upstream: { service: 'of a later version', operation: 'x' } }),
      'An owner of the facts has not confirmed the result yet',
    ],
    [problem('of-a-later-version'), 'The service did not accept this request'],
    [new ConnectionError(call, 'refused', undefined), 'The service does not respond'],
    [new PlainError('QTI did not respond to the answer'), 'QTI did not respond to the answer'],
    [new Error('secret-id-4711'), 'Something failed on this page'],
  ])('say what failed without ids and codes: %s', (error, words) => {
    expect(failureOf(error)).toBe(words);
  });

  it('say that a run has no news', () => {
    const state = { data: { status: 'finalizing', offeredItem: null, receiptId: 'r' } };
    const stalled = new RunStalledError(state as ConstructorParameters<typeof RunStalledError>[0], 120_000);
    expect(failureOf(stalled)).toBe('There has been no news for two minutes');
  });

  it('show no member of an enumeration, known or of a later version', () => {
    expect(stateOf('not_yet')[1]).toBe('not settled');
    expect(stateOf('half_settled')[1]).toBe('not known to this page');
    expect(stateOf('constructor')[1]).toBe('not known to this page');
    expect(wordsFor('actions', 'half_settled')).toBe('something that this page does not know');
    expect(waitOf({ service: 'qti' })).toBe('Your answer is not scored yet');
    expect(waitOf({ service: 'anchor' })).toBe(
      'The anchor of the scale cannot be verified, so the result is not published yet',
    );
    expect(waitOf({ service: 'of_a_later_version' })).not.toContain('_');
  });

  it.each([
    [
      'discrimination_index',
      0.123456789,
      'proportion',
      'lt',
      0.2,
      'discrimination: 0.123; a revision is asked for below 0.2',
    ],
    [
      'mean_score_difference',
      -7,
      'points',
      'outside',
      5,
      'difference of the mean scores: -7 points; a revision is asked for further from zero than 5 points',
    ],
  ])('state the rule of an order: %s', (name, value, unit, operator, threshold, rule) => {
    const order = { observedMetric: { name, value, unit }, threshold: { operator, value: threshold } };
    expect(orderRule(order)).toBe(rule);
  });
});
