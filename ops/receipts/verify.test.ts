import { describe, expect, it } from 'vitest';
import type { RunReceipt, SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { changed } from '#test/support/changed.ts';
import { improveRun, observedValues, runArtifacts, type RunChange } from '#test/support/improvement-facts.ts';
import { plain } from '#tools/terminal/paint.ts';
import { verifyReceipt } from './verify.ts';

const improved = improveRun();
const FOLDER = 'evidence';

type Files = Readonly<Record<string, Uint8Array | string>>;

/** The artifacts of a run and the bundle of its source, as a user saves them: under any names, some of them in folders. */
function evidenceOf({ artifacts, source }: typeof improved, without: readonly string[] = []): Files {
  return Object.fromEntries(
    [...artifacts, ['receipt of the source', source.bytes] as const]
      .filter(([ref]) => !without.includes(ref))
      .map(([ref, bytes], n) => [`${FOLDER}/${n % 2 === 0 ? '' : 'more/'}${ref}.bin`, bytes]),
  );
}

async function verify(name: string, bytes: Uint8Array | string, evidence?: Files) {
  const files: Files = { [name]: bytes, ...evidence };
  const lines: string[] = [];
  const result = await verifyReceipt(
    {
      readFile: (path) => {
        const content = files[path];
        if (content === undefined) return Promise.reject(Object.assign(new Error(), { code: 'ENOENT' }));
        return Promise.resolve(Buffer.from(content));
      },
      listFiles: (folder) =>
        Promise.resolve(
          Object.keys(files)
            .filter((path) => path.startsWith(`${folder}/`))
            .map((path) => path.slice(folder.length + 1)),
        ),
      print: (line) => lines.push(line),
      paint: plain,
    },
    name,
    evidence === undefined ? undefined : FOLDER,
  );
  return { error: result.ok ? undefined : result.error, text: lines.join('\n') };
}

/** Names of the checks that fail, as the command ends with them. */
const failed = ({ error }: { readonly error: string | undefined }) =>
  error === undefined ? [] : (/\((.*)\)$/.exec(error)?.[1]?.split(', ') ?? [error]);

const sourceReceipt = JSON.parse(Buffer.from(improved.source.bytes).toString()) as SourceReceipt;
const runReceipt = JSON.parse(Buffer.from(improved.run.bytes).toString()) as RunReceipt;

/** New values by the paths of members; undefined removes one. */
type Changes = Readonly<Record<string, unknown>>;

/** One row per change: the check that fails by it, what is wrong, and what is changed. */
const rows = (byCheck: Readonly<Record<string, Readonly<Record<string, Changes>>>>) =>
  Object.entries(byCheck).flatMap(([check, cases]) =>
    Object.entries(cases).map(([title, changes]) => [check, title, changes] as const),
  );

/** A bundle that somebody has changed and given a new digest. */
function resealed(receipt: SourceReceipt | RunReceipt, changes: Changes): string {
  const content = Object.entries({ ...changes, digest: undefined }).reduce<unknown>(
    (value, [path, to]) => changed(value, path, to),
    receipt,
  ) as Record<string, unknown>;
  return canonicalJson({ ...content, digest: hashCanonical(content) });
}

describe('a receipt bundle as it was fetched', () => {
  it('holds by itself, under its digest as a name [RP-168, RP-211, RP-215]', async () => {
    for (const { bytes, sha256 } of [improved.source, improved.run]) {
      const { error, text } = await verify(`${sha256}.json`, bytes);
      expect(error).toBeUndefined();
      expect(text).toMatch(/^OK +file name/m);
      expect(text).not.toContain('FAILED');
    }
  });

  it('holds with the artifacts that it names, whatever their files are called [RP-215]', async () => {
    for (const { bytes } of [improved.source, improved.run]) {
      const evidence = { ...evidenceOf(improved), [`${FOLDER}/notes.txt`]: 'something else' };
      const { error, text } = await verify('bundle.json', bytes, evidence);
      expect(error).toBeUndefined();
      expect(text).toMatch(/^OK +artifacts/m);
      expect(text).toMatch(/^OK +thresholds/m);
    }
  });

  it.each(
    Object.entries<RunChange>({
      'no comparison was due': { comparison: null },
      'the comparison is missing': { comparison: 'missing' },
      'the comparison is suppressed': {
        comparison: { ...runArtifacts.comparison, suppression: { status: 'suppressed', rule: 'minimum 10' } },
      },
      'Analytics had never analyzed the administration': { comparison: 'not_analyzed' },
      'the run was judged by earlier rules': { rules: '2' },
      'the blueprint lacks what mappings lead to': { targets: { slotIds: [], caseGuids: [] } },
      'nobody was compared': { comparison: { ...runArtifacts.comparison, populationCount: 0 } },
      'nothing has tripped, and all was judged': {
        discrimination: {
          ...runArtifacts.discrimination,
          rows: runArtifacts.discrimination.rows.slice(1, 2),
        },
      },
      'the comparison contradicts itself': {
        comparison: { ...runArtifacts.comparison, agreementCount: observedValues.agreement + 1 },
      },
    }),
  )('holds where %s [RP-175, RP-176]', async (_, change) => {
    const other = improveRun(change);
    for (const { bytes } of [other.source, other.run])
      expect(await verify('bundle.json', bytes, evidenceOf(other))).toMatchObject({ error: undefined });
  });

  it('passes nothing on that would steer a terminal', async () => {
    const { text } = await verify(
      'bundle.json',
      resealed(sourceReceipt, { sourceAssessment: 'state\u001b[2J\u202etest' }),
    );
    expect(text).toContain('state\u{fffd}[2J\u{fffd}test');
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });
});

describe('a file that is no bundle of ours', () => {
  it.each<[string, Uint8Array | string, RegExp]>([
    [
      'a zip archive',
      Buffer.from('504b03040a', 'hex'),
      /is a zip archive: expected a JSON file, as the service creates it$/,
    ],
    ['no text', Buffer.from([0xff, 0xfe, 0x00]), /is not valid I-JSON/],
    ['no JSON', 'receipt', /is not valid I-JSON/],
    ['empty', '', /is not valid I-JSON/],
    ['JSON with a member twice', '{"object":"run_receipt","object":"run_receipt"}', /is not valid I-JSON/],
    ['nested without end', '['.repeat(100_000), /is not valid I-JSON/],
    ['other JSON', '[]', /is not a receipt bundle/],
    ['another resource', '{"object":"alignment_report"}', /is not a receipt bundle/],
  ])('is refused in a sentence: %s', async (_, bytes, reason) => {
    expect((await verify('bundle.json', bytes)).error).toMatch(reason);
  });
});

describe('a bundle that was changed', () => {
  it('fails by its digest, and by the name under which it came [RP-211]', async () => {
    const text = Buffer.from(improved.source.bytes).toString();
    const later = text.replace('"sourceVersion":"2025"', '"sourceVersion":"2026"');
    expect(failed(await verify(`${improved.source.sha256}.json`, later))).toEqual(['file name', 'digest']);
    expect(failed(await verify('bundle.json', later))).toEqual(['digest']);
    const pretty = JSON.stringify(JSON.parse(text), null, 2);
    expect(failed(await verify('bundle.json', pretty))).toEqual(['bytes']);
  });

  const { analysisPolicy, contributions, decisions } = sourceReceipt;
  const lenient = changed(analysisPolicy, 'triggers/1/threshold/value', 10) as typeof analysisPolicy;
  const [onAlignment, onComparison] = decisions;
  const missing = [{ trigger: 2, subjects: onComparison?.subjects, reason: 'subject_missing' }];
  it.each(
    rows({
      shape: {
        'has a member more': { candidateSourcedId: 'learner' },
        'lacks a member': { limitations: undefined },
        'has another formula': { formulaVersion: 'alignment-v2' },
        'does not name the list of sources': { sourceSet: undefined },
        'names the list of sources, and passes for one of earlier rules': { formatVersion: 2 },
      },
      contributions: {
        'counts a requirement more than it weighs [RP-183]': { 'contributions/0/weightedContribution': 3 },
        'counts one of lower DOK [RP-181]': {
          'contributions/1': { ...contributions[1], rigor: 1, weightedContribution: 0.1, reasonCode: null },
        },
      },
      requirements: { 'counts a requirement twice [RP-177]': { 'contributions/4': contributions[0] } },
      sums: {
        'has a numerator of its own [RP-174]': { numerator: 2.5 },
        'has a denominator of its own [RP-174]': { denominator: 3.7 },
        'leaves out what does not count [RP-171, RP-174]': { contributions: contributions.slice(0, -1) },
      },
      percent: { 'has a percentage of its own [RP-172]': { alignmentPercent: 52.63158 } },
      policy: { 'has other thresholds': { analysisPolicy: lenient } },
      decisions: {
        'has other thresholds under a new checksum': {
          analysisPolicy: { ...lenient, checksum: documentChecksum(lenient) },
        },
        'lacks a decision on its alignment': { decisions: [onComparison] },
        'names a trigger of another metric': { 'decisions/0/trigger': 0 },
        'names a trigger that there is not': { 'decisions/0/trigger': 7 },
        'decides on other evidence': { 'decisions/0/evidence/0/sha256': 'a'.repeat(64) },
        'has an order without its subject': { 'decisions/0/subjects/sourceKeys': [] },
      },
      omissions: {
        'names an omission that is none': { comparison: null, omissions: ['predicted_actual'] },
        'names an omission of what was never analyzed': {
          ...{ comparison: 'not_analyzed', omissions: ['predicted_actual'] },
        },
        'hides an omission [RP-152]': { comparison: 'missing' },
        'withholds a decision on the comparison, and does not name it [RP-152]': {
          ...{ decisions: [onAlignment], withheld: missing },
        },
      },
    }),
  )('fails by its %s where it %s', async (check, _, changes) => {
    expect(failed(await verify('bundle.json', resealed(sourceReceipt, changes)))).toContain(check);
  });

  const { metrics, orders, sources } = runReceipt;
  it.each(
    rows({
      shape: { 'has an order that nobody has answered [RP-217]': { 'orders/0/status': 'pending' } },
      metrics: {
        'lists a metric twice [RP-157]': { 'metrics/3': metrics[2] },
        'has an available metric without its artifact': { 'metrics/0/artifact': null },
        'decides on a suppressed metric [RP-159]': {
          'metrics/1': { ...metrics[1], status: 'suppressed', reasonCode: 'suppressed' },
        },
        'does not say whether all of an available metric was judged': { 'metrics/1/judged': undefined },
        'judged all of a metric, and has withheld something': { 'metrics/1/judged': 'all' },
      },
      sources: { 'lists a source twice [RP-167]': { 'sources/1': sources[0] } },
      policy: { 'has other thresholds': { 'analysisPolicy/triggers/0/threshold/value': 0.1 } },
      decisions: {
        'decides by a trigger of another metric': { 'metrics/1/decisions/0/trigger': 1 },
        'lists a withheld decision twice': { 'metrics/1/withheld/1': metrics[1]?.withheld[0] },
      },
      orders: {
        'lists an order twice': { 'orders/3': orders[0] },
        'lacks an order that it has decided': { orders: orders.slice(1) },
        'has an order that nothing has decided': {
          'orders/3': { ...orders[0], revisionOrderId: 'order_x', evidence: 'metric:form_summary' },
        },
        'has an accepted order without its receipt [RP-204]': { 'orders/0/receipt': null },
        'has an order acknowledged by another module': { 'orders/0/receipt/service': 'blueprint' },
        'has an order changed before it was made [RP-206]': {
          'orders/0/updatedAt': '2026-01-01T00:00:00.000Z',
        },
      },
      omissions: {
        'does not name a metric of which rows were left out [RP-152]': {
          omissions: ['distractor_distribution', 'form_summary'],
        },
        'hides an omission [RP-152, RP-166]': { omissions: [] },
        'names an omission that is none': { 'omissions/3': 'predicted_actual' },
      },
    }),
  )('fails by its %s where a run %s', async (check, _, changes) => {
    expect(failed(await verify('bundle.json', resealed(runReceipt, changes)))).toContain(check);
  });

  it('shows ten of very many failures, and says what to do', async () => {
    const row = { ...sourceReceipt.contributions[0], weightedContribution: 0 };
    const contributions = Array.from({ length: 10_000 }, (_, n) => ({
      ...row,
      sourceRequirementId: `r${n}`,
    }));
    const many = resealed(sourceReceipt, { contributions });
    const { text } = await verify('bundle.json', many);
    expect(text).toContain('and 9990 more');
    expect(text.split('\n').length).toBeLessThan(60);
    expect(text).toMatch(/→ /);
  });
});

describe('a bundle that holds by itself, held to its artifacts', () => {
  it.each([
    ['source', 'crosswalk-state-math-5'],
    ['source', 'artifact-comparison'],
    ['source', 'alignment-sources'],
    ['run', 'alignment-sources'],
    ['run', 'artifact-item_discrimination'],
    ['run', 'artifact-form_summary'],
    ['run', 'crosswalk-state-math-5'],
  ] as const)('fails where for a %s %s is not in the folder, and names it [RP-215]', async (kind, ref) => {
    const result = await verify('bundle.json', improved[kind].bytes, evidenceOf(improved, [ref]));
    expect(failed(result)).toEqual(['artifacts']);
    expect(result.text).toContain(`${ref} of `);
  });

  it('does not need the bundles of the sources, and says that it has not seen them', async () => {
    const result = await verify(
      'bundle.json',
      improved.run.bytes,
      evidenceOf(improved, ['receipt of the source']),
    );
    expect(result.error).toBeUndefined();
    expect(result.text).toMatch(/^- +source bundles +none is in the folder$/m);
  });

  const { contributions, decisions } = sourceReceipt;
  const [onAlignment, onComparison] = decisions;
  it.each(
    rows({
      crosswalk: {
        // Consistent in itself: everything twice as heavy.
        'the crosswalk gives another weight [RP-180]': {
          numerator: 4,
          denominator: 7.6,
          contributions: contributions.map(({ weight, weightedContribution, ...row }) => ({
            ...{ ...row, weight: weight * 2, weightedContribution: weightedContribution * 2 },
          })),
        },
        'the crosswalk has another assessment': { sourceAssessment: 'Another assessment' },
        'limitations are left out [RP-176]': { limitations: [] },
        'it is of another tenant': { tenantId: 'tenant-b' },
        'it is of another version of the blueprint': { contentTestSpecVersion: '13' },
      },
      thresholds: {
        'an order of the comparison is left out': { decisions: [onAlignment] },
        'an order of the comparison is made up': {
          'decisions/2': { ...onComparison, revisionOrderId: 'order_x' },
        },
        'an order is about something else': { 'decisions/1/subjects/qtiFormId': 'form-2' },
      },
    }),
  )('fails by its %s where %s', async (check, _, changes) => {
    const result = await verify('bundle.json', resealed(sourceReceipt, changes), evidenceOf(improved));
    expect(failed(result)).toContain(check);
  });

  const { metrics, orders, createdAt } = runReceipt;
  const omitted = ['distractor_distribution', 'form_summary'];
  it.each(
    rows({
      'source list': { 'a source is left out [RP-150]': { sources: [], orders: orders.slice(0, 1) } },
      thresholds: {
        'an order of a metric is left out': { 'metrics/1/decisions': [], orders: orders.slice(1) },
        'what was withheld is left out': { 'metrics/1/withheld': [] },
        'a withheld decision is made up': { 'metrics/1/withheld/0/reason': 'unit_mismatch' },
        'a metric is said to be judged in full [RP-152]': {
          ...{ 'metrics/1/judged': 'all', 'metrics/1/withheld': [], omissions: omitted },
        },
        'an order of a source is left out': { orders: orders.toSpliced(1, 1) },
        'an order of a source is made up': { 'orders/3': { ...orders[1], revisionOrderId: 'order_x' } },
        'a suppressed metric passes for available [RP-159, RP-162]': {
          'metrics/3': { ...metrics[3], status: 'available', reasonCode: null, evaluatedAt: createdAt },
          omissions: omitted.slice(0, 1),
        },
        'the comparison passes for omitted': {
          ...{ 'sources/0/comparisonOmitted': true, 'omissions/3': 'predicted_actual' },
        },
        'the artifact of a metric is that of another': { 'metrics/0/artifact': metrics[3]?.artifact },
      },
    }),
  )('fails by its %s where of a run %s', async (check, _, changes) => {
    const result = await verify('bundle.json', resealed(runReceipt, changes), evidenceOf(improved));
    expect(failed(result)).toContain(check);
  });

  it('holds a metric that cannot be true against a run that was judged by it, and against no earlier one [RP-159]', async () => {
    for (const rules of ['2', '3'] as const) {
      const other = improveRun({ rules });
      const whole = JSON.parse(Buffer.from(other.run.bytes).toString()) as RunReceipt;
      const artifact = JSON.parse(
        Buffer.from(other.artifacts.get('artifact-item_difficulty')!).toString(),
      ) as object;
      const bytes = Buffer.from(JSON.stringify({ ...artifact, populationCount: 26, sampleCount: 99_999 }));
      const claimed = resealed(whole, { 'metrics/0/artifact/sha256': sha256Hex(bytes) });
      const result = await verify('bundle.json', claimed, { ...evidenceOf(other), [`${FOLDER}/x`]: bytes });
      expect([rules, failed(result)]).toEqual([rules, rules === '3' ? ['thresholds'] : []]);
    }
  });

  it.each<[string, RunChange]>([
    ['was judged by other rules', { rules: '2' }],
    ['is another one', { crosswalk: { ...runArtifacts.crosswalk, version: '4' } }],
  ])('fails where the bundle of a source %s', async (_, change) => {
    const { source } = improveRun(change);
    const claimed = resealed(runReceipt, { 'sources/0/receipt/sha256': source.sha256 });
    const evidence = { ...evidenceOf(improved), [`${FOLDER}/other.json`]: source.bytes };
    expect(failed(await verify('bundle.json', claimed, evidence))).toEqual(['source bundles']);
  });

  it.each([
    ['{"kind":"metric"}', 'does not match the schema of its owner'],
    ['{"kind"', 'is not valid JSON (malformed)'],
  ])('does not take a file for an artifact that is not in its owner’s form: %s', async (text, why) => {
    const bytes = Buffer.from(text);
    const renamed = resealed(sourceReceipt, { 'crosswalk/sha256': sha256Hex(bytes) });
    const result = await verify('bundle.json', renamed, { ...evidenceOf(improved), [`${FOLDER}/x`]: bytes });
    expect(failed(result)).toContain('crosswalk');
    expect(result.text).toContain(why);
  });
});
