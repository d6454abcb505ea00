import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AdaptiveRun } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Choice, Facts, Failure, Probability, ScoreBand, State, Table } from '../parts.tsx';
import { choose, hrefOf, usePlace } from '../router.ts';
import { stopCauseOf, type Bank, type Tenant } from '../session.ts';
import { useLoad, useStore } from '../store.ts';
import { endOf, figure, isSettled, ruleOf, wordsFor } from '../words.ts';
import { Course } from './course.tsx';
import { forget, isKept, takeTest, type Session, type Step } from './take.ts';

/** A person takes an adaptive test. */
export function Test(): JSX.Element {
  const { tenant, mastery } = useSurface();
  const place = usePlace();
  const bank = tenant?.banks.find(({ name }) => name === place.parameters['bank']) ?? tenant?.banks[0];
  const [session, setSession] = useState<Session>();
  const start = (): void => {
    if (tenant === undefined || bank === undefined) return;
    const { tenantId, resultsStudentId } = tenant;
    setSession(takeTest({ tenantId, bank, mastery: mastery(), resultsStudentId, storage: sessionStorage }));
  };
  useEffect(() => {
    setSession(undefined);
    if (tenant !== undefined && bank !== undefined && isKept(sessionStorage, tenant.tenantId, bank.name))
      start();
  }, [bank?.name]);
  useEffect(() => () => session?.leave(), [session]);
  if (tenant === undefined || bank === undefined) return <p>This stack has no item bank.</p>;
  return (
    <>
      {session === undefined ? (
        <Opening tenant={tenant} bank={bank} onStart={start} />
      ) : (
        <Taken
          tenant={tenant}
          session={session}
          onAgain={() => {
            forget(sessionStorage, tenant.tenantId, bank.name);
            setSession(undefined);
          }}
        />
      )}
    </>
  );
}

interface OpeningProps {
  readonly tenant: Tenant;
  readonly bank: Bank;
  readonly onStart: () => void;
}

function Opening({ tenant, bank, onStart }: OpeningProps): JSX.Element {
  return (
    <section>
      <p class="lead">
        The engine chooses each next item by what it still has to find out. The test stops {endOf(bank.rule)}.
      </p>
      {tenant.banks.length > 1 ? (
        <Choice
          label="Test"
          value={bank.name}
          options={tenant.banks.map(({ name, title }) => [name, title])}
          onChange={(name) => choose({ bank: name })}
        />
      ) : null}
      <Facts
        of={{
          'knowledge components': bank.kcs.length,
          'items in the bank': bank.items.length,
          'items at most': bank.rule.maxItems,
          'by the probability of mastery': ruleOf(bank.rule),
        }}
      />
      <button type="button" class="primary" onClick={onStart}>
        Start the test
      </button>
    </section>
  );
}

interface TakenProps {
  readonly tenant: Tenant;
  readonly session: Session;
  readonly onAgain: () => void;
}

function Taken({ tenant, session, onAgain }: TakenProps): JSX.Element {
  const { bank, steps, waiting, refusal, failure } = useStore(session.taking);
  const last = steps.at(-1);
  const item = bank.items.find(({ artifactVersionId }) => artifactVersionId === waiting?.artifactVersionId);
  return (
    <div class="test">
      <p class="feedback" role="status">
        {last === undefined ? 'Starting the test' : spoken(bank, last, steps.length)}
      </p>
      {failure === undefined ? null : (
        <Failure error={failure} onRetry={session.resume}>
          <button type="button" onClick={onAgain}>
            Start over
          </button>
        </Failure>
      )}
      {last?.run.status === 'completed' ? (
        <Finished tenant={tenant} bank={bank} steps={steps} run={last.run} onAgain={onAgain} />
      ) : item === undefined || waiting === undefined ? (
        failure === undefined ? (
          <p class="item quiet" role="status">
            Waiting for the next item …
          </p>
        ) : null
      ) : (
        <Answer
          key={waiting.deliverySessionId}
          number={waiting.sequence}
          stem={item.stem}
          hasKey={item.hasKey}
          bits={last?.bits}
          refusal={refusal}
          onAnswer={session.answer}
        />
      )}
      {last === undefined ? null : <Diagnosis bank={bank} steps={steps} run={last.run} />}
      {last === undefined ? null : <ForAuditors run={last.run} />}
    </div>
  );
}

