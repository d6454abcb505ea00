import tseslint from 'typescript-eslint';

const outsideRuntime = 'Take it from the Runtime (shared/lambda/runtime.ts).';

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'build/',
      'cdk.out/',
      '.local/',
      'coverage/',
      'docs/',
      'client/src/generated/',
      'client/dist/',
      'test/frozen/*/readers.mjs',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // The project service would build the root's program twice: beside the client's tests it finds client/tsconfig.json, which leaves them out.
        project: ['tsconfig.json', 'local/explorer/app/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    // Command-line programs and the local runtime talk to a terminal.
    files: ['tools/**', 'ops/**', 'psychometrics/**', 'bench/**', 'local/**', 'examples/**', 'bin/**'],
    rules: { 'no-console': 'off' },
  },
  {
    // Functions reach the process through their runtime alone, so that tests can bind them to clocks, networks and variables of their own.
    files: ['functions/**/*.ts', 'shared/**/*.ts'],
    ignores: [
      '**/*.test.ts',
      'shared/lambda/process-runtime.ts',
      'shared/network/**',
      // What commands and the local runtime share; no function imports it.
      'shared/stage/**',
    ],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['process', 'performance', 'crypto', 'fetch', 'setTimeout', 'setInterval'].map((name) => ({
          name,
          message: outsideRuntime,
        })),
      ],
      'no-restricted-properties': [
        'error',
        ...[
          ['Date', 'now'],
          ['Math', 'random'],
          ['AbortSignal', 'timeout'],
        ].map(([object, property]) => ({ object, property, message: outsideRuntime })),
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: outsideRuntime },
        { selector: "MemberExpression[object.name='globalThis']", message: outsideRuntime },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            ...['timers', 'timers/promises', 'process', 'perf_hooks'].map((module) => ({
              name: `node:${module}`,
              message: outsideRuntime,
            })),
            {
              name: 'node:crypto',
              importNames: ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'webcrypto'],
              message: outsideRuntime,
            },
          ],
        },
      ],
    },
  },
  {
    // The engine must give the same bits on every runtime: built-in transcendental functions differ, clocks and randomness are inputs.
    files: ['functions/mastery/engine/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': ['error', 'Date', 'process', 'performance', 'crypto', 'fetch', 'setTimeout'],
      'no-restricted-properties': [
        'error',
        ...['random', 'pow', 'exp', 'log', 'log2', 'log10', 'log1p', 'expm1', 'sqrt', 'hypot', 'tanh'].map(
          (property) => ({
            object: 'Math',
            property,
          }),
        ),
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "BinaryExpression[operator='**']",
          message: 'The power operator differs between runtimes.',
        },
      ],
    },
  },
  {
    files: ['**/*.test.ts', 'test/**'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
);
