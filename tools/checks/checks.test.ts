import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { projectRoot, staticChecks } from './checks.ts';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')));

const scriptOf = ({ command }: ReturnType<typeof staticChecks>[number]) =>
  command.find((word) => word.startsWith('check:'));

describe.each([true, false])('the static checks, cached: %s', (cached) => {
  it('are every check:* script, once each', () => {
    const expected = Object.keys(scripts).filter((name) => name.startsWith('check:'));
    expect(staticChecks(cached).map(scriptOf).toSorted()).toStrictEqual(expected.toSorted());
  });
});

it('uses no cache when it is told so', () => {
  const words = staticChecks(false).flatMap(({ command }) => command);
  expect(words.filter((word) => word.startsWith('--cache'))).toStrictEqual([]);
  // The compiler would read and write its own otherwise: tsconfig.json says so.
  expect(words.join(' ')).toContain('--incremental false');
});
