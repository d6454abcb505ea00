import { actions, metrics } from '#shared/contract/reports/analysis-policy.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { competenciesOf } from './file.ts';
import type { ReportsFile } from './file.ts';
import { among, defect, repeated } from './findings.ts';
import type { Path } from './findings.ts';
import { sourceNamesOf } from './improvement-entries.ts';
import type { AlignmentEntry, AnalysisEntry, MetricArtifactEntry } from './improvement-entries.ts';

type Named = readonly { readonly name: string }[];

/** What may be named in what is about one test spec. */
interface Known {
  readonly forms: Named;
  readonly codes: Named;
  readonly sources: Named;
}

/** What the schema cannot see in the members that improvement runs rest on. */
export function checkImprovement(file: ReportsFile): readonly Defect[] {
  return [
    ...file.testSpecs.flatMap((spec, at) =>
      spec.alignment === undefined
        ? []
        : checkAlignment(spec.alignment, knownTo(file, spec.name), ['testSpecs', at, 'alignment']),
    ),
    ...file.administrations.flatMap(({ testSpec, analyses, receivers }, at) => [
      ...analyses.flatMap((analysis, which) =>
        checkAnalysis(analysis, knownTo(file, testSpec), ['administrations', at, 'analyses', which]),
      ),
      ...(['bank', 'blueprint'] as const).flatMap((module) =>
        receivers[module].refuses.flatMap((action, which) =>
          actions[action].targetModule === module
            ? []
            : [
                defect(
                  `"${action}" is nothing that is asked of it`,
                  'administrations',
                  at,
                  'receivers',
                  module,
                  'refuses',
                  which,
                ),
              ],
        ),
      ),
    ]),
    ...checkFixtures(file),
  ];
}

function knownTo({ testSpecs, frameworks }: ReportsFile, testSpec: string): Known {
  const spec = testSpecs.find(({ name }) => name === testSpec);
  const framework = frameworks.find(({ name }) => name === spec?.framework);
  const named = (names: readonly string[]): Named => names.map((name) => ({ name }));
  return {
    forms: named(spec?.forms ?? []),
    codes: named(framework === undefined ? [] : competenciesOf(framework).map(({ code }) => code)),
    sources: named(sourceNamesOf(spec?.alignment)),
  };
}

function checkAlignment({ sources, generated }: AlignmentEntry, known: Known, path: Path): readonly Defect[] {
  if ((sources === undefined) === (generated === undefined))
    return [defect('holds exactly one of "sources" and "generated"', ...path)];
  return [
    ...repeated(
      (sources ?? []).map(({ key }) => key),
      (at) => [...path, 'sources', at, 'key'],
    ),
    ...(sources ?? []).flatMap(({ requirements }, source) => {
      const place = [...path, 'sources', source, 'requirements'];
      return [
        ...repeated(
          requirements.map(({ id }) => id),
          (at) => [...place, at, 'id'],
        ),
        ...requirements.flatMap(({ mappings }, at) =>
          checkCodes(
            mappings.map(({ code }) => code),
            known,
            (which) => [...place, at, 'mappings', which, 'code'],
          ),
        ),
      ];
    }),
  ];
}

function checkCodes(codes: readonly string[], known: Known, pathOf: (at: number) => Path): readonly Defect[] {
  return codes.flatMap((code, at) =>
    among(known.codes, code, 'competency of the test spec’s framework', ...pathOf(at)),
  );
}

function checkAnalysis({ metrics: rows, comparisons }: AnalysisEntry, known: Known, path: Path) {
  return [
    ...repeated(
      rows.map(({ metric }) => metric),
      (at) => [...path, 'metrics', at, 'metric'],
    ),
    ...rows.flatMap(({ metric, artifact }, at) =>
      artifact === null ? [] : checkArtifact(metric, artifact, known, [...path, 'metrics', at, 'artifact']),
    ),
    ...repeated(
      comparisons.map(({ source }) => source),
      (at) => [...path, 'comparisons', at, 'source'],
    ),
    ...comparisons.flatMap(({ source, artifact }, at) => {
      const place = [...path, 'comparisons', at];
      return [
        ...among(known.sources, source, 'source of the test spec', ...place, 'source'),
        ...among(known.forms, artifact?.form, 'form of the test spec', ...place, 'artifact', 'form'),
        ...checkCodes(artifact?.codes ?? [], known, (which) => [...place, 'artifact', 'codes', which]),
      ];
    }),
  ];
}

function checkArtifact(
  metric: AnalysisEntry['metrics'][number]['metric'],
  { rows, generatedRows }: MetricArtifactEntry,
  known: Known,
  path: Path,
): readonly Defect[] {
  const isOfForms = metric === 'form_summary';
  if (generatedRows !== undefined && (isOfForms || rows.length > 0))
    return [defect('stands for the rows of items', ...path, 'generatedRows')];
  const measures = new Map(metrics[metric].measures.map((measure) => [measure.name, measure]));
  return rows.flatMap(({ form, item, codes, ...row }, at) => {
    const place = [...path, 'rows', at];
    return [
      ...among(known.forms, form, 'form of the test spec', ...place, 'form'),
      ...((item === undefined) === isOfForms
        ? []
        : [defect('is there exactly when items are measured', ...place, 'item')]),
      ...checkCodes(codes, known, (which) => [...place, 'codes', which]),
      ...Object.entries(row.measures).flatMap(([name, value]) => {
        const measure = measures.get(name);
        if (measure === undefined) return [defect(`is no measure of ${metric}`, ...place, 'measures', name)];
        return value >= measure.least && value <= measure.greatest
          ? []
          : [defect('is a value that it cannot take', ...place, 'measures', name)];
      }),
    ];
  });
}

function checkFixtures({ fixtures, administrations, testSpecs }: ReportsFile): readonly Defect[] {
  const aligned = testSpecs.filter(({ alignment }) => alignment !== undefined).map(({ name }) => name);
  const able = administrations.filter(
    ({ status, analyses, testSpec }) =>
      status === 'scored' && analyses.length > 0 && aligned.includes(testSpec),
  );
  return [
    ...repeated(fixtures.administrations, (at) => ['fixtures', 'administrations', at]),
    ...fixtures.administrations.flatMap((name, at) =>
      among(able, name, 'administration that can be analyzed', 'fixtures', 'administrations', at),
    ),
  ];
}
