import { describe, expect, it } from 'vitest';
import type { EvidenceRecord, PinnedSource, RunProgress } from '#shared/improvement/records.ts';
import { recordedRun } from '#test/support/improvement-facts.ts';
import { anExampleOf } from '#test/support/report-facts.ts';
import { omissionsOf } from './omissions.ts';

const crosswalk = { ref: 'crosswalk', sha256: '5f'.repeat(32) };
const [available, unavailable] = (['available', 'unavailable'] as const).map((status) => ({
  status,
  reasonCode: null,
  artifact: null,
}));

function omitted(
  change: Partial<RunProgress['run']['pins']>,
  evidence: readonly EvidenceRecord[] = [],
): readonly string[] {
  const { run } = anExampleOf(recordedRun).progress;
  return omissionsOf({
    run: { ...run, pins: { ...run.pins, metrics: [], sources: [], ...change } },
    evidence,
  });
}

function source(comparison: PinnedSource['comparison']): PinnedSource {
  return { sourceKey: 'state-math', crosswalk, comparison };
}

describe('what a run goes without', () => {
  it('is every metric that is not available, in whatever way [RP-152, RP-166]', () => {
    const metrics = [
      { ...available!, metric: 'item_difficulty' as const },
      { ...unavailable!, metric: 'item_discrimination' as const },
      { ...unavailable!, metric: 'distractor_distribution' as const, status: 'stale' as const },
      { ...unavailable!, metric: 'form_summary' as const, status: 'unknown' as const },
    ];
    expect(omitted({ metrics })).toEqual(['item_discrimination', 'distractor_distribution', 'form_summary']);
    expect(omitted({ metrics: metrics.slice(0, 1) })).toEqual([]);
  });

  it('is a metric of which rows had to be left out [RP-152]', () => {
    const metrics = [
      { ...available!, metric: 'item_difficulty' as const, judged: 'all' as const },
      { ...available!, metric: 'form_summary' as const, judged: 'some' as const },
    ];
    expect(omitted({ metrics })).toEqual(['form_summary']);
  });

  it('is the comparison that is due and missing, or cannot be shown [RP-152, RP-221]', () => {
    const record = { key: 'source:state-math', evaluatedAt: 0 } as const;
    expect(omitted({ sources: [source(null), source('missing')] })).toEqual(['predicted_actual']);
    expect(omitted({ sources: [source(crosswalk)] }, [{ ...record, comparisonOmitted: true }])).toEqual([
      'predicted_actual',
    ]);
    expect(omitted({ sources: [source(crosswalk)] }, [{ ...record, comparisonOmitted: false }])).toEqual([]);
    expect(omitted({ sources: [source(null)] }, [record])).toEqual([]);
  });
});
