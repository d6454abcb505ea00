import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBoundaries, type Boundaries } from './check-boundaries.ts';

/** For each rule a file that breaks it, and what it imports. */
const wrong: Readonly<Record<string, readonly [from: string, to: string]>> = {
  'shared-in-order': ['shared/idempotency/be.ts', '#shared/http/target.ts'],
  'mastery-in-order': ['functions/mastery/run/n.ts', '#functions/mastery/endpoints/start/target.ts'],
  'reports-in-order': ['functions/reports/elsewhere/bg.ts', '#functions/reports/facts/target.ts'],
  'stacks-in-order': ['lib/constructs/bh.ts', '#lib/stacks/target.ts'],
  'kernel-stands-alone': ['shared/kernel/a.ts', '#shared/contract/target.ts'],
  'contract-on-kernel': ['shared/contract/b.ts', '#shared/problems/target.ts'],
  'descriptions-are-texts': ['shared/contract/descriptions/be.ts', '#shared/kernel/target.ts'],
  'descriptions-for-documents': ['shared/contract/bf.ts', '#shared/contract/descriptions/target.ts'],
  'problems-on-contract': ['shared/problems/c.ts', '#shared/platform/target.ts'],
  'observability-on-kernel': ['shared/observability/d.ts', '#shared/keys/target.ts'],
  'platform-returns-faults': ['shared/platform/e.ts', '#shared/problems/target.ts'],
  'network-alone': ['shared/network/aq.ts', '#shared/platform/target.ts'],
  'keys-on-kernel': ['shared/keys/f.ts', '#shared/stores/target.ts'],
  'tokens-on-keys': ['shared/tokens/aj.ts', '#shared/http/target.ts'],
  'records-are-documents': ['shared/records/g.ts', '#shared/stores/target.ts'],
  'catalog-on-kernel': ['shared/catalog/an.ts', '#shared/contract/target.ts'],
  'catalog-without-packages': ['shared/catalog/ao.ts', 'node:fs'],
  'release-on-contract': ['shared/release/ap.ts', '#shared/http/target.ts'],
  'http-takes-interfaces': ['shared/http/h.ts', '#shared/stores/target.ts'],
  'stores-implement': ['shared/stores/i.ts', '#shared/http/target.ts'],
  'stage-settings': ['shared/stage/au.ts', '#shared/platform/target.ts'],
  'scale-from-records': ['shared/scale/bk.ts', '#shared/http/reaches-platform.ts'],
  'stage-checks-on-stores': ['shared/stage-checks/bl.ts', '#shared/http/reaches-platform.ts'],
  'openapi-from-rows': ['shared/openapi/av.ts', '#shared/platform/target.ts'],
  'runtime-is-ports': ['shared/runtime/bi.ts', '#shared/stores/target.ts'],
  'handlers-bind-the-process': [
    'functions/mastery/endpoints/support/dependencies.ts',
    '#shared/lambda/process-runtime.ts',
  ],
  'binders-stay-outside': ['functions/mastery/run/bd.ts', '#shared/lambda/target.ts'],
  'shared-serves-everybody': ['shared/elsewhere/j.ts', '#lib/target.ts'],
  'engine-is-pure': ['functions/mastery/engine/k.ts', '#shared/contract/target.ts'],
  'engine-without-packages': ['functions/mastery/engine/l.ts', 'node:crypto'],
  'frozen-kernel-is-alone': [
    'functions/mastery/engine/kernels/one/m.ts',
    '#functions/mastery/engine/kernels/two/target.ts',
  ],
  'endpoints-do-not-share': [
    'functions/mastery/endpoints/read/o.ts',
    '#functions/mastery/endpoints/start/target.ts',
  ],
  'services-do-not-meet': ['functions/reports/p.ts', '#functions/mastery/run/target.ts'],
  'functions-only-on-shared': ['functions/mastery/run/q.ts', '#tools/target.ts'],
  'only-handlers-bind-aws': ['functions/mastery/run/r.ts', '#shared/stores/target.ts'],
  'facts-are-values': ['functions/reports/facts/ar.ts', '#functions/reports/composition/target.ts'],
  'analysis-on-facts': ['functions/reports/analysis/as.ts', '#functions/reports/composition/target.ts'],
  'composition-is-pure': ['functions/reports/composition/al.ts', '#shared/platform/target.ts'],
  'sources-on-facts': ['functions/reports/sources/at.ts', '#functions/reports/composition/target.ts'],
  'composition-without-packages': ['functions/reports/composition/am.ts', 'node:crypto'],
  'sandbox-reaches-no-data': ['functions/sandbox/s.ts', '#shared/http/reaches-platform.ts'],
  'stacks-read-data': ['lib/t.ts', '#functions/mastery/run/target.ts'],
  'app-builds-stacks': ['bin/u.ts', '#functions/mastery/run/target.ts'],
  'client-stands-alone': ['client/aw.ts', '../shared/http/reaches-platform.ts'],
  'element-on-types': ['report-element/src/bj.ts', '#client/used-at-run-time.ts'],
  'element-on-client': ['report-element/src/bk.ts', '#shared/platform/target.ts'],
  'ops-on-libraries': ['ops/ax.ts', '#local/target.ts'],
  'psychometrics-are-studies': ['psychometrics/ay.ts', '#ops/target.ts'],
  'local-runs-the-product': ['local/az.ts', '#psychometrics/target.ts'],
  'leaves-stand-alone': ['tools/terminal/ba.ts', '#shared/contract/target.ts'],
  'site-from-registries': ['tools/site/bc.ts', '#shared/platform/target.ts'],
  'tools-serve-maintainers': ['ops/bb.ts', '#tools/target.ts'],
  'bench-is-imported-by-nothing': ['tools/bc.ts', '../bench/target.ts'],
  'explorer-in-a-browser': ['local/explorer/app/ba.ts', '#shared/target.ts'],
  'explorer-backend-beside-the-services': ['local/explorer/backend.ts', '#ops/target.ts'],
  'local-without-cdk': ['local/v.ts', '#lib/with-cdk.ts'],
  'no-import-of-tests': ['local/w.ts', '#test/target.ts'],
  'sdk-in-one-folder': ['tools/x.ts', '@aws-sdk/client-kms'],
  'jose-where-tokens-are': ['tools/y.ts', 'jose'],
  'cdk-in-stacks': ['tools/z.ts', 'aws-cdk-lib'],
  'middy-in-pipeline': ['functions/mastery/run/aa.ts', '@middy/core'],
  'powertools-behind-ours': ['functions/mastery/run/ab.ts', '@aws-lambda-powertools/logger'],
  'dynalite-in-emulator': ['test/ac.ts', 'dynalite'],
  'esbuild-in-bundling': ['tools/ad.ts', 'esbuild'],
  'no-development-packages-in-functions': ['shared/kernel/ae.ts', 'fast-check'],
  'no-unknown-packages': ['shared/kernel/af.ts', 'picomatch'],
  'not-to-unresolvable': ['shared/kernel/ag.ts', './absent.ts'],
  'no-cycles': ['shared/kernel/ah.ts', './ai.ts'],
};

