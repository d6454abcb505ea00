import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { exits, program, run } from './terminal/command.ts';

/** Fewer modules than this were not the project: a checker that reads nothing also finds nothing. */
const FEWEST_MODULES = 100;
const projectRoot = resolve(import.meta.dirname, '..');
/** What is compiled is checked: a folder that only one of the two knew would be free of rules. */
const folders = z
  .object({ include: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(join(projectRoot, 'tsconfig.json'), 'utf8')))
  .include.filter((entry) => !entry.includes('*'));

const report = z.object({
  summary: z.object({
    totalCruised: z.number(),
    violations: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        rule: z.object({ name: z.string() }),
        cycle: z.array(z.object({ name: z.string() })).optional(),
        via: z.array(z.object({ name: z.string() })).optional(),
      }),
    ),
    ruleSetUsed: z.object({
      forbidden: z.array(z.object({ name: z.string(), comment: z.string() })),
    }),
  }),
});

/** The result of dependency-cruiser for a project. */
export interface Boundaries {
  readonly modules: number;
  readonly rules: readonly string[];
  readonly violations: readonly {
    readonly rule: string;
    readonly reason: string;
    readonly from: string;
    /** The modules from there to the one that may not be reached. */
    readonly way: readonly string[];
  }[];
}

/**
 * Reads every import of a project, type-only ones included, against the rules of .dependency-cruiser.cjs.
 * @param root the project's folder
 * @returns what was found, or why nothing could be read
 */
export function readBoundaries(root: string): Result<Boundaries, string> {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(projectRoot, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      ...folders.filter((folder) => existsSync(join(root, folder))),
      '--config',
      join(projectRoot, '.dependency-cruiser.cjs'),
      '--output-type',
      'json',
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 },
  );
  const parsed = report.safeParse(parseJson(stdout));
  if (!parsed.success) return err(`dependency-cruiser printed no report (exit ${String(status)})\n${stderr}`);
  const { totalCruised, violations, ruleSetUsed } = parsed.data.summary;
  const reasons = new Map(ruleSetUsed.forbidden.map(({ name, comment }) => [name, comment]));
  return ok({
    modules: totalCruised,
    rules: [...reasons.keys()],
    violations: violations.map(({ from, to, rule, cycle, via }) => ({
      rule: rule.name,
      reason: reasons.get(rule.name) ?? '',
      from,
      way: (cycle ?? via ?? [{ name: to }]).map(({ name }) => name),
    })),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(): Result<undefined, string> {
  const read = readBoundaries(projectRoot);
  if (!read.ok) return read;
  const { modules, rules, violations } = read.value;
  if (modules < FEWEST_MODULES) {
    return err(`read only ${modules} modules: expected at least ${FEWEST_MODULES}`);
  }
  if (violations.length > 0) {
    const lines = violations.map(
      ({ rule, reason, from, way }) => `${[from, ...way].join(' → ')}\n  ${rule}: ${reason}`,
    );
    return err(`${lines.join('\n')}\n${violations.length} imports are not allowed`);
  }
  console.log(`${modules} modules, ${rules.length} rules, no forbidden import`);
  return ok(undefined);
}

if (import.meta.main) {
  await run(
    program(
      'npm run check:boundaries --',
      'Checks every import against .dependency-cruiser.cjs: allowed directions, and no cycles.',
    ).action(exits(check)),
  );
}
