import { expect, it } from 'vitest';
import { routes } from '#shared/contract/routes.ts';
import { openAjv } from '#test/support/openapi-checkers.ts';
import { isAdmitted, placesOf } from './edges.ts';

it.each(routes.map((route) => [route.operationId, route] as const))(
  'the documents admit of %s what Ajv admits by them',
  (_, route) => {
    for (const place of placesOf(route)) {
      const validate = openAjv().compile(place.schema);
      const values = place.trials.map(({ value }) => value).filter((value) => value !== undefined);
      expect(values.filter((value) => validate(value) !== isAdmitted(place, value)).slice(0, 5)).toEqual([]);
    }
  },
);
