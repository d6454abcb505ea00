import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { RunReceipt, SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { improveRun, observedValues, runArtifacts } from '#test/support/improvement-facts.ts';
import type { RunChange } from '#test/support/improvement-facts.ts';
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

/** A bundle that somebody has changed and given a new digest. */
function resealed(bytes: Uint8Array, change: (receipt: never) => unknown): string {
  const content = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
  delete content['digest'];
  change(content as never);
  return canonicalJson({ ...content, digest: hashCanonical(content) });
}
const source = (change: (receipt: SourceReceipt) => unknown) => resealed(improved.source.bytes, change);
const run = (change: (receipt: RunReceipt) => unknown) => resealed(improved.run.bytes, change);

/** The one element that a fixture is known to have. */
function at<T>(values: readonly T[], index = 0): T {
  const value = values[index];
  if (value === undefined) throw new Error('no such element');
  return value;
}
const metricOf = ({ metrics }: RunReceipt, name: string) =>
  at(metrics.filter(({ metric }) => metric === name));

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

  it.each<[string, RunChange]>([
    ['no comparison was due', { comparison: null }],
    ['the comparison is missing', { comparison: 'missing' }],
    [
      'the comparison is suppressed',
      {
        comparison: { ...runArtifacts.comparison, suppression: { status: 'suppressed', rule: 'minimum 10' } },
      },
    ],
    ['nobody was compared', { comparison: { ...runArtifacts.comparison, populationCount: 0 } }],
    [
      'nothing has tripped, and all was judged',
      {
        discrimination: {
          ...runArtifacts.discrimination,
          rows: runArtifacts.discrimination.rows.slice(1, 2),
        },
      },
    ],
    [
      'the comparison contradicts itself',
      { comparison: { ...runArtifacts.comparison, agreementCount: observedValues.agreement + 1 } },
    ],
  ])('holds where %s [RP-175, RP-176]', async (_, change) => {
    const other = improveRun(change);
    for (const { bytes } of [other.source, other.run])
      expect(await verify('bundle.json', bytes, evidenceOf(other))).toMatchObject({ error: undefined });
  });

  it('shows the percentage as a bar', async () => {
    const { text } = await verify('bundle.json', improved.source.bytes);
    expect(text).toContain(`${'█'.repeat(21)}${'░'.repeat(19)}  52.631579 %`);
    expect(text).toContain('2 of 3.8, 4 requirements');
  });

  it('passes nothing on that would steer a terminal', async () => {
    const { text } = await verify(
      'bundle.json',
      source((receipt) => {
        receipt.sourceAssessment = 'state\u001b[2J\u202etest';
      }),
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

  it('or is not there', async () => {
    const result = await verifyReceipt(
      { readFile, listFiles: () => Promise.resolve([]), print: () => undefined, paint: plain },
      'no/such/bundle.json',
      undefined,
    );
    expect(result).toEqual({
      ok: false,
      error: 'cannot read no/such/bundle.json: no such file or directory',
    });
  });
});

describe('a bundle that was changed', () => {
  it('fails by its digest, and by the name under which it came [RP-211]', async () => {
    const text = Buffer.from(improved.source.bytes).toString();
    const changed = text.replace('"sourceVersion":"2025"', '"sourceVersion":"2026"');
    expect(failed(await verify(`${improved.source.sha256}.json`, changed))).toEqual(['file name', 'digest']);
    expect(failed(await verify('bundle.json', changed))).toEqual(['digest']);
    const pretty = JSON.stringify(JSON.parse(text), null, 2);
    expect(failed(await verify('bundle.json', pretty))).toEqual(['bytes']);
  });

  it.each<[string, string, (receipt: SourceReceipt) => unknown]>([
    ['has a member more', 'shape', (receipt) => Object.assign(receipt, { candidateSourcedId: 'learner' })],
    ['lacks a member', 'shape', (receipt) => Reflect.deleteProperty(receipt, 'limitations')],
    ['has another formula', 'shape', (receipt) => Object.assign(receipt, { formulaVersion: 'alignment-v2' })],
    [
      'counts a requirement more than it weighs [RP-183]',
      'contributions',
      (receipt) => (at(receipt.contributions).weightedContribution = 3),
    ],
    [
      'counts one of lower DOK [RP-181]',
      'contributions',
      (receipt) =>
        Object.assign(at(receipt.contributions, 1), {
          rigor: 1,
          weightedContribution: 0.1,
          reasonCode: null,
        }),
    ],
    [
      'counts a requirement twice [RP-177]',
      'requirements',
      (receipt) => receipt.contributions.push(at(receipt.contributions)),
    ],
    ['has a numerator of its own [RP-174]', 'sums', (receipt) => (receipt.numerator = 2.5)],
    ['has a denominator of its own [RP-174]', 'sums', (receipt) => (receipt.denominator = 3.7)],
    ['leaves out what does not count [RP-171, RP-174]', 'sums', (receipt) => receipt.contributions.pop()],
    ['has a percentage of its own [RP-172]', 'percent', (receipt) => (receipt.alignmentPercent = 52.63158)],
    [
      'has other thresholds',
      'policy',
      (receipt) => (at(receipt.analysisPolicy.triggers, 1).threshold.value = 10),
    ],
    [
      'has other thresholds under a new checksum',
      'decisions',
      ({ analysisPolicy }) => {
        at(analysisPolicy.triggers, 1).threshold.value = 10;
        analysisPolicy.checksum = documentChecksum(analysisPolicy);
      },
    ],
    [
      'lacks a decision on its alignment',
      'decisions',
      (receipt) => (receipt.decisions = receipt.decisions.filter(({ trigger }) => trigger !== 1)),
    ],
    ['names a trigger of another metric', 'decisions', (receipt) => (at(receipt.decisions).trigger = 0)],
    ['names a trigger that there is not', 'decisions', (receipt) => (at(receipt.decisions).trigger = 7)],
    [
      'decides on other evidence',
      'decisions',
      (receipt) => (at(at(receipt.decisions).evidence).sha256 = 'a'.repeat(64)),
    ],
    [
      'has an order without its subject',
      'decisions',
      (receipt) => (at(receipt.decisions).subjects.sourceKeys = []),
    ],
    [
      'names an omission that is none',
      'omissions',
      (receipt) => Object.assign(receipt, { comparison: null, omissions: ['predicted_actual'] }),
    ],
    [
      'hides an omission [RP-152]',
      'omissions',
      (receipt) => Object.assign(receipt, { comparison: 'missing' }),
    ],
    [
      'withholds a decision on the comparison, and does not name it [RP-152]',
      'omissions',
      (receipt) => {
        const index = receipt.decisions.findIndex(({ trigger }) => trigger === 2);
        const [{ trigger, subjects }] = receipt.decisions.splice(index, 1) as [
          SourceReceipt['decisions'][number],
        ];
        receipt.withheld.push({ trigger, subjects, reason: 'subject_missing' });
      },
    ],
  ])('fails where it %s', async (_, check, change) => {
    expect(failed(await verify('bundle.json', source(change)))).toContain(check);
  });

  it.each<[string, string, (receipt: RunReceipt) => unknown]>([
    [
      'has an order that nobody has answered [RP-217]',
      'shape',
      (receipt) => Object.assign(at(receipt.orders), { status: 'pending' }),
    ],
    ['lists a metric twice [RP-157]', 'metrics', (receipt) => (receipt.metrics[3] = at(receipt.metrics, 2))],
    [
      'has an available metric without its artifact',
      'metrics',
      (receipt) => (at(receipt.metrics).artifact = null),
    ],
    [
      'decides on a suppressed metric [RP-159]',
      'metrics',
      (receipt) =>
        Object.assign(metricOf(receipt, 'item_discrimination'), {
          status: 'suppressed',
          reasonCode: 'suppressed',
        }),
    ],
    [
      'does not say whether all of an available metric was judged',
      'metrics',
      (receipt) => delete metricOf(receipt, 'item_discrimination').judged,
    ],
    [
      'says that all of a metric was judged, and has withheld something',
      'metrics',
      (receipt) => (metricOf(receipt, 'item_discrimination').judged = 'all'),
    ],
    [
      'does not name a metric of which rows were left out [RP-152]',
      'omissions',
      (receipt) => (receipt.omissions = ['distractor_distribution', 'form_summary']),
    ],
    ['lists a source twice [RP-167]', 'sources', (receipt) => receipt.sources.push(at(receipt.sources))],
    [
      'has other thresholds',
      'policy',
      (receipt) => (at(receipt.analysisPolicy.triggers).threshold.value = 0.1),
    ],
    [
      'decides by a trigger of another metric',
      'decisions',
      (receipt) => (at(metricOf(receipt, 'item_discrimination').decisions).trigger = 1),
    ],
    ['lists an order twice', 'orders', (receipt) => receipt.orders.push(at(receipt.orders))],
    [
      'lacks an order that it has decided',
      'orders',
      (receipt) =>
        (receipt.orders = receipt.orders.filter(({ evidence }) => !evidence.startsWith('metric:'))),
    ],
    [
      'has an order that nothing has decided',
      'orders',
      (receipt) =>
        receipt.orders.push({
          ...at(receipt.orders),
          revisionOrderId: 'order_x',
          evidence: 'metric:form_summary',
        }),
    ],
    [
      'has an accepted order without its receipt [RP-204]',
      'orders',
      (receipt) => (at(receipt.orders).receipt = null),
    ],
    [
      'has an order acknowledged by another module',
      'orders',
      (receipt) =>
        Object.assign(at(receipt.orders).receipt ?? {}, {
          service: at(receipt.orders).targetModule === 'bank' ? 'blueprint' : 'bank',
        }),
    ],
    [
      'has an order changed before it was made [RP-206]',
      'orders',
      (receipt) => (at(receipt.orders).updatedAt = '2026-01-01T00:00:00.000Z'),
    ],
    ['hides an omission [RP-152, RP-166]', 'omissions', (receipt) => (receipt.omissions = [])],
    ['names an omission that is none', 'omissions', (receipt) => receipt.omissions.push('predicted_actual')],
  ])('fails where a run %s', async (_, check, change) => {
    expect(failed(await verify('bundle.json', run(change)))).toContain(check);
  });

  it('shows ten of very many failures, and says what to do', async () => {
    const many = source((receipt) => {
      const row = at(receipt.contributions);
      receipt.contributions = Array.from({ length: 10_000 }, (_, n) => ({
        ...row,
        sourceRequirementId: `r${n}`,
        weightedContribution: 0,
      }));
    });
    const { text } = await verify('bundle.json', many);
    expect(text).toContain('and 9990 more');
    expect(text.split('\n').length).toBeLessThan(60);
    expect(text).toMatch(/→ /);
  });
});

describe('a bundle that holds by itself, held to its artifacts', () => {
  it.each(['crosswalk-state-math-5', 'artifact-comparison'])(
    'fails where %s is not in the folder, and names it [RP-215]',
    async (ref) => {
      const result = await verify('bundle.json', improved.source.bytes, evidenceOf(improved, [ref]));
      expect(failed(result)).toEqual(['artifacts']);
      expect(result.text).toContain(`${ref} of `);
    },
  );

  it.each([
    'alignment-sources',
    'artifact-item_discrimination',
    'artifact-form_summary',
    'crosswalk-state-math-5',
  ])('fails where %s of a run is not in the folder [RP-215]', async (ref) => {
    const result = await verify('bundle.json', improved.run.bytes, evidenceOf(improved, [ref]));
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

  it.each<[string, string, (receipt: SourceReceipt) => unknown]>([
    [
      'the crosswalk gives another weight [RP-180]',
      'crosswalk',
      (receipt) => {
        // Consistent in itself: everything twice as heavy.
        for (const row of receipt.contributions)
          Object.assign(row, { weight: row.weight * 2, weightedContribution: row.weightedContribution * 2 });
        Object.assign(receipt, { numerator: 4, denominator: 7.6 });
      },
    ],
    [
      'the crosswalk has another assessment',
      'crosswalk',
      (receipt) => (receipt.sourceAssessment = 'Another assessment'),
    ],
    ['limitations are left out [RP-176]', 'crosswalk', (receipt) => (receipt.limitations = [])],
    [
      'an order of the comparison is left out',
      'thresholds',
      (receipt) => (receipt.decisions = receipt.decisions.filter(({ trigger }) => trigger !== 2)),
    ],
    [
      'an order of the comparison is made up',
      'thresholds',
      (receipt) =>
        receipt.decisions.push({
          ...at(receipt.decisions.filter(({ trigger }) => trigger === 2)),
          revisionOrderId: 'order_x',
        }),
    ],
    [
      'an order is about something else',
      'thresholds',
      (receipt) =>
        (at(receipt.decisions.filter(({ trigger }) => trigger === 2)).subjects.qtiFormId = 'form-2'),
    ],
    ['it is of another tenant', 'crosswalk', (receipt) => (receipt.tenantId = 'tenant-b')],
    [
      'it is of another version of the blueprint',
      'crosswalk',
      (receipt) => (receipt.contentTestSpecVersion = '13'),
    ],
  ])('fails where %s', async (_, check, change) => {
    const result = await verify('bundle.json', source(change), evidenceOf(improved));
    expect(failed(result)).toContain(check);
  });

  it.each<[string, string, (receipt: RunReceipt) => unknown]>([
    [
      'a source is left out [RP-150]',
      'source list',
      (receipt) => {
        receipt.sources = [];
        receipt.orders = receipt.orders.filter(({ evidence }) => evidence.startsWith('metric:'));
      },
    ],
    [
      'an order of a metric is left out',
      'thresholds',
      (receipt) => {
        metricOf(receipt, 'item_discrimination').decisions = [];
        receipt.orders = receipt.orders.filter(({ evidence }) => !evidence.startsWith('metric:'));
      },
    ],
    [
      'what was withheld is left out',
      'thresholds',
      (receipt) => (metricOf(receipt, 'item_discrimination').withheld = []),
    ],
    [
      'a withheld decision is made up',
      'thresholds',
      (receipt) => (at(metricOf(receipt, 'item_discrimination').withheld).reason = 'unit_mismatch'),
    ],
    [
      'a metric is said to be judged in full [RP-152]',
      'thresholds',
      (receipt) => {
        Object.assign(metricOf(receipt, 'item_discrimination'), { judged: 'all', withheld: [] });
        receipt.omissions = ['distractor_distribution', 'form_summary'];
      },
    ],
    [
      'an order of a source is left out',
      'thresholds',
      (receipt) =>
        receipt.orders.splice(
          receipt.orders.findIndex(({ evidence }) => evidence.startsWith('source:')),
          1,
        ),
    ],
    [
      'an order of a source is made up',
      'thresholds',
      (receipt) =>
        receipt.orders.push({
          ...at(receipt.orders.filter(({ evidence }) => evidence.startsWith('source:'))),
          revisionOrderId: 'order_x',
        }),
    ],
    [
      'a suppressed metric passes for available [RP-159, RP-162]',
      'thresholds',
      (receipt) => {
        Object.assign(metricOf(receipt, 'form_summary'), {
          status: 'available',
          reasonCode: null,
          evaluatedAt: receipt.createdAt,
        });
        receipt.omissions = ['distractor_distribution'];
      },
    ],
    [
      'the comparison passes for omitted',
      'thresholds',
      (receipt) => {
        at(receipt.sources).comparisonOmitted = true;
        receipt.omissions.push('predicted_actual');
      },
    ],
    [
      'the artifact of a metric is that of another',
      'thresholds',
      (receipt) => {
        at(receipt.metrics).artifact = metricOf(receipt, 'form_summary').artifact;
      },
    ],
  ])('fails where of a run %s', async (_, check, change) => {
    const result = await verify('bundle.json', run(change), evidenceOf(improved));
    expect(failed(result)).toContain(check);
  });

  it('fails where the bundle of a source is another one', async () => {
    const other = improveRun({ crosswalk: { ...runArtifacts.crosswalk, version: '4' } });
    const claimed = run((receipt) => (at(receipt.sources).receipt.sha256 = other.source.sha256));
    const evidence = { ...evidenceOf(improved), [`${FOLDER}/other.json`]: other.source.bytes };
    expect(failed(await verify('bundle.json', claimed, evidence))).toEqual(['source bundles']);
  });

  it('does not take a file for an artifact that is not in its owner’s form', async () => {
    const bytes = Buffer.from('{"kind":"metric"}');
    const sha256 = sha256Hex(bytes);
    const renamed = source((receipt) => {
      receipt.crosswalk.sha256 = sha256;
    });
    const result = await verify('bundle.json', renamed, { ...evidenceOf(improved), [`${FOLDER}/x`]: bytes });
    expect(failed(result)).toContain('crosswalk');
    expect(result.text).toContain('does not match the schema of its owner');
  });
});
