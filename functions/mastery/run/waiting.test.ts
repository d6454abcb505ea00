import { expect, it } from 'vitest';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { exampleState } from '#test/support/example-run.ts';
import type { Pending } from './outcomes.ts';
import { waitOf } from './waiting.ts';

type Acknowledgements = AdaptiveRunState['acknowledgements'];
const recorded = { resultRecordId: 'record-1' };
const published: Acknowledgements = { ...recorded, componentsAcknowledged: true };
interface Given {
  readonly state: AdaptiveRunState;
  readonly pending?: Pending | undefined;
  readonly isAnchored?: boolean;
}
const running = (hasFailed?: boolean): Given => ({
  state: exampleState,
  pending: hasFailed === undefined ? undefined : { handedInMs: 0, sinceMs: 0, hasFailed },
});
const stopped = (acknowledgements: Acknowledgements, isAnchored = true): Given => ({
  state: { ...exampleState, stopReason: 'max_items', acknowledgements },
  isAnchored,
});

it.each<[string, Given, string?]>([
  ['its answer', running(false), 'qti.read_candidate_runtime, 2 s'],
  ['an answer whose processing has failed', running(true), 'qti.read_candidate_runtime, 60 s'],
  ['nothing while the learner has the item', running()],
  ['its anchor', stopped({}, false), 'extmap.verify_anchor, 60 s'],
  ['its record', stopped({}), 'results.write_result_record, 10 s'],
  ['its components', stopped(recorded), 'results.write_kc_components, 10 s'],
  ['its event', stopped(published), 'caliper.read_evidence_ack, 10 s'],
  ['nothing once it is complete', stopped({ ...published, caliperEventIri: 'urn:x' })],
])(
  'a run waits for %s [MA-030, MA-138, MA-169, MA-202]',
  (_, { state, pending, isAnchored = true }, expected) => {
    const logged: unknown[] = [];
    const scaleReportability = isAnchored ? 'reportable' : 'anchor_unavailable';
    const wait = waitOf((_code, fields) => logged.push(fields), state, { scaleReportability }, pending);
    const { operation, since } = wait?.waitingFor ?? {};
    expect(wait && `${operation}, ${wait.headers['Retry-After']} s`).toBe(expected);
    expect(logged).toEqual(wait === undefined ? [] : [{ upstreamOperation: operation }]);
    expect(since).toBe(pending && '1970-01-01T00:00:00.000Z');
  },
);
