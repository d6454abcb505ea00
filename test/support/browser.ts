import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '#tools/browser.ts';
import { projectRoot } from '#tools/checks/checks.ts';
import { duringTests } from './lazily.ts';

export const views = {
  wide: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

interface ViewOptions {
  readonly view?: keyof typeof views;
  readonly colorScheme?: 'light' | 'dark';
}

/** A tab that notes whatever a page may not do. */
export interface Tab {
  readonly page: Page;
  /** Requests to another origin (they are refused), errors on the console, exceptions. Empty for a page as it should be. */
  readonly defects: readonly string[];
  /** What axe finds on the page as it is now: `rule: selector`. */
  readonly accessibility: () => Promise<readonly string[]>;
  /** Keeps a picture for people to look at, in `build/screenshots`. */
  readonly screenshot: (name: string) => Promise<void>;
}

/** A browser for the tests of a file. */
export function useBrowser(): Pick<Browser, 'newContext'> {
  return duringTests(async () => {
    const browser = await startBrowser();
    const newContext: Browser['newContext'] = (options) => browser.newContext(options);
    return { newContext, close: () => browser.close() };
  });
}

/** Opens a tab for pages of one origin. */
export async function openTab(
  browser: Pick<Browser, 'newContext'>,
  origin: string,
  { view = 'wide', colorScheme = 'light' }: ViewOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: views[view], colorScheme, baseURL: origin });
  const page = await context.newPage();
  const defects: string[] = [];
  await context.route(
    (url) => url.origin !== new URL(origin).origin && url.protocol !== 'data:',
    async (route) => {
      defects.push(`request to ${route.request().url()}`);
      await route.abort();
    },
  );
  page.on('console', (message) => {
    if (message.type() === 'error') defects.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => defects.push(`${page.url()}: ${error.message}`));
  return {
    page,
    defects,
    async accessibility() {
      await page.evaluate(axe.source);
      const violations = await page.evaluate<{ id: string; nodes: { target: string[] }[] }[]>(
        'axe.run().then(({ violations }) => violations)',
      );
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
    },
    async screenshot(name) {
      const folder = join(projectRoot, 'build/screenshots');
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}-${view}-${colorScheme}.png`) });
    },
  };
}
