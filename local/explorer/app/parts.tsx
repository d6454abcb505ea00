import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { ProblemError } from '#client/index.ts';
import type { Pause } from './pauses.ts';
import type { Loaded } from './store.ts';
import { failureOf, percent, PlainError, stateOf, zonesOf, type StateRule } from './words.ts';

/** A state as sign and word. */
export function State({ of }: { readonly of: string }): JSX.Element {
  const [sign, words, kind] = stateOf(of);
  return (
    <span class={`state ${kind}`}>
      <span aria-hidden="true">{sign}</span> {words}
    </span>
  );
}

interface BarProps {
  readonly label: string;
  readonly low: number;
  readonly high: number;
  readonly spans?: readonly {
    readonly from: number;
    readonly to: number;
    readonly kind: 'settled' | 'band';
  }[];
  readonly marks?: readonly { readonly at: number; readonly kind: 'value' | 'threshold' }[];
}

/** An axis with spans on it, and marks above them. What lies beyond its ends is drawn at the end. */
export function Bar({ label, low, high, spans = [], marks = [] }: BarProps): JSX.Element {
  const at = (value: number): number => Math.min(100, Math.max(0, (100 * (value - low)) / (high - low)));
  return (
    <svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="track" x="0" y="3" width="100" height="6" />
      {spans.map(({ from, to, kind }) => (
        <rect key={from} class={kind} x={at(from)} y="3" width={at(to) - at(from)} height="6" />
      ))}
      {marks.map((mark) => (
        <line key={mark.kind} class={mark.kind} x1={at(mark.at)} x2={at(mark.at)} y1="0" y2="12" />
      ))}
    </svg>
  );
}

interface ProbabilityProps {
  readonly value: number;
  readonly label: string;
  readonly rule: StateRule;
}

/** A probability on an axis from 0 to 1, with the parts of the axis on which it can count as settled. */
export function Probability({ value, label, rule }: ProbabilityProps): JSX.Element {
  const { gap: gapUpTo, mastered: masteredFrom } = zonesOf(rule);
  return (
    <span class="probability">
      <Bar
        label={`${label}: probability ${percent(value, rule)}`}
        low={0}
        high={1}
        spans={[
          { from: 0, to: gapUpTo, kind: 'settled' },
          { from: masteredFrom, to: 1, kind: 'settled' },
        ]}
        marks={[{ at: value, kind: 'value' }]}
      />
      <span class="figure">{percent(value, rule)}</span>
    </span>
  );
}

interface ScoreBandProps {
  readonly score: number;
  readonly error: number;
  readonly low: number;
  readonly high: number;
}

/** A score on its scale, with one standard error to both sides. */
export function ScoreBand({ score, error, low, high }: ScoreBandProps): JSX.Element {
  return (
    <div class="score-band">
      <Bar
        label={`scale score ${score.toFixed(1)}, standard error ${error.toFixed(1)}, on a scale from ${low.toFixed(0)} to ${high.toFixed(0)}`}
        low={low}
        high={high}
        spans={[{ from: score - error, to: score + error, kind: 'band' }]}
        marks={[{ at: score, kind: 'value' }]}
      />
      <div class="ends" aria-hidden="true">
        <span>{low.toFixed(0)}</span>
        <span>{high.toFixed(0)}</span>
      </div>
    </div>
  );
}

/** Facts as a list of terms; undefined values are left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }): JSX.Element {
  return (
    <dl class="facts">
      {Object.entries(of).map(([term, value]) =>
        value === undefined ? null : (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Other ways out. */
  readonly children?: ComponentChildren;
}