/** Files that break no rule. */
const right: Readonly<Record<string, string>> = {
  'functions/mastery/endpoints/start/handler.ts': '#shared/lambda/lambda.ts',
  'shared/lambda/lambda.ts': '#shared/stores/make-clients.ts',
  'shared/stores/make-clients.ts': '@aws-sdk/client-kms',
  'lib/stack.ts': 'aws-cdk-lib',
  'local/start.ts': '#shared/contract/routes.ts',
  'functions/mastery/engine/kernels/one/select.ts': '#shared/kernel/numbers.ts',
};

const project = resolve(import.meta.dirname, '..');

/** Stand-ins for the packages that are imported: nothing looks inside one. */
const packages = Object.values(wrong).flatMap(([, to]) => (/^(?:#|\.|node:)/.test(to) ? [] : to));

/** Types are enough to break a rule, except those about what is there at run time. */
function importOf(to: string): string {
  return ['fast-check', '#client/used-at-run-time.ts'].includes(to)
    ? `import '${to}';`
    : `import type {} from '${to}';`;
}

/** A project of files with one import each; the others are empty. */
function projectOf(imports: Readonly<Record<string, string>>): Boundaries {
  const root = mkdtempSync(join(tmpdir(), 'boundaries-'));
  for (const file of ['package.json', 'tsconfig.json']) symlinkSync(join(project, file), join(root, file));
  for (const name of packages) {
    mkdirSync(join(root, 'node_modules', name), { recursive: true });
    writeFileSync(
      join(root, 'node_modules', name, 'package.json'),
      JSON.stringify({ name, main: 'index.js' }),
    );
    writeFileSync(join(root, 'node_modules', name, 'index.js'), '');
  }
  const targets = Object.values(imports).flatMap((to) => (to.startsWith('#') ? [to.slice(1)] : []));
  const files = { ...Object.fromEntries(targets.map((target) => [target, ''])), ...imports };
  for (const [file, to] of Object.entries(files)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(
      join(root, file),
      to === '' ? 'export type T = 1;\n' : `${importOf(to)}\nexport type T = 1;\n`,
    );
  }
  const read = readBoundaries(root);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

describe('.dependency-cruiser.cjs', () => {
  const found = projectOf({
    ...Object.fromEntries(Object.values(wrong)),
    'shared/http/reaches-platform.ts': '#shared/platform/target.ts',
    'lib/with-cdk.ts': 'aws-cdk-lib',
    'shared/kernel/ai.ts': './ah.ts',
    'bench/target.ts': '',
    'client/src/used-at-run-time.ts': '',
    ...right,
  });

  it.each(Object.entries(wrong))('%s catches %j', (rule, [from]) => {
    const caught = found.violations
      .filter((violation) => violation.rule === rule)
      .map((violation) => violation.from);
    expect(caught).toContain(from);
  });

  it('has no rule that this test does not try, and none without its reason', () => {
    expect([...found.rules].toSorted()).toStrictEqual(Object.keys(wrong).toSorted());
    expect(found.violations.filter(({ reason }) => !/^[A-Z].{20,}\.$/.test(reason))).toStrictEqual([]);
  });

  it('lets the right directions pass', () => {
    expect(found.violations.filter(({ from }) => from in right)).toStrictEqual([]);
  });
});
