import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useSurface } from './context.ts';
import { exchanges, type Exchange } from './exchanges.ts';
import { Choice, Failure } from './parts.tsx';
import { clientCode, curlCommand } from './snippets.ts';
import { faults, type Config, type Fault } from './session.ts';
import { useLoad, useStore } from './store.ts';

/** The HTTP exchanges behind a view, and faults to try of the owners that it reads. */
export function Developer({ owners }: { readonly owners: readonly string[] }): JSX.Element {
  const { config } = useSurface();
  const all = useStore(exchanges);
  const count = all[0]?.number ?? 0;
  return (
    <aside class="developer" aria-labelledby="developer-heading">
      <h2 id="developer-heading">For developers</h2>
      <details>
        <summary>
          HTTP behind this view: {count} {count === 1 ? 'request' : 'requests'}
          {count > all.length ? `, the last ${all.length} of them here` : ''}
        </summary>
        {all.map((exchange) => (
          <ExchangeView key={exchange.number} exchange={exchange} />
        ))}
      </details>
      {config.faults === undefined ? null : (
        <details>
          <summary>Faults of the platform</summary>
          <Faults
            {...config.faults}
            operations={config.faults.operations.filter((id) => owners.includes(id.split('.', 1)[0] ?? ''))}
          />
        </details>
      )}
    </aside>
  );
}

function ExchangeView({ exchange }: { readonly exchange: Exchange }): JSX.Element {
  const { pathname, search } = new URL(exchange.url);
  return (
    <details class="exchange">
      <summary>
        <code>
          {exchange.method} {pathname}
          {search}
        </code>{' '}
        <span class="quiet">
          {exchange.status === undefined
            ? 'under way'
            : exchange.status === 0
              ? 'no answer'
              : exchange.status}
          , {exchange.milliseconds.toFixed(0)} ms
        </span>
      </summary>
      <p class="actions">
        <Copy text={() => curlCommand(exchange)}>Copy as curl</Copy>{' '}
        <Copy text={() => clientCode(exchange)}>Copy as client code</Copy>
      </p>
      <Message title="Request" headers={exchange.requestHeaders} body={exchange.requestBody ?? ''} />
      <Message title="Response" headers={exchange.responseHeaders} body={exchange.responseBody} />
    </details>
  );
}

interface MessageProps {
  readonly title: string;
  readonly headers: Exchange['requestHeaders'];
  readonly body: string;
}

function Message({ title, headers, body }: MessageProps): JSX.Element {
  const shown = headers.map(([name, value]) => `${name}: ${name === 'authorization' ? 'Bearer …' : value}`);
  return (
    <pre tabIndex={0} aria-label={title}>
      {[...shown, ...(body === '' ? [] : ['', pretty(body)])].join('\n')}
    </pre>
  );
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function Copy({ text, children }: { readonly text: () => string; readonly children: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    setDone(true);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()} onBlur={() => setDone(false)}>
        {children}
      </button>{' '}
      <span role="status">{done ? '✓ copied' : ''}</span>
    </>
  );
}

/** More than the services and this page together try by themselves. */
const FAULTY_CALLS = 10;

/** Makes the platform emulator fail, so that one can see what the services make of it. */
function Faults({ operations, kinds, invariants }: NonNullable<Config['faults']>): JSX.Element {
  const [operation, setOperation] = useState(operations[0] ?? '');
  const [kind, setKind] = useState('down');
  const [member, setMember] = useState('/');
  const [invariant, setInvariant] = useState('');
  const breakable = invariants[operation] ?? [];
  const broken = breakable.includes(invariant) ? invariant : breakable[0];
  const needsMember = kind === 'duplicate_row' || kind === 'out_of_range';
  const [changes, setChanges] = useState(0);
  const [failure, setFailure] = useState<unknown>();
  const listed = useLoad(() => faults.list(), [changes]);
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    setFailure(undefined);
    try {
      await action();
    } catch (error) {
      setFailure(error);
    }
    setChanges((count) => count + 1);
  };
  const armed: readonly Fault[] = listed.state === 'done' ? listed.value.faults : [];
  return (
    <>
      <p>Arm a fault, repeat what you did, and see what the API returns.</p>
      <p class="picker">
        <Choice
          label="Operation"
          value={operation}
          options={operations.map((id) => [id, id])}
          onChange={setOperation}
        />
        <Choice
          label="Fault"
          value={kind}
          options={kinds.map((name) => [name, name.replaceAll('_', ' ')])}
          onChange={setKind}
        />
        {kind === 'contradiction' && breakable.length > 0 ? (
          <Choice
            label="Invariant"
            value={broken ?? ''}
            options={breakable.map((id) => [id, id])}
            onChange={setInvariant}
          />
        ) : null}
        {needsMember ? (
          <label>
            Member, by its JSON Pointer{' '}
            <input value={member} onInput={({ currentTarget }) => setMember(currentTarget.value)} />
          </label>
        ) : null}
        <button
          type="button"
          onClick={() =>
            void act(() =>
              faults.arm({
                operation,
                kind,
                times: FAULTY_CALLS,
                ...(needsMember ? { member } : {}),
                ...(kind === 'contradiction' ? { invariant: broken } : {}),
              }),
            )
          }
        >
          Arm for {FAULTY_CALLS} calls
        </button>
        <button type="button" onClick={() => void act(faults.clear)}>
          Clear all
        </button>
      </p>
      {failure === undefined ? null : <Failure error={failure} />}
      <ul aria-label="Armed faults">
        {armed.map((fault, at) => (
          <li key={at}>
            {fault.operation}: {fault.kind.replaceAll('_', ' ')}, {fault.times} more{' '}
            {fault.times === 1 ? 'call' : 'calls'}
          </li>
        ))}
      </ul>
    </>
  );
}
