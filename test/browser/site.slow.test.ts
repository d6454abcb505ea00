import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { allOpen } from '#shared/release/release-state.ts';
import { openTab, useBrowser, views, type Tab } from '#test/support/browser.ts';
import { useTestStack } from '#test/support/stack.ts';
import { renderSite, type Site } from '#tools/site/render.ts';

/** A page of each kind: they are photographed, and looked at in both colour schemes and widths. */
const pictured =
  /^(?:docs\/(?:index|architecture|client-guide|records)|problems\/(?:index|stream-conflict)|reference\/\w+)\.html$/;

let site: Site;
const stack = useTestStack({
  site: async (local) => {
    site = await renderSite({ release: allOpen, apis: local.apis, local });
    return site;
  },
});
const browser = useBrowser();
let origin: string;
beforeAll(() => {
  ({ origin } = new URL(stack.urls.docsUrl));
});

/** Opens a page and waits for what its scripts draw. */
async function open({ page }: Tab, path: string): Promise<void> {
  await page.goto(`/${path}`);
  if (!path.startsWith('reference/')) return;
  // An operation is wider once its responses are open.
  await page.locator('.opblock-summary-control').first().click();
  await page.locator('.responses-table').first().waitFor();
}

/** Waits for the answer to a call that was tried. */
async function answered(operation: Locator, status: number): Promise<void> {
  await operation
    .locator('.live-responses-table .response-col_status', { hasText: String(status) })
    .last()
    .waitFor();
}

describe('the documentation site in a browser', () => {
  it('leads from the index through guide, search and reference to a call and its problem page', async () => {
    const tab = await openTab(browser, origin);
    const { page, defects } = tab;
    await page.goto('/');
    await page.locator('#pages').getByRole('link', { name: 'Client guide' }).click();
    expect(await page.locator('h1').textContent()).toBe('Client guide');

    await page.waitForLoadState();
    await page.keyboard.press('/');
    await page.keyboard.type('readiness external tests');
    await page.locator('#results a').first().waitFor();
    await tab.screenshot('search');
    await page.locator('#results a[href*="reference/reports.html#/"]').first().click();

    const operation = page.locator('#operations-attempt-reports-readReadiness');
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const attempt = operation.locator('[data-param-name="attemptId"] input');
    const { attempts } = stack.seededTenants.get('tenant-aurora')?.fixtures.reports ?? {};
    expect(Object.values(attempts ?? {})).toContain(await attempt.inputValue());
    await operation.getByRole('button', { name: 'Execute' }).click();
    await answered(operation, 200);
    expect(await tab.accessibility()).toEqual([]);
    expect(defects).toEqual([]);

    await attempt.fill('absent');
    await operation.getByRole('button', { name: 'Execute' }).click();
    await answered(operation, 404);
    const problem = await operation.locator('.live-responses-table pre').first().textContent();
    // The browser itself notes a 404 on its console.
    expect(defects).toEqual([expect.stringContaining('404') as string]);
    await page.goto(`/problems/${/problems\/([\w-]+)/.exec(problem ?? '')?.[1] ?? ''}`);
    expect(await page.locator('h1').textContent()).toBe('Not found');
  });

  it('offers no search without JavaScript, and leads to the OpenAPI document', async () => {
    const context = await browser.newContext({ baseURL: origin, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto('/reference/reports.html');
    await page.getByRole('link', { name: 'OpenAPI 3.1 document' }).waitFor();
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await context.close();
  });

  it('calls the sandbox without a token', async () => {
    const { page, defects } = await openTab(browser, origin);
    await page.goto('/reference/sandbox.html#/forms/readEquivalence');
    const operation = page.locator('#operations-forms-readEquivalence');
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.locator('[data-param-name="qtiTestId"] input').fill(sandboxIds.form);
    await operation.getByRole('button', { name: 'Execute' }).click();
    await answered(operation, 200);
    expect(defects).toEqual([]);
  });

  it.each([
    // The sources of files have one form, those of folders another.
    ['wide', 'light', /^(?:(?!source\/).*|source\/(?:cdk\.json|examples\/deploy))\.html$/, 50],
    ['phone', 'dark', pictured, 8],
  ] as const)(
    'is accessible, fits and asks no other host: %s and %s',
    { timeout: 300_000 },
    async (view, colorScheme, pattern, atLeast) => {
      const tab = await openTab(browser, origin, { view, colorScheme });
      const found: string[] = [];
      const paths = [...site.keys()].filter((path) => pattern.test(path));
      expect(paths.length).toBeGreaterThanOrEqual(atLeast);
      for (const path of paths) {
        await open(tab, path);
        found.push(...(await tab.accessibility()).map((violation) => `${path}: ${violation}`));
        const width = await tab.page.evaluate<number>('document.documentElement.scrollWidth');
        if (width > views[view].width) found.push(`${path}: ${width} pixels wide`);
        if (pictured.test(path)) await tab.screenshot(path.replaceAll(/[/.]/g, '-'));
      }
      expect(found).toEqual([]);
      expect(tab.defects).toEqual([]);
    },
  );
});
