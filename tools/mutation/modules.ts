/** A part of the product whose tests are measured by mutants. */
export interface MutatedModule {
  readonly name: string;
  /** Files, or folders with all their files that are no tests. */
  readonly sources: readonly string[];
  /** Parts of the paths of the test files that prove it, the quickest first; the later ones see only what the earlier ones let pass. */
  readonly tests: readonly (readonly string[])[];
  /** Whether unit tests prove it, so that every mutant can be tried, or whole functions over HTTP, so that only a sample can. */
  readonly proof: 'unit' | 'http';
}

/** A module whose code is in one folder, with the tests in it first. */
const folder = (
  name: string,
  source: string,
  proof: MutatedModule['proof'],
  ...laterTests: MutatedModule['tests']
): MutatedModule => ({ name, sources: [source], tests: [[`${source}/`], ...laterTests], proof });

const principals = ['test/lemmas/principals.contract.test.ts'];
const contradictions = ['test/lemmas/contradictions.contract.test.ts'];
const evidence = 'test/contract/reports/improvement-evidence.test.ts';

/** The parts in which a wrong line would harm a learner or a tenant most. A file that is in two of them counts for the first. */
export const mutatedModules: readonly MutatedModule[] = [
  folder('token-rules', 'shared/http/auth', 'http', ['test/contract/callers.test.ts'], principals),
  folder('sealed-tokens', 'shared/tokens', 'unit'),
  folder('claims', 'functions/reports/access', 'unit', principals),
  folder('cursor', 'functions/reports/cursor', 'unit', ['test/contract/lists.test.ts']),
  folder(
    'idempotency',
    'shared/idempotency',
    'unit',
    ['test/contract/start.test.ts'],
    ['test/lemmas/worlds.contract.test.ts'],
  ),
  {
    name: 'continuation',
    sources: ['functions/mastery/continuation'],
    tests: [
      ['functions/mastery/continuation/', 'functions/mastery/run/transitions.test.ts'],
      ['test/contract/continuation.test.ts'],
    ],
    proof: 'unit',
  },
  {
    name: 'readiness',
    sources: ['functions/reports/composition/readiness.ts'],
    tests: [['functions/reports/composition/readiness.test.ts'], contradictions],
    proof: 'unit',
  },
  folder('invariants', 'shared/contract/reports/invariants', 'unit', contradictions),
  folder(
    'composition',
    'functions/reports/composition',
    'http',
    [
      'test/contract/reports/views.test.ts',
      'test/contract/reports/alignment-report.test.ts',
      'test/contract/reports/revision-orders.test.ts',
      'functions/reports/endpoints/list-candidate-reports/',
      'test/contract/lists.test.ts',
      'test/contract/reports/withheld-attempts.test.ts',
    ],
    contradictions,
  ),
  folder('alignment', 'functions/reports/analysis/alignment', 'unit', [
    'test/contract/reports/alignment-report.test.ts',
  ]),
  folder('orders', 'functions/reports/analysis/orders', 'unit', [
    'test/contract/reports/revision-orders.test.ts',
    evidence,
  ]),
  folder('metrics', 'functions/reports/analysis/metrics', 'unit', [evidence]),
  {
    name: 'transitions',
    sources: ['functions/mastery/run/transitions.ts', 'functions/mastery/run/outcomes.ts'],
    tests: [['functions/mastery/run/'], ['test/contract/advance.test.ts', 'test/contract/lists.test.ts']],
    proof: 'http',
  },
  folder(
    'improvement-runs',
    'functions/reports/improvement',
    'http',
    ['test/contract/reports/improvement-analyze.test.ts'],
    ['test/lemmas/faults-background.slow.test.ts'],
  ),
  {
    name: 'selection',
    sources: ['selection', 'kinds', 'coverage', 'reachability', 'decision-gains', 'ranking', 'exposure'].map(
      (file) => `functions/mastery/engine/${file}.ts`,
    ),
    tests: [
      ['functions/mastery/engine/coverage.test.ts'],
      ['functions/mastery/engine/selection.property.test.ts'],
      ['test/reference/decision-gains.property.test.ts', 'functions/mastery/engine/simulation.test.ts'],
    ],
    proof: 'unit',
  },
  {
    name: 'classification',
    sources: ['functions/mastery/engine/classification.ts', 'functions/mastery/engine/stopping.ts'],
    tests: [['functions/mastery/engine/classification.test.ts', 'functions/mastery/engine/stopping.test.ts']],
    proof: 'unit',
  },
];

/**
 * Returns the modules with the tests that prove them: all tests, or only the first ones, the unit tests in the folder of the code, which are
 * quick enough to try every mutant of every module.
 */
export function modulesUnder(proof: 'all' | 'unit'): readonly MutatedModule[] {
  return proof === 'all'
    ? mutatedModules
    : mutatedModules.map((module) => ({ ...module, tests: module.tests.slice(0, 1), proof }));
}