/** Returns what a person reads, or hears from a screen reader, after each answer. */
function spoken(bank: Bank, { run, answered }: Step, count: number): string {
  const settled = run.kcClassifications.filter(isSettled).length;
  return [
    ...(answered === undefined ? [] : [answered.correct ? '✓ Correct.' : '✗ Not correct.']),
    `${settled} of ${bank.kcs.length} knowledge components are settled after ${count - 1} ${count === 2 ? 'answer' : 'answers'}.`,
    run.status === 'completed' ? `The test is over: ${stopWords(run)}.` : '',
  ].join(' ');
}

interface AnswerProps {
  readonly number: number;
  readonly stem: string;
  readonly hasKey: boolean;
  readonly bits: number | undefined;
  readonly refusal: string | undefined;
  readonly onAnswer: (response: string | boolean) => void;
}

function Answer({ number, stem, hasKey, bits, refusal, onAnswer }: AnswerProps): JSX.Element {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => (field.current ?? first.current)?.focus(), [refusal]);
  /** The second click of a double click may hit the next item, which the person has not read yet. */
  const decide = ({ detail }: MouseEvent, correct: boolean): void => {
    if (detail < 2) onAnswer(correct);
  };
  return (
    <section class="item" aria-labelledby="item-heading">
      <h2 id="item-heading">Item {number}</h2>
      <p class="stem" id="stem">
        {hasKey ? stem.replaceAll(' - ', ' − ') : stem}
      </p>
      {hasKey ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '') onAnswer(text);
          }}
        >
          <label for="response">Your answer</label>
          <span class="actions">
            <input
              id="response"
              ref={field}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
              aria-describedby="stem response-refusal response-help"
              aria-invalid={refusal !== undefined}
              autocomplete="off"
              maxLength={40}
            />
            <button type="submit" class="primary">
              Answer
            </button>
          </span>
          <p id="response-refusal" class="refusal" role="alert">
            {refusal}
          </p>
          <p id="response-help" class="quiet">
            A whole number, a fraction, a mixed number or a decimal, as in 2, 3/8, 1&nbsp;2/3 or 0.5. An
            answer that cannot be read is not scored.
          </p>
        </form>
      ) : (
        <p>
          This item of the generated bank has no text of its own. Decide how the learner answers:{' '}
          <button type="button" ref={first} onClick={(event) => decide(event, true)}>
            Correct
          </button>{' '}
          <button type="button" onClick={(event) => decide(event, false)}>
            Not correct
          </button>
        </p>
      )}
      {bits === undefined ? null : (
        <p class="quiet">
          Expected information of this item: {figure(bits)} bits about ability and knowledge components.
        </p>
      )}
    </section>
  );
}

interface DiagnosisProps {
  readonly bank: Bank;
  readonly steps: readonly Step[];
  readonly run: AdaptiveRun;
}

function Diagnosis({ bank, steps, run }: DiagnosisProps): JSX.Element {
  const answered = steps.flatMap((step) => step.answered ?? []);
  const settled = run.kcClassifications.filter(isSettled).length;
  const byGuid = new Map(run.kcClassifications.map((row) => [row.caseCompetencyGuid, row]));
  const rows = bank.kcs.flatMap(({ guid, label }) => {
    const row = byGuid.get(guid);
    return row === undefined ? [] : [{ guid, label, ...row }];
  });
  return (
    <>
      <section aria-labelledby="diagnosis-heading">
        <h2 id="diagnosis-heading">Diagnosis</h2>
        <Table
          label="Knowledge components"
          kind="diagnosis"
          columns={{
            'Knowledge component': 'heading',
            'Probability of mastery': 'text',
            State: 'text',
            Items: 'number',
          }}
          rows={rows.map((row) => [
            row.label,
            <Probability value={row.posteriorProbability} label={row.label} rule={bank.rule} />,
            <State of={row.classification} />,
            row.evidenceItemRefs.length,
          ])}
        />
        <p class="quiet">
          The mark shows the probability. Shaded: {ruleOf(bank.rule)}. A component is settled only once an
          item has measured it.
        </p>
        <Scale steps={steps} run={run} />
        <Facts
          of={{
            settled: `${settled} of ${bank.kcs.length} knowledge components`,
            items: `${answered.length} of at most ${bank.rule.maxItems}`,
            'remaining uncertainty': `${figure(run.remainingUncertainty)} bits per knowledge component`,
            'the test stops': run.status === 'completed' ? undefined : endOf(bank.rule),
          }}
        />
      </section>
      {steps.length < 2 ? null : <Course bank={bank} steps={steps} />}
    </>
  );
}

