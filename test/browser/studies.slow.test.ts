import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '#psychometrics/validate/report.ts';
import type { Line } from '#psychometrics/validate/validation.ts';
import { openTab, useBrowser, views } from '#test/support/browser.ts';
import { projectRoot } from '#tools/checks/checks.ts';

/** Lines of both peers, a passed and a failed one of each. */
const lines = (['catR', 'cdCAT'] as const).flatMap((peer) =>
  [0.5, 0.7].map((ours, n): Line => {
    const name = `case ${n + 1}, 24 items: a figure with a long name`;
    return { peer, name, ours, theirs: 0.5, tolerance: 0.01, passed: n === 0 };
  }),
);

const folder = await mkdtemp(join(tmpdir(), 'studies-'));
const browser = useBrowser();

/** The page that a command writes. */
async function pageOf(command: string, ...options: readonly string[]): Promise<string> {
  const words = [`psychometrics/${command}.ts`, ...options, '--out', folder];
  await promisify(execFile)(process.execPath, words, { cwd: projectRoot });
  return readFile(join(folder, 'report.html'), 'utf8');
}

const inputs = '--responses examples/study/responses.csv --q-matrix examples/study/q-matrix.csv';
const tiny = '--worlds 1 --learners 6 --items 24 --kcs 4 --length 6 --bar 0.05 --exposure progressive';

describe('the page of a study in a browser', () => {
  it.each([
    ['calibrate', () => pageOf('calibrate', ...inputs.split(' '), '--model', 'gdina')],
    ['recovery', () => pageOf('recovery', ...tiny.split(' '))],
    ['validate', () => htmlReport({ lines, unchecked: [{ name: 'a file', why: 'it is absent' }] })],
  ])('is accessible, fits and makes no request: %s', async (name, make) => {
    const html = await make();
    for (const [view, colorScheme] of [
      ['wide', 'light'],
      ['phone', 'dark'],
    ] as const) {
      const { page, defects, accessibility, screenshot } = await openTab(browser, 'http://localhost', {
        view,
        colorScheme,
      });
      await page.setContent(html);
      await page.evaluate(
        "document.querySelectorAll('details').forEach((details) => { details.open = true; })",
      );
      expect(await page.locator('svg.chart').count()).toBeGreaterThan(0);
      expect(await accessibility()).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(views[view].width);
      expect(defects).toEqual([]);
      await screenshot(`study-${name}`);
    }
  });
});
