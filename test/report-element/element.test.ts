import { Window } from 'happy-dom';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { masteryGate, viewOf } from '#shared/contract/reports/sandbox-fixtures.ts';
import type { AttemptReport } from '#client/index.ts';
import type { ReportData } from '#report-element/data.ts';

interface Element {
  load: (signal: AbortSignal) => Promise<ReportData>;
  data: ReportData;
  learner: string;
  reload: () => void;
  readonly shadowRoot: {
    readonly textContent: string;
    querySelectorAll: (query: string) => ArrayLike<object>;
  };
}

const window = new Window();
const gate: AttemptReport = viewOf(masteryGate, 'evidence', { requestId: 'r', traceId: 't' });
const attempt: ReportData = { kind: 'attempt', report: gate };
/** Everything that waits in this turn. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function onPage(): Element {
  const element = window.document.createElement('mastery-report');
  window.document.body.append(element);
  // SAFETY: the class of the element has these members.
  return element as unknown as Element;
}

const early: string[] = [];
beforeAll(async () => {
  for (const name of [
    'HTMLElement',
    'HTMLDetailsElement',
    'Node',
    'CSSStyleSheet',
    'customElements',
    'document',
  ])
    vi.stubGlobal(name, Reflect.get(window, name));
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window));
  onPage().load = () => {
    early.push('load');
    return Promise.resolve(attempt);
  };
  onPage().data = {
    kind: 'class',
    learners: ['a', 'b', 'a'],
    reportOf(learner) {
      early.push(learner);
      return Promise.resolve(gate);
    },
  };
  // The types of a browser are not those of the tests.
  const entry: string = '#report-element/index.ts';
  await import(entry);
  await turn();
});
beforeEach(() => window.document.body.replaceChildren());
afterAll(async () => {
  window.document.body.replaceChildren();
  vi.unstubAllGlobals();
  await window.happyDOM.close();
});

it('loads once what was set before the element was defined', () => {
  expect(early.toSorted()).toEqual(['a', 'b', 'load']);
});

it('shows the newest load, even if the answer to an earlier one is late', async () => {
  const element = onPage();
  const answers: ((data: ReportData) => void)[] = [];
  element.load = () => new Promise((resolve) => answers.push(resolve));
  await turn();
  element.reload();
  await turn();
  answers[1]?.({ kind: 'attempt', report: { ...gate, gate: { ...gate.gate!, status: 'pass' } } });
  await turn();
  answers[0]?.(attempt);
  await turn();
  expect(element.shadowRoot.textContent).toContain('This learner has passed');
  expect(element.shadowRoot.textContent).not.toContain('has not passed');
});

it('draws all rows of every list on paper, and afterwards what was open before', async () => {
  const element = onPage();
  const mastery = Array.from({ length: 120 }, (_, at) => ({ ...gate.mastery[0]!, caseGuid: `guid-${at}` }));
  element.data = { kind: 'attempt', report: { ...gate, mastery } };
  await turn();
  const counts = () =>
    ['.next li', '.sure li', '.audit tr'].map((query) => element.shadowRoot.querySelectorAll(query).length);
  const before = counts();
  expect(before).toEqual([12, 100, 0]);
  window.dispatchEvent(new window.Event('beforeprint'));
  const [next, sure, audit] = counts();
  expect([next, sure]).toEqual([121, 120]);
  expect(audit).toBeGreaterThan(120);
  window.dispatchEvent(new window.Event('afterprint'));
  await turn();
  expect(counts()).toEqual(before);
});
