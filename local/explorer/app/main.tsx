import { render, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './explorer.css';
import { createSurface, SurfaceContext } from './context.ts';
import { Developer } from './developer.tsx';
import { Choice, Outcome, Waiting } from './parts.tsx';
import { pauses } from './pauses.ts';
import { hrefOf, usePlace } from './router.ts';
import { loadConfig, loadTenant, type Config } from './session.ts';
import { useLoad, useStore } from './store.ts';
import { Class } from './views/class.tsx';
import { Cohort } from './views/cohort.tsx';
import { Form } from './views/form.tsx';
import { History } from './views/history.tsx';
import { Improvement } from './views/improvement.tsx';
import { Report } from './views/report.tsx';
import { Test } from './views/test.tsx';
import { nameFrom, PlainError } from './words.ts';

interface View {
  readonly title: string;
  readonly about: string;
  /** Without any of these operations there is nothing to see. */
  readonly operationIds: readonly string[];
  /** Whose facts it shows or changes: what can fail under it. */
  readonly owners: readonly string[];
  /** Whether it needs the learners of a seed, which the sandbox has none of. */
  readonly isLocal?: boolean;
  readonly component: () => JSX.Element;
}

const views: Readonly<Record<string, View>> = {
  test: {
    title: 'Take the test',
    about: 'Answer the adaptive test yourself and watch the diagnosis settle.',
    operationIds: ['startAdaptiveRun'],
    owners: ['bank', 'caliper', 'case', 'content', 'extmap', 'qti', 'results'],
    component: Test,
  },
  report: {
    title: 'Attempt report',
    about: 'One scored attempt: what to teach next, how sure it is, and what an auditor asks for.',
    operationIds: ['readAttemptReport'],
    owners: ['caliper', 'case', 'content', 'oneroster', 'qti', 'results'],
    component: Report,
  },
  history: {
    title: 'Candidate history',
    about: 'All reports of one learner over time, and whether a score has changed.',
    operationIds: ['listCandidateReports'],
    owners: ['caliper', 'case', 'content', 'oneroster', 'qti', 'results'],
    component: History,
  },
  class: {
    title: 'Class',
    about: 'Who shares a gap, and what each learner of a class needs next.',
    operationIds: ['listCandidateReports'],
    owners: ['caliper', 'case', 'content', 'oneroster', 'qti', 'results'],
    isLocal: true,
    component: Class,
  },
  cohort: {
    title: 'Cohort',
    about: 'A class or a grade of a school, as Analytics has rolled it up. Small groups are suppressed.',
    operationIds: ['readClassCohort', 'readSchoolGradeCohort'],
    owners: ['analytics', 'oneroster'],
    component: Cohort,
  },
  form: {
    title: 'Form equivalence',
    about: 'Whether two forms of a test are equivalent.',
    operationIds: ['readEquivalence'],
    owners: ['analytics', 'content', 'qti'],
    component: Form,
  },
  improvement: {
    title: 'Improvement run',
    about: 'How well a blueprint covers external assessments, and what should be revised.',
    operationIds: ['analyzeAdministration'],
    owners: ['administration', 'analytics', 'bank', 'blueprint', 'content'],
    component: Improvement,
  },
};

function offered({ mode, operationIds }: Config): readonly (readonly [name: string, view: View])[] {
  return Object.entries(views).filter(
    ([, view]) =>
      view.operationIds.some((id) => operationIds.includes(id)) && !(view.isLocal && mode === 'sandbox'),
  );
}

function Explorer({ config }: { readonly config: Config }): JSX.Element {
  const place = usePlace();
  const tenantId = place.parameters['tenant'] ?? config.tenants[0];
  const surface = useLoad(async () => {
    if (tenantId === undefined) return createSurface(config, undefined);
    if (!config.tenants.includes(tenantId))
      throw new PlainError(
        `There is no such tenant here. Choose one of ${config.tenants.map(nameFrom).join(' and ')}`,
      );
    return createSurface(config, await loadTenant(tenantId));
  }, [config, tenantId]);
  const waits = useStore(pauses);
  const shown = offered(config);
  const view = shown.find(([name]) => name === place.view)?.[1];
  const main = useRef<HTMLElement>(null);
  const [isFirst, setFirst] = useState(true);
  useEffect(() => {
    document.title = `${view?.title ?? 'Explorer'} · mastery-reports`;
    // A screen reader begins with the new view; the first page is read from its top anyway.
    if (isFirst) setFirst(false);
    else main.current?.focus();
  }, [place.view]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <header>
        <a class="brand" href={hrefOf('', { tenant: tenantId })}>
          mastery-reports explorer
        </a>
        <nav aria-label="Views">
          <ul>
            {shown.map(([name, { title }]) => (
              <li key={name}>
                <a
                  href={hrefOf(name, { tenant: tenantId })}
                  {...(name === place.view ? { 'aria-current': 'page' as const } : {})}
                >
                  {title}
                </a>
              </li>
            ))}
            <li>
              <a href="../docs/">Documentation</a>
            </li>
          </ul>
        </nav>
        {config.mode === 'sandbox' ? (
          <p class="quiet">Sandbox: synthetic data</p>
        ) : (
          <Choice
            label="Tenant"
            value={tenantId ?? ''}
            options={config.tenants.map((tenant) => [tenant, nameFrom(tenant)])}
            onChange={(tenant) => {
              location.hash = hrefOf(place.view, { tenant });
            }}
          />
        )}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <h1>{view?.title ?? 'Explorer'}</h1>
        <Outcome of={surface}>
          {(value) => (
            <SurfaceContext.Provider value={value}>
              <Waiting pauses={waits} />
              {view === undefined ? (
                <Home views={shown} tenantId={tenantId} />
              ) : (
                <view.component key={tenantId} />
              )}
              {view === undefined ? null : <Developer owners={view.owners} />}
            </SurfaceContext.Provider>
          )}
        </Outcome>
      </main>
    </>
  );
}

interface HomeProps {
  readonly views: ReturnType<typeof offered>;
  readonly tenantId: string | undefined;
}

function Home({ views: shown, tenantId }: HomeProps): JSX.Element {
  return (
    <>
      <p class="lead">
        Everything that the services return, shown the way people want to see it. Each view lists the HTTP
        requests behind it, ready to copy.
      </p>
      <ul class="cards">
        {shown.map(([name, { title, about }]) => (
          <li key={name}>
            <a href={hrefOf(name, { tenant: tenantId })}>
              <strong>{title}</strong>
              <span>{about}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Page(): JSX.Element {
  const config = useLoad(loadConfig, []);
  if (config.state === 'done') return <Explorer config={config.value} />;
  return (
    <main>
      <h1>Explorer</h1>
      <Outcome of={config}>{() => null}</Outcome>
    </main>
  );
}

render(<Page />, document.body);