/** What went wrong in words, what to do, and for developers the problem itself. */
export function Failure({ error, onRetry, children }: FailureProps): JSX.Element {
  const isFinal = error instanceof ProblemError && !error.retryable;
  return (
    <div class="failure" role="alert">
      <h2>{failureOf(error)}</h2>
      <p>
        {isFinal
          ? 'The same request would fail again.'
          : onRetry === undefined
            ? null
            : 'Trying again may help.'}
      </p>
      <p class="actions">
        {onRetry === undefined ? null : (
          <button type="button" class="primary" onClick={onRetry}>
            Try again
          </button>
        )}
        {children}
      </p>
      {error instanceof PlainError ? null : (
        <details>
          <summary>For developers</summary>
          {error instanceof ProblemError ? <ProblemFacts error={error} /> : <p>{String(error)}</p>}
        </details>
      )}
    </div>
  );
}

function ProblemFacts({ error: { problem, remedy, code } }: { readonly error: ProblemError }): JSX.Element {
  return (
    <>
      <p>
        {problem.status} {problem.title}: {problem.detail}
      </p>
      <p>{remedy.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</p>
      <Facts
        of={{
          code: <a href={`../problems/${code}.html`}>{code}</a>,
          owner: problem.upstream?.service ?? problem.dependency ?? undefined,
          'can be repeated': problem.retryable ? 'yes' : 'no',
          request: <code>{problem.requestId}</code>,
        }}
      />
    </>
  );
}

/** The waits of the page, each with the seconds that are left and a way to end it. */
export function Waiting({ pauses }: { readonly pauses: readonly Pause[] }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (pauses.length === 0) return undefined;
    const update = (): void => setNow(Date.now());
    update();
    const timer = setInterval(update, 250);
    return () => clearInterval(timer);
  }, [pauses]);
  return (
    <div role="status">
      {pauses.map((pause) => (
        <p class="notice actions" key={pause.until}>
          <span>
            {pause.why}, trying again {/* A screen reader would read out every second. */}
            <span aria-hidden="true">in {Math.max(1, Math.ceil((pause.until - now) / 1000))} s</span>
          </span>
          <button type="button" onClick={pause.stop}>
            Stop
          </button>
        </p>
      ))}
    </div>
  );
}

interface OutcomeProps<Value> {
  readonly of: Loaded<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** What was loaded, or why there is none. */
export function Outcome<Value>({ of, children }: OutcomeProps<Value>): JSX.Element {
  switch (of.state) {
    case 'loading':
      return (
        <p class="quiet" role="status">
          Loading …
        </p>
      );
    case 'failed':
      return <Failure error={of.error} onRetry={of.retry} />;
    case 'done':
      return <>{children(of.value)}</>;
  }
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    </span>
  );
}

interface TableProps {
  readonly label: string;
  readonly kind?: 'wide' | 'diagnosis';
  /** The titles, each with the kind of its cells. */
  readonly columns: Readonly<Record<string, 'heading' | 'text' | 'number'>>;
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** A table that scrolls by itself, also by keyboard. */
export function Table({ label, kind, columns, rows }: TableProps): JSX.Element {
  const kinds = Object.values(columns);
  const classOf = (column: number) => (kinds[column] === 'number' ? 'number' : undefined);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={kind}>
        <thead>
          <tr>
            {Object.keys(columns).map((title, column) => (
              <th key={title} scope="col" class={classOf(column)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) =>
                kinds[column] === 'heading' ? (
                  <th key={column} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={column} class={classOf(column)}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One source of a report: who owns the facts, in which version, and how fresh it was. */
interface Source {
  readonly service: string;
  readonly resourceId: string;
  readonly version: string | null;
  readonly status: string;
  readonly observedAt: string;
}

export const instant = (text: string): JSX.Element => (
  <time dateTime={text}>{text.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')}</time>
);

export function Receipts({ sources }: { readonly sources: readonly Source[] }): JSX.Element {
  return (
    <Table
      label="Table of receipts"
      kind="wide"
      columns={{ Owner: 'text', Resource: 'text', Version: 'text', Freshness: 'text', 'Read at': 'text' }}
      rows={sources.map(({ service, resourceId, version, status, observedAt }) => [
        service,
        <code>{resourceId}</code>,
        version === null ? 'none given' : <code>{version}</code>,
        status,
        instant(observedAt),
      ])}
    />
  );
}
