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

/** The parts in which a wrong line would harm a learner or a tenant most. A file that is in two of them counts for the first. */
export const mutatedModules: readonly MutatedModule[] = [
  {
    name: 'token-rules',
    sources: ['shared/http/auth'],
    tests: [
      ['shared/http/auth/'],
      ['test/contract/callers.test.ts'],
      ['test/lemmas/principals.contract.test.ts'],
    ],
    proof: 'http',
  },
  {
    name: 'sealed-tokens',
    sources: ['shared/tokens'],
    tests: [['shared/tokens/']],
    proof: 'unit',
  },
  {
    name: 'claims',
    sources: ['functions/reports/access'],
    tests: [['functions/reports/access/'], ['test/lemmas/principals.contract.test.ts']],
    proof: 'unit',
  },
  {
    name: 'cursor',
    sources: ['functions/reports/cursor'],
    tests: [['functions/reports/cursor/'], ['test/contract/lists.test.ts']],
    proof: 'unit',
  },
  {
    name: 'idempotency',
    sources: ['shared/idempotency'],
    tests: [
      ['shared/idempotency/'],
      ['test/contract/start.test.ts'],
      ['test/lemmas/worlds.contract.test.ts'],
    ],
    proof: 'unit',
  },
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
    tests: [
      ['functions/reports/composition/readiness.test.ts'],
      ['test/lemmas/contradictions.contract.test.ts'],
    ],
    proof: 'unit',
  },
  {
    name: 'invariants',
    sources: ['shared/contract/reports/invariants'],
    tests: [['shared/contract/reports/invariants/'], ['test/lemmas/contradictions.contract.test.ts']],
    proof: 'unit',
  },
  {
    name: 'composition',
    sources: ['functions/reports/composition'],
    tests: [
      ['functions/reports/composition/'],
      [
        'test/contract/reports/views.test.ts',
        'test/contract/reports/alignment-report.test.ts',
        'test/contract/reports/revision-orders.test.ts',
        'functions/reports/endpoints/list-candidate-reports/',
        'test/contract/lists.test.ts',
        'test/contract/reports/withheld-attempts.test.ts',
      ],
      ['test/lemmas/contradictions.contract.test.ts'],
    ],
    proof: 'http',
  },
  {
    name: 'alignment',
    sources: ['functions/reports/analysis/alignment'],
    tests: [['functions/reports/analysis/alignment/'], ['test/contract/reports/alignment-report.test.ts']],
    proof: 'unit',
  },
  {
    name: 'orders',
    sources: ['functions/reports/analysis/orders'],
    tests: [
      ['functions/reports/analysis/orders/'],
      ['test/contract/reports/revision-orders.test.ts', 'test/contract/reports/improvement-evidence.test.ts'],
    ],
    proof: 'unit',
  },
  {
    name: 'metrics',
    sources: ['functions/reports/analysis/metrics'],
    tests: [['functions/reports/analysis/metrics/'], ['test/contract/reports/improvement-evidence.test.ts']],
    proof: 'unit',
  },
  {
    name: 'transitions',
    sources: ['functions/mastery/run/transitions.ts', 'functions/mastery/run/outcomes.ts'],
    tests: [['functions/mastery/run/'], ['test/contract/advance.test.ts', 'test/contract/lists.test.ts']],
    proof: 'http',
  },
  {
    name: 'improvement-runs',
    sources: ['functions/reports/improvement'],
    tests: [
      ['functions/reports/improvement/'],
      ['test/contract/reports/improvement-analyze.test.ts'],
      ['test/lemmas/faults-background.slow.test.ts'],
    ],
    proof: 'http',
  },
  {
    name: 'selection',
    sources: [
      'functions/mastery/engine/selection.ts',
      'functions/mastery/engine/kinds.ts',
      'functions/mastery/engine/coverage.ts',
      'functions/mastery/engine/reachability.ts',
      'functions/mastery/engine/decision-gains.ts',
      'functions/mastery/engine/ranking.ts',
      'functions/mastery/engine/exposure.ts',
    ],
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
 * The modules with what proves them: all their tests, or only the first of them, the unit tests beside the code, which are quick enough to try every
 * mutant of every module.
 */
export function modulesUnder(proof: 'all' | 'unit'): readonly MutatedModule[] {
  return proof === 'all'
    ? mutatedModules
    : mutatedModules.map((module) => ({ ...module, tests: module.tests.slice(0, 1), proof }));
}
