import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import type { Route } from '#shared/contract/route.ts';
import { routes } from '#shared/contract/routes.ts';
import { readRequest } from '#shared/http/syntax/read-request.ts';
import { proxyEvent, type TestRequest } from '#test/support/lambda.ts';
import { isAdmitted, loosened, placesOf, type Place } from './edges.ts';

// A client that checks requests by the published documents is neither refused afterwards nor kept from a valid request. What an operation
// refuses later on (an unknown id, a cursor of another list, an entity tag that is not current) is no matter of syntax.

interface Walked {
  readonly route: Route;
  readonly place: Place;
  /** Whether the service takes each trial. */
  readonly taken: () => readonly boolean[];
}

const walked: readonly Walked[] = routes.flatMap((route) =>
  placesOf(route).map((place) => {
    let taken: readonly boolean[] | undefined;
    return {
      route,
      place,
      taken: () => (taken ??= place.trials.map(({ request }) => takes(route, request))),
    };
  }),
);

/** Whether the service takes a request, as far as its syntax goes. */
function takes(route: Route, request: TestRequest): boolean {
  const read = readRequest(route, proxyEvent(route, request));
  if (!read.ok && read.error.status !== 400)
    expect(`${read.error.status} ${read.error.code}`).toBe(route.request.limit?.problem);
  return read.ok;
}

/** A value without the members that it shares with another one. */
function brief(value: unknown, other: unknown): string {
  if (value === undefined) return 'absent';
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const own = isObject
    ? Object.entries(value).filter(
        ([name, member]) => !isDeepStrictEqual(member, (other as typeof value)[name as never]),
      )
    : undefined;
  return JSON.stringify(own === undefined ? value : Object.fromEntries(own)).slice(0, 300);
}

const nameOf = ({ route, place }: Walked): string => `${route.operationId} ${place.name}`;

describe('a service returns 400 for exactly what its document does not admit [RP-049, RP-050, RP-051, RP-302, MA-041, MA-057, MA-058, MA-187]', () => {
  it.each(walked.map((one) => [nameOf(one), one] as const))('%s', (_, { place, taken }) => {
    const found = place.trials.flatMap(({ value }, at) => {
      const admitted = isAdmitted(place, value);
      return admitted === taken()[at] ? [] : [{ value: brief(value, place.trials[0]!.value), admitted }];
    });
    expect(found.slice(0, 20)).toEqual([]);
  });

  /** One place of each form. */
  const forms = new Map(
    walked.map((one) => [JSON.stringify([one.place.name.split(' ')[0], one.place.schema]), one]),
  );

  it.each(
    [...forms.values()].flatMap((one) =>
      loosened(one.place.schema).map(([what, schema]) => [`${nameOf(one)} ${what}`, one, schema] as const),
    ),
  )('would not if the document lacked %s', (_, { place, taken }, schema) => {
    const isOpen = place.trials.some(
      ({ value }, at) => isAdmitted({ ...place, schema }, value) && taken()[at] !== true,
    );
    expect(isOpen).toBe(true);
  });
});

it('says in words alone that a simulated learner is named once [MA-127]', () => {
  const one = walked.find(({ route, place }) => route === simulateScoreRecovery && place.name === 'body')!;
  const { requestExample: example } = simulateScoreRecovery;
  const body = {
    ...example,
    profiles: [
      example!.profiles[0],
      { ...example!.profiles[1], syntheticProfileId: example!.profiles[0]!.syntheticProfileId },
    ],
  };
  expect(isAdmitted(one.place, body)).toBe(true);
  expect(takes(one.route, { headers: { 'Idempotency-Key': 'a' }, body })).toBe(false);
  expect(JSON.stringify(one.place.schema)).toContain('Each `syntheticProfileId` occurs once.');
});
