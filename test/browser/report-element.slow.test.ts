import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AttemptReport } from '#client/index.ts';
import { advancedRun, startedRun, waitingRun } from '#shared/contract/mastery/examples.ts';
import {
  adaptiveDiagnostic,
  masteryGate,
  sandboxStandards,
  viewOf,
} from '#shared/contract/reports/sandbox-fixtures.ts';
import { openTab, useBrowser, type Tab } from '#test/support/browser.ts';
import { useTestStack } from '#test/support/stack.ts';
import { bundleHost } from '#tools/bundling/report-element.ts';

const ORIGIN = 'http://host.example';
/** The strictest policy under which a page can have scripts and styles at all: no request, nothing inline. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'";

const hosts = {
  bare: await bundleHost('test/browser/hosts/bare.js'),
  'react-19': await bundleHost('test/browser/hosts/react-19.js'),
  'react-18': await bundleHost('test/browser/hosts/react-18.js', { react: 'react-18' }),
  vue: await bundleHost('test/browser/hosts/vue.js'),
};
type Host = keyof typeof hosts;

const correlation = { requestId: 'request-of-the-sandbox', traceId: 'trace-of-the-sandbox' };
const gate = viewOf(masteryGate, 'evidence', correlation) as AttemptReport;
const diagnostic = viewOf(adaptiveDiagnostic, 'evidence', correlation) as AttemptReport;
const names: Record<string, string> = Object.fromEntries(
  Object.values(sandboxStandards).map(({ caseGuid, name }) => [caseGuid, name]),
);

/** What `show` of the bare host takes. */
type Shown = Readonly<Record<string, unknown>>;
const states = new Map<string, Shown>([
  ['nothing', {}],
  ['an attempt of the sandbox', { data: { kind: 'attempt', report: gate }, learner: 'Ben' }],
  ['a summary', { data: { kind: 'attempt', report: viewOf(masteryGate, 'summary', correlation) } }],
  ['a diagnosis', { data: { kind: 'attempt', report: diagnostic }, learner: 'Dana' }],
  ['a run that has begun', { data: { kind: 'run', run: startedRun } }],
  ['a run that waits', { data: { kind: 'run', run: waitingRun } }],
  [
    'a run with a score',
    { data: { kind: 'run', run: advancedRun }, scales: { 'mastery-mathematics': { low: 200, high: 800 } } },
  ],
  [
    'a run that is being saved',
    { data: { kind: 'run', run: { ...advancedRun, status: 'finalizing', stopReason: 'max_items' } } },
  ],
  [
    'a run that is over',
    { data: { kind: 'run', run: { ...advancedRun, status: 'completed', stopReason: 'time_budget' } } },
  ],
  [
    'a run of a later version',
    {
      data: {
        kind: 'run',
        run: { ...advancedRun, status: 'paused_by_owner', scale: null, scaleReportability: 'too_vague' },
      },
    },
  ],
  ...(['while it loads', 'with gaps', 'with failures'] as const).map((title, at): [string, Shown] => [
    `a class ${title}`,
    {
      data: {
        kind: 'class',
        learners: ['learner-1', 'learner-2', 'learner-3', 'learner-4'],
        reports: {
          'learner-1': gate,
          'learner-2': gate,
          'learner-3': at === 0 ? 'never' : diagnostic,
          'learner-4': at === 2 ? 'fails' : null,
        },
      },
      names: { ...names, 'learner-1': 'Ada', 'learner-2': 'Ben' },
    },
  ]),
  // One of each kind; a unit test reads the words of the others.
  ...(
    [
      [401, 'authentication-required'],
      [403, 'insufficient-scope'],
      [404, 'not-found'],
      [409, 'source-version-conflict'],
      [429, 'rate-limited'],
      [400, 'validation'],
      [500, 'internal-error'],
      [503, 'dependency-incomplete'],
      [503, 'dependency-unavailable'],
      [503, 'problem-of-a-later-version'],
    ] as const
  ).map(([status, code]): [string, Shown] => [
    `the failure ${code}`,
    {
      failure: {
        type: `https://docs.example/problems/${code}`,
        code,
        status,
        title: 'A title',
        detail: 'A detail',
      },
    },
  ]),
]);

