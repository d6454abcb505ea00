import { deployedFunctions, isRoute } from '#shared/contract/functions.ts';
import { answersCaller } from '#shared/contract/background.ts';
import { owners } from '#shared/contract/owners.ts';
import { sourceService } from '#shared/contract/reports/problem.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import { serviceNames, type Route } from '#shared/contract/route.ts';
import { scheduledChecks } from '#shared/stage/checks.ts';
import { logCodes, RELEASE_FAULTS, type Figure, type LogCode } from '#shared/observability/log-codes.ts';

/** The operations that write REQUEST_COMPLETED. */
const answering = deployedFunctions.filter((row) => isRoute(row) || answersCaller(row));

/** The problems of a route that blame the release, the account or an owner. */
const failuresOf = (row: Route): readonly string[] => [
  ...new Set(
    problemKeysOf(row)
      .map((key) => key.split(' '))
      .filter(([status]) => Number(status) >= 500 || status === '424')
      .map(([, code = '']) => code),
  ),
];

/** How many values a figure's dimensions take together in one stage, at most. */
const combinations: Readonly<Record<string, () => number>> = {
  stage: () => 1,
  'stage operation': () => answering.length,
  // A receipt link and the sandbox fail with 500 alone.
  'stage operation problem': () =>
    answering.reduce((sum, row) => sum + (isRoute(row) ? failuresOf(row).length : 1), 0),
  'stage service': () => serviceNames.length,
  'stage check': () => scheduledChecks.length,
  // The sandbox, the credential and the run of the canary.
  'stage step': () => 3,
  'stage owner': () => new Set([...owners, ...sourceService.options, 'platform_auth']).size,
  // One version of each function at a time: a rollback ends the series of the former.
  'stage operation function_version': () => deployedFunctions.length,
};

/** Every figure that a line can have. */
export const figures: readonly Figure[] = [
  RELEASE_FAULTS,
  ...Object.entries<LogCode>(logCodes).flatMap(([code, { blames, figures: own = [] }]) => [
    ...(blames === undefined ? [] : [{ name: code, unit: 'Count', dimensions: ['stage'] } as const]),
    ...own,
  ]),
];

/** Returns how many series CloudWatch bills in a month in which everything has happened once. Throws for dimensions that have no row here. */
export function paidSeries(): number {
  const distinct = new Map(
    figures.map((figure) => [`${figure.name} ${figure.dimensions.join(' ')}`, figure]),
  );
  return [...distinct.values()].reduce((sum, { name, dimensions }) => {
    const count = combinations[dimensions.join(' ')];
    if (count === undefined) throw new Error(`${name}: count the values of ${dimensions.join(', ')}`);
    return sum + count();
  }, 0);
}
