import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sandboxIds, sandboxStandards } from '#shared/contract/reports/sandbox-fixtures.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { openTab, useBrowser, views } from '#test/support/browser.ts';
import { startSandbox } from '#test/support/sandbox.ts';
import { useTestStack } from '#test/support/stack.ts';
import { bundleExplorer } from '#tools/bundling/explorer.ts';
import { bundleExamplePage } from '#tools/bundling/report-element.ts';
import { pageHeaders } from '#tools/page/headers.ts';
import { contentTypeOf } from '#tools/site/files.ts';
import { renderSite } from '#tools/site/render.ts';

const tenants = ['tenant-aurora', 'tenant-borealis'] as const;

const stack = useTestStack({
  explorer: new Map([...(await bundleExplorer()), ...(await bundleExamplePage())]),
});
const browser = useBrowser();
let origin: string;
beforeAll(() => {
  ({ origin } = new URL(stack.urls.explorerUrl));
});

afterEach(() => stack.control('DELETE', 'faults'));

/** The value of `3 1/2` as a fraction. */
function fraction(text: string): readonly [numerator: number, denominator: number] {
  const [, whole = '0', numerator = '0', denominator = '1'] =
    /^(\d+)?(?:\s?\b(\d+)\/(\d+))?$/.exec(text.trim()) ?? [];
  return [Number(whole) * Number(denominator) + Number(numerator), Number(denominator)];
}

/** The correct response to the item that is shown, in its plainest form: a fraction that is not reduced. */
async function solution(page: Page): Promise<string> {
  const [[a, b], [c, d]] = ((await page.locator('#stem').textContent()) ?? '').split('−').map(fraction) as [
    [number, number],
    [number, number],
  ];
  return `${a * d - c * b}/${b * d}`;
}

/** What a person reads after each answer. */
const feedback = (page: Page): Locator => page.locator('.feedback:visible');
const itemHeading = (page: Page): Locator => page.locator('#item-heading');
const overHeading = (page: Page): Locator => page.getByRole('heading', { name: 'The test is over' });

/** Gives answers until the test is over, from the item of the number `first` on. */
async function answerItems(
  page: Page,
  give: (response: string) => Promise<void>,
  { first = 1, upTo = Infinity, isWrong = (number: number) => number < 1 } = {},
): Promise<number> {
  for (let number = first; number <= upTo; number += 1) {
    await itemHeading(page)
      .filter({ hasText: `Item ${number}` })
      .or(overHeading(page))
      .waitFor();
    if (await overHeading(page).isVisible()) return number - 1;
    await give(isWrong(number) ? '77' : await solution(page));
    await feedback(page)
      .filter({ hasText: `after ${number} ${number === 1 ? 'answer' : 'answers'}.` })
      .waitFor({ state: 'attached' });
    expect(await feedback(page).textContent()).toMatch(isWrong(number) ? /^✗ Not correct\./ : /^✓ Correct\./);
  }
  return upTo;
}

/** Presses Tab until the element with this text has the focus, and checks that the focus can be seen each time. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    if ((await page.locator(':focus').textContent()) === text) return;
  }
  throw new Error(`no Tab leads to ${text}`);
}

const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.id');

/** Opens a view afresh, as its address does. */
async function open(
  page: Page,
  view: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`/explorer/#/${view}?${new URLSearchParams(parameters).toString()}`);
  await page.locator('h1').waitFor();
}

/** Opens what is folded under a summary: by its key, since a click misses what moves while a view loads. */
const unfold = (within: Page | Locator, summary: string): Promise<void> =>
  within.locator('summary').filter({ hasText: summary }).press('Enter');

/** Arms a fault of the platform in the panel of a view. */
async function arm(page: Page, operation: string, kind: string, armed: string): Promise<void> {
  await unfold(page, 'Faults of the platform');
  await page.getByLabel('Operation').selectOption(operation);
  await page.getByLabel('Fault', { exact: true }).selectOption(kind);
  await page.getByRole('button', { name: 'Arm for' }).click();
  await page.getByLabel('Armed faults').getByText(armed).waitFor();
}