const stack = useTestStack();
const browser = useBrowser();
beforeAll(async () => {
  const tenant = stack.seededTenants.get('tenant-aurora');
  const { attempts, candidates, classes, forms, students, schools } = tenant?.fixtures.reports ?? {};
  const client = stack.reportsClient('tenant-aurora', {
    studentIds: students,
    classSourcedIds: classes,
    schoolSourcedIds: schools?.map(({ schoolSourcedId }) => schoolSourcedId),
  });
  const seeded = Object.fromEntries(
    tenant?.platform.caseItems.map(({ identifier, fullStatement }) => [identifier, fullStatement]) ?? [],
  );
  const common = { names: seeded };
  for (const name of [
    'gatePass',
    'gateFail',
    'gateIndeterminate',
    'diagnostic',
    'formative',
    'large',
  ] as const) {
    const { data: report } = await client.readAttemptReport({
      attemptId: attempts?.[name] ?? '',
      view: 'evidence',
    });
    states.set(`the attempt ${name}`, { data: { kind: 'attempt', report }, ...common });
  }
  for (const [title, candidateSourcedId, limit] of [
    ['one report', candidates?.withHistory, 1],
    ['many reports', candidates?.withHistory, 25],
    ['no report', candidates?.empty, 10],
  ] as const) {
    const { data: page } = await client.listCandidateReports({
      candidateSourcedId: candidateSourcedId ?? '',
      limit,
    });
    const details = await Promise.all(
      page.data.map(
        async ({ attemptId }) => (await client.readAttemptReport({ attemptId, view: 'evidence' })).data,
      ),
    );
    states.set(`a history with ${title}`, { data: { kind: 'history', page, details }, ...common });
    states.set(`a history without days and with ${title}`, { data: { kind: 'history', page } });
    const scales = page.data.map((report, at) =>
      report.diagnostic === null
        ? report
        : { ...report, diagnostic: { ...report.diagnostic, scaleVersion: `scale-${at % 2}` } },
    );
    if (limit === 25)
      states.set('a history with several scales', {
        data: { kind: 'history', page: { ...page, data: scales }, details },
      });
  }
  for (const at of [0, 2]) {
    const { data: cohort } = await client.readClassCohort({ classSourcedId: classes?.[at] ?? '' });
    states.set(`a cohort: ${cohort.suppression.status}`, { data: { kind: 'cohort', cohort } });
  }
  for (const qtiTestId of Object.values(forms ?? {})) {
    const { data: equivalence } = await client.readEquivalence({ qtiTestId });
    states.set(`forms: ${equivalence.decision}`, { data: { kind: 'equivalence', equivalence } });
  }
});

/** Opens a page of a host, under the policy. */
async function openHost(
  host: Host,
  options: Parameters<typeof openTab>[2] & { readonly dir?: string } = {},
): Promise<Tab> {
  const tab = await openTab(browser, ORIGIN, options);
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    '/': [
      'text/html',
      '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Host</title><link rel="stylesheet" href="/page.css"><script type="module" src="/host.js"></script><main><h1>A page</h1></main>',
    ],
    '/page.css': [
      'text/css',
      'body { background: light-dark(#fff, #14171a); color: light-dark(#1c2024, #e6e9ec); margin: 0.5rem; }',
    ],
    '/host.js': ['text/javascript', hosts[host]],
  };
  await tab.page.route(`${ORIGIN}/**`, async (route) => {
    const [type, body] = files[new URL(route.request().url()).pathname] ?? ['text/plain', ''];
    await route.fulfill({
      body,
      headers: { 'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': policy },
    });
  });
  await tab.page.goto(`/?dir=${options.dir ?? 'ltr'}`);
  await tab.page.waitForFunction('globalThis.show !== undefined');
  return tab;
}

const show = async (page: Page, shown: Shown): Promise<void> => {
  await page.evaluate(`globalThis.show(${JSON.stringify(shown)})`);
  // The element renders after the turn, and a class after its reports.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 20))');
};