function ForAuditors({ run }: { readonly run: AdaptiveRun }): JSX.Element {
  const { selectionPolicyId, scaleCalibrationId, receiptId, resultRecordRef, scale, executionPins } = run;
  const ids = {
    receipt: receiptId,
    'result record': resultRecordRef,
    policy: selectionPolicyId,
    calibration: scaleCalibrationId,
    scale: scale?.scaleId,
    blueprint: executionPins.testSpecId,
    'item pool': executionPins.qtiPoolArtifactVersionId,
  };
  return (
    <details class="auditors">
      <summary>For auditors</summary>
      <Facts
        of={Object.fromEntries(
          Object.entries(ids).map(([term, id]) => [term, id === undefined ? undefined : <code>{id}</code>]),
        )}
      />
    </details>
  );
}

interface ScaleProps {
  readonly steps: readonly Step[];
  readonly run: AdaptiveRun;
}

function Scale({ steps, run: { scale, scaleReportability } }: ScaleProps): JSX.Element {
  if (scale === null) {
    return (
      <p class="quiet">
        {scaleReportability === 'anchor_unavailable'
          ? 'No scale score: the anchor of the scale is not available.'
          : 'No scale score yet: there is too little evidence for one.'}
      </p>
    );
  }
  const { scaleScore, standardError } = scale;
  // One axis for all states so far: otherwise it would move with the score.
  const known = steps.flatMap((step) => step.run.scale ?? []).concat(scale);
  const ends = known.flatMap((state) =>
    [-4, 4].map((errors) => state.scaleScore + errors * state.standardError),
  );
  return (
    <>
      <h3>
        Scale score {scaleScore.toFixed(1)} <small>± {standardError.toFixed(1)} (one standard error)</small>
      </h3>
      <ScoreBand score={scaleScore} error={standardError} low={Math.min(...ends)} high={Math.max(...ends)} />
      <ul class="quiet">
        {scale.limitations.map((limitation) => (
          <li key={limitation}>{limitation}</li>
        ))}
      </ul>
    </>
  );
}

const stopWords = ({ stopReason }: AdaptiveRun): string =>
  stopReason === null ? '' : wordsFor('stopReasons', stopReason);

interface FinishedProps {
  readonly tenant: Tenant;
  readonly bank: Bank;
  readonly steps: readonly Step[];
  readonly run: AdaptiveRun;
  readonly onAgain: () => void;
}

function Finished({ tenant, bank, steps, run, onAgain }: FinishedProps): JSX.Element {
  const { config, reports } = useSurface();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const answered = steps.flatMap((step) => step.answered ?? []);
  const cause = useLoad(
    async () =>
      run.stopReason === 'max_items' && run.resultRecordRef !== undefined
        ? stopCauseOf(tenant.tenantId, run.resultRecordRef)
        : undefined,
    [run.resultRecordRef],
  );
  const found = useLoad(
    async (signal) => {
      if (!config.operationIds.includes('listCandidateReports') || run.resultRecordRef === undefined)
        return undefined;
      const client = reports('reports:read', { studentIds: [tenant.resultsStudentId] });
      const rows = client.iterateCandidateReports(
        { candidateSourcedId: tenant.resultsStudentId, testKind: 'adaptive_diagnostic' },
        { signal },
      );
      for await (const report of rows)
        if (report.resultRecordId === run.resultRecordRef) return report.attemptId;
      return undefined;
    },
    [run.resultRecordRef],
  );
  return (
    <section class="item">
      <h2 tabIndex={-1} ref={heading}>
        The test is over: {stopWords(run)}
      </h2>
      <p>
        {answered.length} answers, {answered.filter(({ correct }) => correct).length} of them correct, out of
        a bank of {bank.items.length} items.
        {cause.state === 'done' && cause.value !== undefined
          ? ` The test went no further: ${wordsFor('stopCauses', cause.value)}.`
          : ''}
      </p>
      <p class="actions">
        {found.state === 'done' && found.value !== undefined ? (
          <a class="primary" href={hrefOf('report', { tenant: tenant.tenantId, id: found.value })}>
            Read the report of this attempt
          </a>
        ) : found.state === 'loading' ? (
          <span class="quiet">Looking for the report …</span>
        ) : (
          <span class="quiet">The report of this attempt is not available.</span>
        )}{' '}
        <button type="button" onClick={onAgain}>
          Take it again
        </button>
      </p>
      {found.state === 'failed' ? <Failure error={found.error} onRetry={found.retry} /> : null}
    </section>
  );
}