/** Ids and members of enumerations in what a person sees of a page without opening anything. */
async function idsOn(page: Page): Promise<readonly string[]> {
  // The text of the page ends at the element, whose own follows.
  const texts = [page.locator('body'), page.locator('mastery-report [part=report]')];
  const text = (await Promise.all(texts.map((part) => part.allInnerTexts()))).flat().join('\n');
  return text.match(/\S*[0-9a-f]{8,}\S*|\S*[a-z]_[a-z]\S*|\S*tenant-\S*/g) ?? [];
}

/** The views of a local stack, with what each shows once it has loaded. */
const shown: readonly (readonly [view: string, ready: string])[] = [
  ['test', 'Start the test'],
  ['report', 'What to teach next'],
  ['history', 'All tests'],
  ['class', '3 learners: Ben, Noa, Omar'],
  ['cohort', 'Figures'],
  ['form', 'Forms that were compared'],
  ['improvement', 'Analyze'],
];

/** Owners of a view that its first state does not need. */
const onlyLater: Readonly<Record<string, readonly string[]>> = {
  test: ['caliper', 'results'],
  report: ['caliper'],
};

describe('the explorer in a browser', () => {
  it('takes a whole test by mouse, goes on after a reload, and leads to the report of the attempt [MA-030]', async () => {
    const { page, defects, accessibility } = await openTab(browser, origin);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await page.goto('/explorer/');
    await page.getByRole('navigation').getByRole('link', { name: 'Take the test' }).click();
    await page.getByRole('button', { name: 'Start the test' }).click();
    const give = async (response: string): Promise<void> => {
      await page.locator('#response').fill(response);
      await page.getByRole('button', { name: 'Answer' }).click();
    };
    await answerItems(page, give, { upTo: 3, isWrong: (number) => number === 2 });
    await itemHeading(page).filter({ hasText: 'Item 4' }).waitFor();
    const item = await page.locator('#stem').textContent();

    await page.reload();
    await itemHeading(page).filter({ hasText: 'Item 4' }).waitFor();
    expect(await page.locator('#stem').textContent()).toBe(item);
    await unfold(page, 'Answers so far');
    expect(await accessibility()).toEqual([]);
    const answers = page.getByRole('listitem').filter({ hasText: /correct$/ });
    expect(await answers.allTextContents()).toEqual(
      ['✓ correct', 'not correct', '✓ correct'].map((end) => expect.stringContaining(end) as string),
    );

    const count = await answerItems(page, give, { first: 4 });
    expect(await page.locator('.item').textContent()).toContain(
      `${count} answers, ${count - 1} of them correct`,
    );
    const report = page.getByRole('link', { name: 'Read the report of this attempt' });
    await report.waitFor();
    const courses = page.locator('.multiples figure strong');
    const names = await courses.allTextContents();
    expect(names).toHaveLength(8);
    await unfold(page, 'The same in numbers');
    const numbers = page.getByRole('region', { name: 'Probability of mastery after each answer' });
    expect(await numbers.getByRole('rowheader').allTextContents()).toEqual(names);
    expect(await numbers.getByRole('columnheader').last().textContent()).toBe(`After ${count}`);
    expect(await accessibility()).toEqual([]);
    expect(await idsOn(page)).toEqual([]);
    // Names that the page knows stay in the browser.
    expect(
      names.filter((name) => sent.some((request) => decodeURIComponent(request).includes(name))),
    ).toEqual([]);
    await report.click();
    await page.getByText(`${count} items were given.`).waitFor();
    await page.goBack();
    await overHeading(page).waitFor();
    await report.click();
    await page.getByText(`${count} items were given.`).waitFor();
    const rows = page.locator('.bars > li');
    expect(await rows.count()).toBe(8);
    // Names of knowledge components, and no id in their place.
    expect((await rows.locator('strong').allTextContents()).join()).toMatch(/^[a-z, -]+$/);
    expect(await page.locator('.sure').innerText()).toMatch(
      /mastered from 80 %, gap up to 20 %, between: not settled/,
    );
    expect(await idsOn(page)).toEqual([]);
    await unfold(page, 'For auditors');
    await page.getByRole('heading', { name: 'sources', exact: true }).waitFor();
    expect(await idsOn(page)).not.toEqual([]);
    expect(defects).toEqual([]);
  });

  it('keeps the item of an answer that cannot be read, says how to write it, and takes other forms of a right one', async () => {
    const { page, defects, accessibility } = await openTab(browser, origin);
    await open(page, 'test', { tenant: tenants[0] });
    expect(await idsOn(page)).toEqual([]);
    await page.getByText('mastered from 80 %, gap up to 20 %, between: not settled').waitFor();
    await page.getByRole('button', { name: 'Start the test' }).click();
    await itemHeading(page).waitFor();
    const response = page.getByLabel('Your answer');
    for (const [text, refusal] of [
      ['abc', 'Write a whole number'],
      ['3/', 'Write a whole number'],
      ['1/0', 'cannot have the denominator 0'],
      ['1,5', 'Did you mean 1.5?'],
    ] as const) {
      await response.fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: refusal }).waitFor();
      expect(await itemHeading(page).textContent()).toBe('Item 1');
      expect(await response.inputValue()).toBe(text);
      expect(await focused(page)).toBe('response');
    }
    expect(await accessibility()).toEqual([]);
    expect(await feedback(page).textContent()).toContain('after 0 answers.');
    const [above = '', below = '1'] = (await solution(page)).split('/');
    await response.fill(` ${Number(above) * 3} ⁄ ${Number(below) * 3}`);
    await page.keyboard.press('Enter');
    await feedback(page).filter({ hasText: '✓ Correct.' }).waitFor();
    expect(defects).toEqual([]);
  });

  it('says what it waits for, and stops the wait on request', async () => {
    const { page } = await openTab(browser, origin);
    await open(page, 'report', { tenant: tenants[1] });
    await stack.fault({ operation: 'qti.read_attempt_evidence', kind: 'down', times: 100 });
    await page.getByRole('button', { name: 'Show' }).click();
    const wait = page
      .getByRole('status')
      .filter({ hasText: /QTI.* does not respond, trying again in \d+ s/ });
    await wait.getByRole('button', { name: 'Stop' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'You have stopped the wait' });
    await alert.waitFor();
    await stack.control('DELETE', 'faults');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'What to teach next' }).waitFor();
  });

  it('says that an answer is not scored yet, and stops asking on request', async () => {
    const { page } = await openTab(browser, origin);
    await open(page, 'test', { tenant: tenants[1], bank: 'generated' });
    // The player has taken the answer, and QTI has not scored it.
    await page.route('**/explorer/api/answer', (route) => route.fulfill({ json: { correct: true } }));
    await page.getByRole('button', { name: 'Start the test' }).click();
    await page.getByRole('button', { name: 'Correct', exact: true }).click();
    const wait = page
      .getByRole('status')
      .filter({ hasText: /answer is not scored yet, trying again in \d+ s/ });
    await wait.getByRole('button', { name: 'Stop' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'You have stopped the wait' });
    await alert.getByRole('button', { name: 'Try again' }).waitFor();
  });

  it('counts the requests of what is shown, and reads it again on Show', async () => {
    const { page } = await openTab(browser, origin);
    const { attempts } = stack.seededTenants.get(tenants[0])?.fixtures.reports ?? {};
    const counted = (requests: string): Promise<void> =>
      page.getByText(`HTTP behind this view: ${requests}`, { exact: true }).waitFor();
    await open(page, 'report', { tenant: tenants[0], id: attempts?.gatePass ?? '' });
    await counted('1 request');
    await page.getByRole('button', { name: 'Show' }).click();
    await counted('2 requests');
    await page.getByLabel('Attempt').selectOption({ index: 1 });
    await counted('1 request');
  });

  it.each(shown)(
    'offers the faults of the owners that the view reads, and of no other: %s',
    async (view, ready) => {
      const { page } = await openTab(browser, origin);
      await stack.control('DELETE', 'calls');
      await open(page, view, { tenant: tenants[0] });
      await page.locator('main').getByText(ready, { exact: true }).first().waitFor();
      if (view === 'test') {
        await page.getByRole('button', { name: 'Start the test' }).click();
        await itemHeading(page).waitFor();
      } else if (view === 'improvement') {
        await page.getByRole('button', { name: 'Analyze' }).click();
        await page.getByRole('heading', { name: 'completed' }).waitFor();
      }
      const ownerOf = (operation: string): string => operation.split('.', 1)[0] ?? '';
      const { calls } = (await stack.control('GET', 'calls')) as {
        calls: { operation: string | null }[];
      };
      const read = new Set(
        calls.flatMap(({ operation }) => (operation === null ? [] : [ownerOf(operation)])),
      );
      const options = await page
        .locator('.developer')
        .getByLabel('Operation')
        .locator('option')
        .allTextContents();
      const offered = new Set(options.map(ownerOf));
      expect([...read].filter((owner) => !offered.has(owner))).toEqual([]);
      expect([...offered].filter((owner) => !read.has(owner)).sort()).toEqual(onlyLater[view] ?? []);
    },
  );

  it('ends a test in which every answer is wrong once no item can settle more, and states that cause', async () => {
    const { page, defects } = await openTab(browser, origin);
    await page.goto('/explorer/');
    await page.getByRole('navigation').getByRole('link', { name: 'Take the test' }).click();
    await page.getByText('when no further item would tell enough about what is not settled').waitFor();
    await page.getByRole('button', { name: 'Start the test' }).click();
    const give = async (response: string): Promise<void> => {
      await page.locator('#response').fill(response);
      await page.getByRole('button', { name: 'Answer' }).click();
    };
    expect(await answerItems(page, give, { isWrong: () => true })).toBeLessThan(20);
    await page.getByText('no item that is left would tell enough about what is not settled.').waitFor();
    expect(defects).toEqual([]);
  });

  it('takes a whole test by keyboard alone, and shows where the focus is', async () => {
    const { page, defects } = await openTab(browser, origin);
    await page.goto('/explorer/');
    await page.locator('.cards').waitFor();
    await tabTo(page, 'Skip to content');
    await tabTo(page, 'Take the test');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Start the test' }).waitFor();
    expect(await focused(page)).toBe('main');
    await tabTo(page, 'Start the test');
    await page.keyboard.press('Enter');
    await answerItems(page, async (response) => {
      await page.locator('#response:focus').waitFor();
      await page.keyboard.type(response);
      await tabTo(page, 'Answer');
      await page.keyboard.press('Enter');
    });
    expect(await page.locator(':focus').textContent()).toContain('The test is over');
    await page.getByRole('link', { name: 'Read the report of this attempt' }).waitFor();
    await tabTo(page, 'Read the report of this attempt');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What to teach next' }).waitFor();
    expect(await focused(page)).toBe('main');
    expect(defects).toEqual([]);
  });

  const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
  const choose = (page: Page) => page.getByLabel('Attempt').selectOption({ index: 0 });

  it.each([
    ['test', 'qti.offer_selected_item', press('Start the test'), 'Item 1'],
    ['report', 'qti.read_attempt_evidence', choose, 'What to teach next'],
    ['improvement', 'administration.read_administration', press('Analyze'), 'completed'],
  ] as const)(
    'shows the problem of an armed fault with its remedy, and recovers: %s',
    async (view, operation, act, recovered) => {
      const { page, defects } = await openTab(browser, origin);
      await open(page, view, { tenant: tenants[1] });
      await arm(page, operation, 'down', `${operation}: down`);
      await act(page);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.innerText()).toMatch(/ does not respond\n/);
      await unfold(alert, 'For developers');
      expect(await alert.innerText()).toMatch(/(?:424|503) .*[Rr]epeat the identical request/s);
      await page.getByRole('button', { name: 'Clear all' }).click();
      await page.getByLabel('Armed faults').getByText('down').waitFor({ state: 'detached' });
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: recovered }).waitFor();
      expect(defects.filter((defect) => !/status of (?:424|503)/.test(defect))).toEqual([]);
    },
  );

  it('counts an answer that QTI has scored, even if the response was lost', async () => {
    const { page } = await openTab(browser, origin);
    await open(page, 'test', { tenant: tenants[1], bank: 'generated' });
    await arm(page, 'qti.score_item_attempt', 'lost_acknowledgement', 'lost acknowledgement');
    await page.getByRole('button', { name: 'Start the test' }).click();
    await page.getByRole('button', { name: 'Correct', exact: true }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'QTI did not respond' });
    await alert.waitFor();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await itemHeading(page).filter({ hasText: 'Item 2' }).waitFor();
    expect(await feedback(page).textContent()).toContain('after 1 answer.');
  });

  it('does not take the second click of a double click for an answer to the next item', async () => {
    const { page } = await openTab(browser, origin);
    await open(page, 'test', { tenant: tenants[0], bank: 'generated' });
    await page.getByRole('button', { name: 'Start the test' }).click();
    const correct = page.getByRole('button', { name: 'Correct', exact: true });
    await correct.dispatchEvent('click', { detail: 2 });
    await correct.click();
    await itemHeading(page).filter({ hasText: 'Item 2' }).waitFor();
    expect(await feedback(page).textContent()).toContain('after 1 answer.');
  });

  it('starts over if the stack does not know the run any more', async () => {
    const { page, accessibility } = await openTab(browser, origin);
    await open(page, 'test', { tenant: tenants[0] });
    await page.getByRole('button', { name: 'Start the test' }).click();
    await itemHeading(page).waitFor();
    await page.evaluate(`for (const [key, text] of Object.entries(sessionStorage)) {
      const kept = JSON.parse(text);
      sessionStorage.setItem(key, JSON.stringify({ ...kept, saved: { ...kept.saved, continuationToken: 'a.b.c.d.e' } }));
    }`);
    await page.reload();
    await page.getByRole('alert').waitFor();
    expect(await accessibility()).toEqual([]);
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('button', { name: 'Start the test' }).click();
    await itemHeading(page).filter({ hasText: 'Item 1' }).waitFor();
  });

  it('names the tenants if the address names another one, on a page that is accessible', async () => {
    const { page, accessibility } = await openTab(browser, origin);
    await open(page, 'cohort', { tenant: 'absent' });
    await page.getByRole('alert').getByText('Aurora and Borealis').waitFor();
    expect(await accessibility()).toEqual([]);
  });

  it('shows no value of a suppressed cohort', async () => {
    const { page } = await openTab(browser, origin);
    await open(page, 'cohort', { tenant: tenants[0] });
    await page.getByText('Mean share of correct answers').waitFor();
    const [, , suppressed = ''] = stack.seededTenants.get(tenants[0])?.fixtures.reports.classes ?? [];
    await page.getByLabel('Cohort').selectOption(`class ${suppressed}`);
    await page.getByText('The figures of this group are withheld').waitFor();
    expect(await page.getByText('Mean share of correct answers').count()).toBe(0);
  });

  it.each(tenants)('runs an improvement analysis to its end: %s', async (tenant) => {
    const { page, defects, accessibility } = await openTab(browser, origin);
    await open(page, 'improvement', { tenant });
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByRole('heading', { name: 'completed' }).waitFor();
    expect(await page.getByRole('heading', { name: /% aligned$/ }).count()).toBe(3);
    expect(await page.getByRole('heading', { name: /^For (?:Bank|Blueprint): \d+ orders?$/ }).count()).toBe(
      2,
    );
    const subjects = await page.locator('.row h4').allTextContents();
    expect(subjects.join('; ')).toMatch(/^(?:(?:The whole test|Item \d+ of form [\w-]+)(?:; |$))+$/);
    expect(new Set(subjects).size).toBeGreaterThan(1);
    expect(await page.locator('.row-head').allTextContents()).toContainEqual(
      expect.stringContaining('the external assessment: State Mathematics 5'),
    );
    expect(await page.locator('.row p').first().textContent()).toMatch(
      /^Because the .*\. Observed: .*; a revision is asked for /,
    );
    expect(await idsOn(page)).toEqual([]);
    expect(await page.getByLabel('Administration').locator('option').allTextContents()).toContain(
      'Spring gate',
    );
    expect(await accessibility()).toEqual([]);
    expect(defects).toEqual([]);
  });

  it('draws the first rows of the largest report, and all of them on request', async () => {
    const { page } = await openTab(browser, origin);
    const { attempts } = stack.seededTenants.get(tenants[0])?.fixtures.reports ?? {};
    await open(page, 'report', { tenant: tenants[0], id: attempts?.large ?? '' });
    const all = page.locator('.sure').getByRole('button', { name: 'Show all 5,000 rows' });
    await all.waitFor();
    expect(await page.locator('.bars > li').count()).toBe(100);
    await all.click();
    await all.waitFor({ state: 'detached' });
    expect(await page.locator('.bars > li').count()).toBe(5000);
  });

  it('gives each request as a command that works, and as code for the client', async () => {
    const { page } = await openTab(browser, origin);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const { attempts, students } = stack.seededTenants.get(tenants[0])?.fixtures.reports ?? {};
    await open(page, 'report', { tenant: tenants[0], id: attempts?.gatePass ?? '' });
    await unfold(page, 'HTTP behind this view: 1 request');
    await unfold(page, 'GET /reports/v1/attempt-reports/');
    const copied = async (name: string): Promise<string> => {
      await page.getByRole('button', { name }).click();
      await page.getByText('✓ copied').waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    const token = await stack.tokenFor(tenants[0], ['reports:read'], { studentIds: students ?? [] });
    const { stdout } = await promisify(execFile)('bash', ['-c', await copied('Copy as curl')], {
      env: { ...process.env, TOKEN: token },
    });
    expect(JSON.parse(stdout)).toMatchObject({ object: 'attempt_report', attemptId: attempts?.gatePass });
    expect(await copied('Copy as client code')).toContain(
      `client.readAttemptReport({\n  "attemptId": "${attempts?.gatePass}",\n  "view": "evidence"\n})`,
    );
  });

  it.each([
    ['wide', 'light', tenants[0]],
    ['phone', 'dark', tenants[1]],
  ] as const)('is accessible and fits in every view: %s, %s', async (view, colorScheme, tenant) => {
    const tab = await openTab(browser, origin, { view, colorScheme });
    const found: string[] = [];
    for (const [name, ready] of [['', 'Explorer'] as const, ...shown]) {
      await open(tab.page, name, { tenant });
      await tab.page.locator('main').getByText(ready, { exact: true }).first().waitFor();
      if (name === '') expect(await idsOn(tab.page)).toEqual([]);
      await tab.page.evaluate(
        "document.querySelectorAll('details').forEach((details) => { details.open = true; })",
      );
      found.push(...(await tab.accessibility()).map((violation) => `${name}: ${violation}`));
      const width = await tab.page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > views[view].width) found.push(`${name}: ${width} pixels wide`);
      await tab.screenshot(`explorer-${name}`);
    }
    expect(found).toEqual([]);
    expect(tab.defects).toEqual([]);
  });

  it('serves the example page, which takes names and their order from a CASE package', async () => {
    const { page, defects, accessibility } = await openTab(browser, origin);
    await page.goto('/explorer/example/');
    await page.getByRole('heading', { name: 'Ben: 1 gap, 1 mastered, 1 not settled.' }).waitFor();
    await page.locator('.next').getByText(sandboxStandards.gapComponent.name).waitFor();
    expect(await idsOn(page)).toEqual([]);
    expect(await accessibility()).toEqual([]);
    expect(defects).toEqual([]);
  });

  it('shows over the sandbox what the sandbox serves, without a token', async () => {
    const site = await renderSite({ release: allOpen, apis: { sandbox: '/sandbox' } });
    await using sandbox = await startSandbox(({ rawPath }) => {
      const path = rawPath.slice(1).replace(/\/$/, '/index.html');
      const body = site.get(path);
      return body === undefined
        ? undefined
        : { status: 200, headers: { ...pageHeaders, 'Content-Type': contentTypeOf(path) }, body };
    });
    const tab = await openTab(browser, sandbox.url);
    await tab.page.goto('/explorer/');
    await tab.page.locator('.cards').waitFor();
    const views = await tab.page.locator('.cards strong').allTextContents();
    expect(views).toEqual(['Attempt report', 'Candidate history', 'Form equivalence']);
    for (const [view, text] of [
      ['report', sandboxStandards.gap.name],
      [`report?id=${sandboxIds.adaptiveDiagnosticAttempt}`, sandboxStandards.gapComponent.name],
      ['history', 'All tests'],
      ['form', 'Forms that were compared'],
    ] as const) {
      await tab.page.goto(`/explorer/#/${view}`);
      await tab.page.locator('main').getByText(text).first().waitFor();
      expect(await tab.accessibility()).toEqual([]);
    }
    expect(tab.defects).toEqual([]);
  });
});
