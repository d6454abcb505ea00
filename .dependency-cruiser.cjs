/**
 * Who may import whom. Each rule says why in a sentence; `npm run check:boundaries` holds the code to them and prints that sentence.
 * Tests (`*.test.ts`, `test/`) may import across folders, except where a rule says otherwise.
 */
const test = '\\.test\\.ts$|^test/';
const aws = '^node_modules/@aws-sdk/';
const ours = '^(bin|lib|functions|shared|client|report-element|ops|local|psychometrics|tools|bench|test)/';
/** Leaves: they know nothing of ours but the kernel and the list of functions, so any command may use them. */
const leaves = '^tools/(bundling|terminal|page)/';
/** The documentation site, which the local runtime and the stacks serve. */
const site = '^tools/site/';
/** What of the services others may import: the engine's entry, and the pure checks of what is released. */
const engineEntry = '^functions/mastery/engine/index\\.ts$';
const masteryRecords = '^functions/mastery/records/';
const reportsAnalysis = '^functions/reports/analysis/';
/** What the reports service makes of its owners' facts. */
const pureReports = '^functions/reports/(analysis|composition|facts)/';

/** The folders and files within a part, from the lowest: each one imports itself and those before it. */
const order = {
  shared: [
    ...['kernel', 'network', 'observability', 'contract', 'problems', 'catalog', 'release', 'keys', 'tokens'],
    ...['runtime', 'platform', 'records', 'improvement', 'idempotency', 'http', 'stores', 'lambda'],
    ...['stage', 'scale', 'stage-checks', 'openapi'],
  ],
  'functions/mastery': [
    ...[
      'engine',
      'continuation',
      'upstream',
      'records',
      'evidence',
      'pool',
      'run',
      'simulation',
      'endpoints',
    ],
  ],
  'functions/reports': [
    ...['access', 'facts', 'analysis', 'composition', 'sources', 'cursor', 'receipts', 'improvement'],
    ...['background', 'endpoints'],
  ],
  lib: ['names', 'references', 'constructs', 'stacks', 'deployment'],
};

/** Forbids imports of our own folders other than the allowed ones. */
function only(name, comment, from, allowed, except = []) {
  return {
    name,
    severity: 'error',
    comment,
    from: { path: from, pathNot: [test, ...except] },
    to: { path: ours, pathNot: [from, ...allowed] },
  };
}

/** Forbids imports within a part against its order; a folder that the order does not name may import nothing of the part. */
function inOrder(name, part, comment) {
  const places = order[part].map((place) => `^${part}/${place}[/.]`);
  return [`^${part}/`, ...places].map((place, at) => ({
    name,
    severity: 'error',
    comment,
    from: { path: place, pathNot: [test, ...(at === 0 ? places : [])] },
    to: { path: `^${part}/`, pathNot: places.slice(0, at) },
  }));
}

