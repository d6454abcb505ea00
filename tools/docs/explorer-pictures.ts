import { join } from 'node:path';
import { startBrowser } from '../browser.ts';
import { projectRoot } from '../checks/checks.ts';

/** How the pictures are cut: what a reader sees first. */
const viewport = { width: 1200, height: 780 };
/** Answers to the first items that settle most knowledge components but not all of them. */
const responses = ['2', '1/2', '3/8', '1'];

/**
 * Takes pictures of the explorer in both colour schemes: a test under way, a report, and a class. They differ from run to run, since each run draws its
 * items anew.
 * @param explorerUrl of a running local stack
 * @returns the files that were written. Rejects with what to install when there is no Chromium.
 */
export async function takeExplorerPictures(explorerUrl: string): Promise<readonly string[]> {
  const browser = await startBrowser();
  const written: string[] = [];
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport, colorScheme });
      const take = async (name: string): Promise<void> => {
        const path = `docs/pictures/${name}-${colorScheme}.png`;
        await page.screenshot({ path: join(projectRoot, path) });
        written.push(path);
      };
      await page.goto(`${explorerUrl}#/test`);
      await page.getByRole('button', { name: 'Start the test' }).click();
      for (const [at, response] of responses.entries()) {
        const heading = page.getByRole('heading', { name: `Item ${at + 1}`, exact: true });
        await heading.waitFor();
        await page.getByLabel('Your answer').fill(response);
        await page.keyboard.press('Enter');
        await heading.waitFor({ state: 'detached' });
      }
      await page.getByLabel('Your answer').waitFor();
      await take('explorer-test');
      await page.goto(`${explorerUrl}#/report`);
      await page.getByRole('heading', { name: 'has not passed yet' }).waitFor();
      await take('explorer-report');
      await page.goto(`${explorerUrl}#/class`);
      await page.getByRole('heading', { name: 'learners share the gap' }).waitFor();
      await take('explorer-class');
      await page.close();
    }
  } finally {
    await browser.close();
  }
  return written;
}
