import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { ok } from '#shared/kernel/result.ts';
import { stages } from '#shared/stage/stages.ts';
import { deployed, everySetting, gateSets, otherSettings, ownDomains, stage } from '#test/infra/deployed.ts';
import type { DeployedOptions } from '#test/infra/deployed.ts';
import type { Part, Tried } from './part.ts';
import { buildFolder, pythonTool, runTool } from './python.ts';

/** Rules of cfn-lint that are wrong about a template of ours, each with the reason. */
const ignoredRules: Readonly<Record<string, string>> = {};

/** Every deployment that differs from another one: each stage, each set of gates, and the settings with which a stage has other resources. */
const deployments: Readonly<Record<string, DeployedOptions>> = {
  ...Object.fromEntries(Object.keys(stages).map((name) => [name, { stage: stage(name) }])),
  ...Object.fromEntries(gateSets.map((gates) => [`gates-${gates.join('') || 'none'}`, { gates }])),
  'every-setting': { settings: everySetting },
  'other-settings': { settings: otherSettings },
  'moving-domains': { settings: { domains: ownDomains({ keepsFormerAddress: true }) } },
};

const findings = z.array(
  z.object({
    Level: z.string(),
    Rule: z.object({ Id: z.string() }),
    Filename: z.string(),
    Message: z.string(),
    Location: z.object({ Path: z.array(z.union([z.string(), z.int()])).nullish() }),
  }),
);

export const templates: Part = {
  about: 'cfn-lint over the templates of every distinct deployment',
  async run() {
    const linter = await pythonTool('cfn-lint');
    if (!linter.ok) return linter;
    return ok(await lint(linter.value));
  },
};

async function lint(linter: string): Promise<Tried> {
  const folder = join(buildFolder, 'templates');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = new Map<string, string>();
  for (const [deployment, options] of Object.entries(deployments)) {
    for (const { name, template } of deployed(options)) {
      const text = JSON.stringify(template);
      if (!files.has(text)) files.set(text, join(folder, `${deployment}.${name}.json`));
    }
  }
  for (const [text, file] of files) writeFileSync(file, text);
  const args = [
    ...['--format', 'json', '--non-zero-exit-code', 'none', '--ignore-checks', 'W', 'I'],
    ...Object.keys(ignoredRules),
  ];
  // Largest first, so that every process gets as much to read.
  const bySize = [...files].toSorted(([one], [other]) => other.length - one.length).map(([, file]) => file);
  const processes = Math.min(availableParallelism(), bySize.length);
  const found = await Promise.all(
    Array.from({ length: processes }, async (_, turn) => {
      const share = bySize.filter((_file, at) => at % processes === turn);
      const { code, stdout, stderr } = await runTool(linter, [...args, '--', ...share], 1800);
      if (code !== 0) throw new Error(`cfn-lint failed: ${stdout}${stderr}`);
      return findings.parse(JSON.parse(stdout));
    }),
  );
  return {
    tried: `${files.size} templates`,
    differences: found
      .flat()
      .map(
        ({ Rule, Filename, Message, Location: { Path } }) =>
          `${basename(Filename)}: ${Rule.Id} ${(Path ?? []).join('/')}: ${Message}`,
      ),
  };
}