/** Forbids a package everywhere but in the named places. */
function confined(name, comment, packages, places) {
  return {
    name,
    severity: 'error',
    comment,
    from: { pathNot: places },
    to: { path: `^node_modules/${packages}` },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    // The order within each part
    ...inOrder(
      'shared-in-order',
      'shared',
      'The folders of shared are built on one another: an import upwards makes two of them one.',
    ),
    ...inOrder(
      'mastery-in-order',
      'functions/mastery',
      'Values below, reads of the owners above them, endpoints on top: a folder can be read knowing only those below it.',
    ),
    ...inOrder(
      'reports-in-order',
      'functions/reports',
      'Facts and what is made of them below, reads above them, endpoints on top: a folder can be read knowing only those below it.',
    ),
    ...inOrder(
      'stacks-in-order',
      'lib',
      'Stacks are made of constructs, and both of names and references: a construct that knows a stack serves that one alone.',
    ),

    // Layers of shared
    only(
      'kernel-stands-alone',
      'The kernel is plain values and algorithms that everything stands on: it imports nothing of ours.',
      '^shared/kernel/',
      [],
    ),
    only(
      'contract-on-kernel',
      'The contract is data about the wire; stacks, docs and sandbox read it without pulling in a service.',
      '^shared/contract/',
      ['^shared/kernel/'],
      ['^shared/contract/descriptions/'],
    ),
    only(
      'descriptions-are-texts',
      'The texts of the API take their keys from the types of what they describe, and import nothing that runs.',
      '^shared/contract/descriptions/',
      ['^shared/contract/'],
    ),
    {
      name: 'descriptions-for-documents',
      severity: 'error',
      comment:
        'Only the rendered documents contain the texts of the API: in a bundle they would be dead weight.',
      from: { path: ours, pathNot: ['^shared/(openapi|contract/descriptions)/', test] },
      to: { path: '^shared/contract/descriptions/' },
    },
    only(
      'problems-on-contract',
      'A problem is a row: it names services and routes and knows nothing of how a request is served.',
      '^shared/problems/',
      ['^shared/(kernel|contract)/'],
    ),
    only(
      'observability-on-kernel',
      'Everything may log, so the log may depend on nothing that logs.',
      '^shared/observability/',
      ['^shared/kernel/'],
    ),
    only(
      'platform-returns-faults',
      'Upstream clients return typed faults; which problem a fault becomes is the decision of a service, so they see neither problems nor http. What a revision order says goes to its receiver as clients see it.',
      '^shared/platform/',
      [
        '^shared/(kernel|network|observability)/',
        '^shared/contract/[^/]+/primitives\\.ts$',
        '^shared/contract/owners\\.ts$',
        '^shared/contract/reports/order-content\\.ts$',
      ],
    ),
    only(
      'network-alone',
      'The HTTP client moves bytes: it knows neither an owner nor a service.',
      '^shared/network/',
      ['^shared/network/'],
    ),
    only(
      'keys-on-kernel',
      'The key ring decides over states and times; where keys are stored and unwrapped is handed in.',
      '^shared/keys/',
      ['^shared/(kernel|observability)/'],
    ),
    only(
      'tokens-on-keys',
      'A sealed token is a value under a key of the ring; what it holds and to whom it may open is the decision of a service.',
      '^shared/tokens/',
      ['^shared/(kernel|keys)/'],
    ),
    only(
      'records-are-documents',
      'Records are checked documents of the contract; the table they lie in is handed in.',
      '^shared/records/',
      ['^shared/(kernel|contract|problems|observability)/'],
    ),
    only(
      'catalog-on-kernel',
      'The release catalog is a record by itself: whoever releases by it checks it without a service, a route or a store.',
      '^shared/catalog/',
      ['^shared/kernel/'],
    ),
    {
      name: 'catalog-without-packages',
      severity: 'error',
      comment:
        'What a catalog must be is told by its schemas alone, so that the published JSON Schema tells it too.',
      from: { path: '^shared/catalog/', pathNot: test },
      to: {
        pathNot: '^node_modules/zod/',
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'core'],
      },
    },
    only(
      'release-on-contract',
      'What a manifest and the flags open together is a function of both; where they are kept is handed in.',
      '^shared/release/',
      ['^shared/(kernel|contract)/'],
    ),
    only(
      'http-takes-interfaces',
      'The pipeline works on interfaces of storage, so that a unit test passes values; shared/lambda binds it to AWS, for every handler.',
      '^shared/(http|idempotency)/',
      [
        '^shared/(kernel|network|contract|problems|observability|keys|http|idempotency|records|platform|release|runtime)/',
      ],
    ),
    only(
      'runtime-is-ports',
      'A runtime is interfaces: everything that a function may touch is named without pulling in what implements it.',
      '^shared/runtime/',
      ['^shared/(kernel|network)/'],
    ),
    {
      name: 'handlers-bind-the-process',
      severity: 'error',
      comment:
        'The process is bound at one place, the end of a handler file: a function that takes it by itself cannot run beside another one.',
      from: {
        path: '^(functions|shared)/',
        pathNot: [
          '^functions/.*handler\\.ts$',
          '^shared/lambda/process-runtime\\.ts$',
          // The door of the commands.
          '^shared/stage/access\\.ts$',
          test,
        ],
      },
      to: { path: '^shared/(lambda/process-runtime|stores/clients)\\.ts$' },
    },
    {
      name: 'binders-stay-outside',
      severity: 'error',
      comment: 'What binds functions stands above all that it binds: only files that bind import it.',
      from: {
        path: '^(functions|shared)/',
        pathNot: [
          '^functions/([^/]+/(endpoints|background)/|deployment/|sandbox/handler\\.ts$)',
          '^shared/lambda/',
          test,
        ],
      },
      to: { path: '^shared/lambda/' },
    },
    only(
      'stores-implement',
      'The stores implement the interfaces of the other folders on AWS; only the files that bind dependencies use them.',
      '^shared/stores/',
      ['^shared/(kernel|observability|idempotency|improvement|keys|records|platform|release|runtime)/'],
    ),
    only(
      'stage-settings',
      'What a command and the local runtime must know of a stage alike: its settings, names, permissions and description file.',
      '^shared/stage/',
      [
        '^shared/(kernel|contract|release)/',
        '^shared/keys/key-ring\\.ts$',
        '^shared/observability/watches\\.ts$',
        '^shared/stores/(tables|clients)\\.ts$',
      ],
    ),
    only(
      'scale-from-records',
      'What a traffic uses is computed from recorded calls and the periods of the caches, for stacks, commands and the watcher alike.',
      '^shared/scale/',
      ['^shared/(keys|platform|release|records)/', '^shared/stage/stage\\.ts$'],
    ),
    only(
      'stage-checks-on-stores',
      'A check looks at a deployed stage: doctor and the watcher run the same ones, with clients of their own.',
      '^shared/stage-checks/',
      [
        '^shared/(kernel|network|observability|contract|keys|platform|records|release|runtime|stores|stage|scale)/',
      ],
    ),
    only(
      'openapi-from-rows',
      'The published document is rendered from the rows of routes and problems.',
      '^shared/openapi/',
      ['^shared/(kernel|contract|problems|release)/'],
    ),
    only(
      'shared-serves-everybody',
      'What is shared by services, stacks and tools must not know any of them.',
      '^shared/',
      ['^shared/'],
    ),

    // Services
    only(
      'engine-is-pure',
      'The engine is a function of values that must give the same bits for ever: it sees the kernel and itself, not even types of a service.',
      '^functions/mastery/engine/',
      ['^shared/kernel/'],
    ),
    {
      name: 'engine-without-packages',
      severity: 'error',
      comment: 'A package or a Node module could change the engine’s results with its version.',
      from: { path: '^functions/mastery/engine/', pathNot: test },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'core'] },
    },
    {
      name: 'frozen-kernel-is-alone',
      severity: 'error',
      comment:
        'Released calibrations pin a kernel for ever: it may not share code that the next one will want to change. A later kernel may use what is frozen.',
      from: { path: '^functions/mastery/engine/kernels/([^/]+)/', pathNot: test },
      to: {
        path: '^functions/mastery/engine/kernels/([^/]+)/',
        pathNot: '^functions/mastery/engine/kernels/($1|ho-cdm-grid-1)/',
      },
    },
    {
      name: 'endpoints-do-not-share',
      severity: 'error',
      comment:
        'What two endpoints need belongs to the domain, and what they bind alike to their folder support: each one can be read, deployed and removed alone.',
      from: { path: '^functions/([^/]+)/endpoints/([^/]+)/', pathNot: test },
      to: { path: '^functions/[^/]+/endpoints/[^/]+/', pathNot: '^functions/$1/endpoints/($2|support)/' },
    },
    {
      name: 'services-do-not-meet',
      severity: 'error',
      comment: 'Reports and mastery deploy, fail and are released apart; what both need is shared.',
      from: { path: '^functions/([^/]+)/', pathNot: test },
      to: { path: '^functions/', pathNot: '^functions/$1/' },
    },
    {
      name: 'functions-only-on-shared',
      severity: 'error',
      comment:
        'A bundle must hold nothing of the stacks, the commands, the local runtime or the tests, nor what only they share.',
      from: { path: '^functions/', pathNot: test },
      to: {
        path: '^(bin|lib|client|report-element|ops|local|psychometrics|tools|bench|test)/|^shared/(openapi|stage)/',
      },
    },
    {
      name: 'only-handlers-bind-aws',
      severity: 'error',
      comment: 'A file that binds real dependencies ends there: everything below it is tested with values.',
      from: { path: '^functions/', pathNot: ['^functions/([^/]+/(endpoints|background)|deployment)/', test] },
      to: { path: '^shared/stores/' },
    },
    only(
      'facts-are-values',
      'Facts are what the owners said, and whether they fit together; everything that is made of them stands above.',
      '^functions/reports/facts/',
      ['^shared/(kernel|contract|problems)/', '^shared/platform/owners/'],
    ),
    only(
      'analysis-on-facts',
      'An alignment, a metric, an order or a bundle is a function of facts and policy, so that the receipts command can recompute it.',
      reportsAnalysis,
      [
        '^functions/reports/facts/',
        '^shared/(kernel|contract|improvement|problems)/',
        '^shared/platform/owners/',
      ],
    ),
    only(
      'composition-is-pure',
      'A report is a function of what its owners said: the code that asks them stands outside.',
      '^functions/reports/composition/',
      [
        '^functions/reports/(analysis|facts)/',
        '^shared/(kernel|contract|improvement|problems)/',
        '^shared/platform/owners/',
      ],
    ),
    only(
      'sources-on-facts',
      'A source is read without knowing which report it is for.',
      '^functions/reports/sources/',
      [
        '^functions/reports/(access|facts)/',
        '^shared/(kernel|contract|improvement|platform|problems|http|observability)/',
      ],
    ),
    {
      name: 'composition-without-packages',
      severity: 'error',
      comment:
        'Nothing but the schemas may come between an owner’s fact and the report, order or receipt that is made of it.',
      from: { path: pureReports, pathNot: test },
      to: {
        pathNot: '^node_modules/zod/',
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'core'],
      },
    },
    {
      name: 'sandbox-reaches-no-data',
      severity: 'error',
      comment:
        'The sandbox answers strangers from fixtures: nothing it imports, however far, may reach the platform, a store, AWS, a key or a token check.',
      from: { path: '^functions/sandbox/', pathNot: test },
      to: {
        path: [
          '^shared/(platform|stores|keys|tokens|records|improvement|http/auth)/',
          // What a request would know of its control record is a type, and there is none.
          '^shared/idempotency/(?!control-record\\.ts$)',
          // It logs as every function does.
          '^node_modules/(@aws-lambda-powertools/(?!(logger|commons)/)|jose/)',
          aws,
        ],
        reachable: true,
      },
    },

    // Stacks
    only(
      'stacks-read-data',
      'Stacks read the contract as data and name handlers by path: importing one would run a service’s code at synth.',
      '^lib/',
      [
        '^shared/(kernel|contract|problems|release|scale|stage)/',
        '^shared/stores/tables\\.ts$',
        '^shared/keys/key-ring\\.ts$',
        '^shared/observability/(log-codes|watches)\\.ts$',
        '^tools/page/',
      ],
    ),
    only(
      'app-builds-stacks',
      'The app chooses stage and gates and builds the stacks; it never runs a service.',
      '^bin/',
      ['^lib/', '^shared/(?!platform/|http/|lambda/)', site],
    ),

    // Around the product
    {
      name: 'client-stands-alone',
      severity: 'error',
      comment:
        'The client is a package of its own, for browsers too: it may import nothing of ours, no package and no module of Node.js.',
      from: { path: '^client/', pathNot: test },
      to: { pathNot: '^client/' },
    },
    {
      name: 'element-on-types',
      severity: 'error',
      comment:
        'The element is a package of its own for any page: it needs the types of the client, and nothing at run time.',
      from: { path: '^report-element/' },
      to: { pathNot: '^report-element/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'element-on-client',
      severity: 'error',
      comment: 'What the element shows is what the client reads.',
      from: { path: '^report-element/' },
      to: { pathNot: '^(report-element|client)/' },
    },
    only(
      'ops-on-libraries',
      'The operator’s commands work on any deployment: they reach the local stage through its description file, never by import.',
      '^ops/',
      ['^(shared|client)/', leaves, engineEntry, masteryRecords, reportsAnalysis],
    ),
    only(
      'psychometrics-are-studies',
      'Studies use the engine as released calibrations do, by its entry; nothing in the product imports a study.',
      '^psychometrics/',
      ['^(shared|client)/', leaves, engineEntry, masteryRecords],
    ),
    only(
      'local-runs-the-product',
      'The local runtime serves the bundled functions over HTTP: it imports the contract and the commands, not the services; only the explorer asks the engine what an item tells, and a simulated learner what its blocks are.',
      '^local/',
      ['^(shared|client|ops|report-element)/', leaves, site, masteryRecords],
      ['^local/(explorer/backend|journey/learner)\\.ts$'],
    ),
    {
      name: 'explorer-in-a-browser',
      severity: 'error',
      comment:
        'The page runs in a browser: it takes along the client, the element, the charts and small packages alone.',
      from: { path: '^local/explorer/app/', pathNot: test },
      to: {
        pathNot:
          '^(local/explorer/app|client/src|report-element/src|tools/page)/|^node_modules/(preact|@observablehq/plot)/',
      },
    },
    only(
      'explorer-backend-beside-the-services',
      'The backend of the explorer knows the seed and asks the engine; the services themselves are called by the page.',
      '^local/explorer/backend\\.ts$',
      ['^(shared|local)/', engineEntry, masteryRecords],
    ),
    only(
      'leaves-stand-alone',
      'Bundling, terminal and page are used by every command: an import of theirs would become an import of all.',
      leaves,
      ['^shared/kernel/', '^shared/contract/functions\\.ts$'],
    ),
    only(
      'site-from-registries',
      'The site is made of documents and registries: whoever serves it must not come to depend on a service or a command.',
      site,
      ['^shared/(contract|kernel|openapi|problems|release)/', leaves],
    ),
    {
      name: 'tools-serve-maintainers',
      severity: 'error',
      comment: 'The maintainer’s tools may look at everything, so nothing that runs may depend on them.',
      from: { path: ours, pathNot: ['^(tools|bench)/', test] },
      to: { path: '^tools/', pathNot: [leaves, site] },
    },
    {
      name: 'bench-is-imported-by-nothing',
      severity: 'error',
      comment: 'A measurement may import anything; what imports a measurement would run it.',
      from: { path: ours, pathNot: '^bench/' },
      to: { path: '^bench/' },
    },
    {
      name: 'local-without-cdk',
      severity: 'error',
      comment:
        'The local runtime is ready within a second; what it shares with the stacks must not load the CDK.',
      from: { path: '^local/', pathNot: test },
      to: { path: '^node_modules/aws-cdk-lib/', reachable: true },
    },
    {
      name: 'no-import-of-tests',
      severity: 'error',
      comment:
        'Nothing that runs depends on a test or its helpers, but what measures and checks the product as tests do.',
      from: { path: ours, pathNot: ['^(bench|tools/foreign)/', '^tools/crashes[.]ts$', test] },
      to: { path: test },
    },

    // Packages
    {
      name: 'sdk-in-one-folder',
      severity: 'error',
      comment:
        'One folder speaks to AWS, so that its calls, errors and permissions can be seen in one place; beside it what a deployment, doctor and the watcher ask of the account, tests of the emulator, of commands and of the key ring, and what fills another emulator.',
      from: {
        pathNot: [
          '^shared/(stores|stage-checks)/',
          '^functions/.*\\.test\\.ts$',
          '^shared/stage/access\\.ts$',
          '^(ops/(deploy|doctor)|tools/foreign/aws)/',
          '^node_modules/',
          '^(local/aws|ops|shared/keys)/.*\\.test\\.ts$',
          '^test/',
        ],
      },
      to: { path: aws },
    },
    confined(
      'jose-where-tokens-are',
      'Cryptography of tokens stands where tokens are made or opened and nowhere else.',
      'jose/',
      [
        '^shared/http/auth/',
        '^shared/tokens/',
        '^shared/release/',
        '^(shared|functions)/.*\\.test\\.ts$',
        '^shared/stage/local-issuer\\.ts$',
        '^local/',
        '^node_modules/',
        '^test/',
      ],
    ),
    confined(
      'cdk-in-stacks',
      'Only stacks and their tests know the CDK.',
      '(aws-cdk-lib|constructs|cdk-nag)/',
      ['^(lib|bin)/', '^test/infra/', '^node_modules/'],
    ),
    confined(
      'middy-in-pipeline',
      'The pipeline composes the stages, in base-middleware.ts alone; no other file knows Middy.',
      '@middy/',
      ['^shared/http/(base-middleware|stages/security-headers)\\.ts$', '^node_modules/'],
    ),
    confined(
      'powertools-behind-ours',
      'Powertools writes whole events and responses where nobody asks it to: our layers decide what is stored and logged.',
      '@aws-lambda-powertools/',
      ['^shared/(idempotency|observability|http)/', '^node_modules/'],
    ),
    confined(
      'dynalite-in-emulator',
      'It stands in for DynamoDB on a developer’s machine and is never deployed.',
      'dynalite/',
      ['^local/aws/', '^node_modules/'],
    ),
    confined('esbuild-in-bundling', 'One recipe makes every bundle.', 'esbuild/', [
      '^tools/bundling/',
      '^test/frozen/freeze-readers[.]ts$',
      '^tools/foreign/clients/drivers[.]ts$',
      '^node_modules/',
    ]),
    {
      name: 'no-development-packages-in-functions',
      severity: 'error',
      comment: 'What a bundle holds is a dependency, listed and updated as one.',
      from: { path: '^(functions|shared)/', pathNot: test },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-unknown-packages',
      severity: 'error',
      comment:
        'A package that package.json does not name is there by accident and goes with the next install.',
      // The client's package names none: its tests run from the project's own.
      from: { path: ours, pathNot: '^client/src/.*\\.test\\.ts$' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'not-to-unresolvable',
      severity: 'error',
      comment: 'An import that leads nowhere fails at run time, in the one case that loads it.',
      // What a browser imports has its place on the site, not here.
      from: { pathNot: '^tools/site/assets/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or lack a third; also when only their types do.',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: '^node_modules/' },
    // Programs with packages of their own, and frozen readers, which are made of a former release.
    exclude: {
      path: '^(tools/(openapi-checkers|instrumenter)/|client/dist/|report-element/dist/|test/frozen/v[0-9]+/readers[.]mjs$)',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