const element = "document.querySelector('mastery-report').shadowRoot";
const textOutsideOfAudit = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...${element}.querySelectorAll('h1, h2, h3, h4, p, li, th, td, button, text, [aria-label]')].filter((one) => one.closest('.audit') === null).map((one) => one.textContent + ' ' + (one.getAttribute('aria-label') ?? '')).join('\\n')`,
  );

/** Texts of an answer that are ids or values of enumerations for certain. */
function rawTexts(value: unknown): readonly string[] {
  if (typeof value === 'string')
    return /[A-Za-z][_-]\w|\w{8}-\w{4}-/.test(value) &&
      !value.includes(' ') &&
      Number.isNaN(Date.parse(value))
      ? [value]
      : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(rawTexts) : [];
}

describe('the element in a browser', () => {
  it('is at most 60 KB compressed', () => {
    expect(gzipSync(hosts.bare).byteLength).toBeLessThan(60_000);
  });

  it.each([
    ['wide', 1440, 'light', 'ltr', 'screen'],
    ['wide', 1440, 'dark', 'rtl', 'screen'],
    ['phone', 320, 'light', 'rtl', 'screen'],
    ['phone', 320, 'dark', 'ltr', 'screen'],
    ['wide', 800, 'dark', 'ltr', 'print'],
  ] as const)(
    'shows every state accessibly, without an id: %s, %i pixels, %s, %s, %s',
    async (view, width, colorScheme, dir, media) => {
      const { page, defects, accessibility } = await openHost('bare', { view, colorScheme, dir });
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ media });
      const found: string[] = [];
      for (const [title, shown] of states) {
        // On paper it has 5,000 rows in each part, and axe would take minutes; a test below prints many rows.
        if (media === 'print' && title === 'the attempt large') continue;
        await show(page, shown);
        if (media === 'print') await page.evaluate("dispatchEvent(new Event('beforeprint'))");
        found.push(...(await accessibility()).map((violation) => `${title}: ${violation}`));
        const scrollWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
        if (scrollWidth > width) found.push(`${title}: ${scrollWidth} pixels wide`);
        const text = await textOutsideOfAudit(page);
        if (text.trim() === '') found.push(`${title}: shows nothing`);
        found.push(
          ...[...new Set(rawTexts(shown))]
            .filter((raw) => text.includes(raw))
            .map((raw) => `${title}: ${raw}`),
        );
      }
      expect(found).toEqual([]);
      expect(defects).toEqual([]);
    },
  );

  it.each(['bare', 'react-18', 'react-19', 'vue'] as const)(
    'is embedded under a policy without inline styles, and sends, stores and logs nothing: %s',
    async (host) => {
      const { page, defects } = await openHost(host);
      const heard: string[] = [];
      page.on('request', (request) => heard.push(request.url()));
      page.on('console', (message) => heard.push(message.text()));
      await show(page, { data: { kind: 'attempt', report: gate }, names, learner: 'Ben Zimt' });
      await page.getByRole('heading', { name: 'Ben Zimt has not passed yet: 1 gap.' }).waitFor();
      await page.getByText('Add fractions with unlike denominators').first().waitFor();
      await page.getByText('For auditors').click();
      await page.getByRole('heading', { name: 'sources' }).waitFor();
      expect(await page.evaluate(`getComputedStyle(${element}.querySelector('.panel')).borderRadius`)).toBe(
        '8px',
      );
      expect(
        await page.evaluate(
          'JSON.stringify([localStorage.length, sessionStorage.length, document.cookie, location.href])',
        ),
      ).toBe(`[0,0,"","${ORIGIN}/?dir=ltr"]`);
      expect(await page.evaluate('indexedDB.databases().then(({ length }) => length)')).toBe(0);
      expect(heard).toEqual([]);
      expect(defects).toEqual([]);
    },
  );

  it('keeps what is open, and the focus, when something arrives', async () => {
    const { page } = await openHost('bare');
    await show(page, states.get('a class with failures') ?? {});
    await page.getByRole('button', { name: 'Try the missing ones again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'not loaded' }).first().waitFor();
    const focused = `${element}.activeElement?.textContent`;
    expect(await page.evaluate(focused)).toBe('Try the missing ones again');
    await page.getByText('For auditors').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'reports' }).waitFor();
    expect(await page.evaluate(focused)).toBe('For auditors');
    await page.evaluate("document.querySelector('mastery-report').names = { 'learner-1': 'Zoe' }");
    await page.getByRole('rowheader', { name: 'Zoe' }).waitFor();
    expect(await page.evaluate(focused)).toBe('For auditors');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'reports' }).waitFor({ state: 'detached' });
  });

  it('draws a large report at once, and all of its rows on request', async () => {
    const { page } = await openHost('bare');
    await show(page, states.get('the attempt large') ?? {});
    const bars = page.locator('.bars > li');
    expect(await bars.count()).toBe(100);
    await page.locator('.sure').getByRole('button', { name: 'Show all 5,000 rows' }).click();
    await bars.nth(4999).waitFor();
  });

  it('saves what a class shows as a file', async () => {
    const { page } = await openHost('bare');
    await show(page, states.get('a class with gaps') ?? {});
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('class.csv');
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString('utf8')).toMatch(
      /^\uFEFFLearner,Add fractions.*\r\nAda,gap,.*\r\nBen,gap,/,
    );
  });

  it('loads by the function of the page, says that it does, shows a failure in words, and tries again', async () => {
    const { page } = await openHost('bare');
    await page.evaluate(`(() => {
      let calls = 0;
      const report = ${JSON.stringify(gate)};
      globalThis.ended = 0;
      document.querySelector('mastery-report').load = (signal) => {
        signal.addEventListener('abort', () => (globalThis.ended += 1));
        calls += 1;
        if (calls === 1) throw new TypeError('no network');
        return new Promise((resolve) => (globalThis.finish = () => resolve({ kind: 'attempt', report })));
      };
    })()`);
    await page.getByRole('alert').getByRole('heading', { name: 'No answer arrived' }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('status').getByText('Loading …').waitFor();
    await page.evaluate('globalThis.finish()');
    await page.getByRole('heading', { name: 'This learner has not passed yet' }).waitFor();
    await page.evaluate("document.querySelector('mastery-report').reload()");
    await page.getByRole('status').waitFor();
    const ended = await page.evaluate<number>('globalThis.ended');
    await page.evaluate("document.querySelector('mastery-report').remove()");
    expect(await page.evaluate<number>('globalThis.ended')).toBe(ended + 1);
  });

  it('speaks German in a German page, and lets the page replace the sentence about the data', async () => {
    const { page } = await openHost('bare');
    await page.evaluate("document.documentElement.lang = 'de-AT'");
    await show(page, { data: { kind: 'attempt', report: gate }, names, learner: 'Ben' });
    await page.getByRole('heading', { name: 'Ben hat noch nicht bestanden: 1 Lücke.' }).waitFor();
    await page.evaluate(
      `document.querySelector('mastery-report').innerHTML = '<span slot="data-note">Unsere Regeln</span>'`,
    );
    expect(await page.getByText('Unsere Regeln').isVisible()).toBe(true);
    expect(await page.getByText('Der Berichtsdienst behält keine Kopie').isVisible()).toBe(false);
  });

  it('opens everything on paper', async () => {
    const { page } = await openHost('bare');
    const [row] = gate.mastery;
    const mastery = Array.from({ length: 120 }, (_, at) => ({ ...row, caseGuid: `guid-${at}` }));
    await show(page, { data: { kind: 'attempt', report: { ...gate, mastery } } });
    await page.evaluate(
      `addEventListener('beforeprint', () => (globalThis.printed = [${element}.querySelector('details').open, ${element}.querySelectorAll('.bars > li').length]))`,
    );
    await page.pdf();
    expect(await page.evaluate('globalThis.printed')).toEqual([true, 120]);
  });

  it('keeps the zones of an axis, the margin and the figure apart in forced colours', async () => {
    const { page } = await openHost('bare');
    await page.emulateMedia({ forcedColors: 'active' });
    await show(page, { data: { kind: 'run', run: advancedRun } });
    const looks = await page.evaluate<string[]>(
      `['.zone.good', '.zone.open', '.zone.bad', '.value'].map((part) => getComputedStyle(${element}.querySelector('.axis ' + part))).map(({ fill, fillOpacity, stroke, strokeWidth }) => [fill, fillOpacity, stroke, strokeWidth].join())`,
    );
    expect(new Set(looks).size).toBe(4);
  });
});
