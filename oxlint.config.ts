import { defineConfig } from 'oxlint';

const message = 'Take it from the Runtime (shared/runtime/runtime.ts).';
const named = (...names: readonly string[]): readonly { name: string; message: string }[] =>
  names.map((name) => ({ name, message }));

/** Exact arithmetic alone gives the same bits on every runtime. */
const inexact = ['random', 'pow', 'exp', 'log', 'log2', 'log10', 'log1p', 'expm1', 'sqrt', 'hypot', 'tanh'];

const runtimeSyntax = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message },
  { selector: "MemberExpression[object.name='globalThis']", message },
];
const powerOperator = {
  selector: "BinaryExpression[operator='**']",
  message: 'The power operator differs between runtimes.',
};

export default defineConfig({
  plugins: ['typescript'],
  // oxlint itself has no `no-restricted-syntax`.
  jsPlugins: [{ name: 'eslint-js', specifier: 'oxlint-plugin-eslint' }, './tools/checks/plain-english.ts'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  // `node_modules` may be a link, which .gitignore does not name.
  ignorePatterns: ['node_modules', '/docs/', 'client/src/generated/', 'test/frozen/*/readers.mjs'],
  categories: { correctness: 'error' },
  rules: {
    // The order of the texts is what we mean, also of pairs.
    'typescript/require-array-sort-compare': 'off',
    // What the category does not contain.
    eqeqeq: 'error',
    'no-array-constructor': 'error',
    'no-console': 'error',
    'no-useless-constructor': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'prefer-rest-params': 'error',
    'prefer-spread': 'error',
    'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
    'typescript/consistent-type-imports': 'error',
    'typescript/no-dynamic-delete': 'error',
    'typescript/no-empty-object-type': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-extraneous-class': 'error',
    'typescript/no-invalid-void-type': 'error',
    'typescript/no-namespace': 'error',
    'typescript/no-non-null-asserted-nullish-coalescing': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-require-imports': 'error',
    'typescript/no-unnecessary-type-constraint': 'error',
    'typescript/no-unsafe-function-type': 'error',
    'typescript/prefer-literal-enum-member': 'error',
    'typescript/unified-signatures': 'error',
  },
  overrides: [
    {
      // The rules that need types: plain JavaScript has none.
      files: ['**/*.{ts,tsx}'],
      rules: {
        'typescript/explicit-module-boundary-types': 'error',
        'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        'typescript/no-deprecated': 'error',
        'typescript/no-generated-empty-object-type': 'error',
        'typescript/no-misused-promises': 'error',
        'typescript/no-mixed-enums': 'error',
        'typescript/no-unnecessary-boolean-literal-compare': 'error',
        'typescript/no-unnecessary-condition': 'error',
        'typescript/no-unnecessary-template-expression': 'error',
        'typescript/no-unnecessary-type-arguments': 'error',
        'typescript/no-unnecessary-type-assertion': 'error',
        'typescript/no-unnecessary-type-conversion': 'error',
        'typescript/no-unnecessary-type-parameters': 'error',
        'typescript/no-unsafe-argument': 'error',
        'typescript/no-unsafe-assignment': 'error',
        'typescript/no-unsafe-call': 'error',
        'typescript/no-unsafe-enum-assignment': 'error',
        'typescript/no-unsafe-enum-comparison': 'error',
        'typescript/no-unsafe-member-access': 'error',
        'typescript/no-unsafe-return': 'error',
        'typescript/only-throw-error': 'error',
        'typescript/prefer-promise-reject-errors': 'error',
        'typescript/prefer-reduce-type-parameter': 'error',
        'typescript/prefer-return-this-type': 'error',
        'typescript/related-getter-setter-pairs': 'error',
        'typescript/require-await': 'error',
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        'typescript/switch-exhaustiveness-check': [
          'error',
          { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
        ],
        'typescript/use-unknown-in-catch-callback-variable': 'error',
      },
    },
    {
      // Command-line programs and the local runtime talk to a terminal.
      files: ['{tools,ops,psychometrics,bench,local,examples,bin}/**'],
      rules: { 'no-console': 'off' },
    },
    {
      // Comments are plain English (CONTRIBUTING.md). The forms of a release and generated files are never edited.
      files: ['{functions,shared,lib,bin,psychometrics,client,report-element,local,ops,tools,bench}/**'],
      excludeFiles: ['**/*.test.ts', 'functions/mastery/engine/kernels/*/**'],
      rules: { 'plain-english/comments': 'error' },
    },
    {
      // Functions reach the process through their runtime alone, so that tests can bind them to clocks, networks and variables of their own.
      files: ['{functions,shared}/**/*.ts'],
      // `shared/stage`: what commands and the local runtime share; no function imports it.
      excludeFiles: ['**/*.test.ts', 'shared/lambda/process-runtime.ts', 'shared/{network,stage}/**'],
      rules: {
        'no-restricted-globals': [
          'error',
          ...named('process', 'performance', 'crypto', 'fetch', 'setTimeout', 'setInterval'),
        ],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message },
          { object: 'Math', property: 'random', message },
          { object: 'AbortSignal', property: 'timeout', message },
        ],
        'eslint-js/no-restricted-syntax': ['error', ...runtimeSyntax],
        'no-restricted-imports': [
          'error',
          {
            paths: [
              ...named('node:timers', 'node:timers/promises', 'node:process', 'node:perf_hooks'),
              {
                name: 'node:crypto',
                importNames: ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'webcrypto'],
                message,
              },
            ],
          },
        ],
      },
    },
    {
      // The engine must give the same bits on every runtime: built-in transcendental functions differ, clocks and randomness are inputs.
      files: ['functions/mastery/engine/**/*.ts'],
      excludeFiles: ['**/*.test.ts'],
      rules: {
        'no-restricted-globals': ['error', 'Date', 'process', 'performance', 'crypto', 'fetch', 'setTimeout'],
        'no-restricted-properties': ['error', ...inexact.map((property) => ({ object: 'Math', property }))],
        'eslint-js/no-restricted-syntax': ['error', ...runtimeSyntax, powerOperator],
      },
    },
    {
      // A released kernel is never edited: its hash is pinned. So no rule asks there for another form of code that is right, whatever changes around it.
      files: ['functions/mastery/engine/kernels/*/**'],
      rules: Object.fromEntries(
        [
          'consistent-type-imports',
          'no-deprecated',
          'no-redundant-type-constituents',
          'no-unnecessary-boolean-literal-compare',
          'no-unnecessary-condition',
          'no-unnecessary-template-expression',
          'no-unnecessary-type-arguments',
          'no-unnecessary-type-assertion',
          'no-unnecessary-type-conversion',
          'no-unnecessary-type-parameters',
        ].map((rule) => [`typescript/${rule}`, 'off' as const]),
      ),
    },
    {
      files: ['**/*.test.ts', 'test/**'],
      rules: {
        'typescript/no-non-null-assertion': 'off',
        // Tests write what a terminal must not get and what no double holds, and a missing value fails them anyway.
        'no-control-regex': 'off',
        'no-loss-of-precision': 'off',
        'no-unsafe-optional-chaining': 'off',
      },
    },
  ],
});
