import { afterAll, beforeAll, beforeEach, type RunnerTestSuite } from 'vitest';
import { countLines, describeLines } from './function-lines.ts';

// Loaded before every test file: a test that fails shows what the functions logged meanwhile, so that "500 internal-error" has a cause.

beforeEach(({ onTestFailed, task }) => {
  const from = countLines();
  onTestFailed(() => {
    const lines = describeLines(from);
    const [error] = task.result?.errors ?? [];
    if (lines !== undefined && error !== undefined) error.message += `\n\n${lines}`;
  });
});

// The errors of a file's own hooks have been reported by then: its lines follow apart.
let atStart = 0;
beforeAll(() => {
  atStart = countLines();
});
// Vitest wants a pattern where the fixtures are.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, suite) => {
  if (hooksFailed(suite)) process.stderr.write(`${describeLines(atStart) ?? ''}\n`);
});

function hooksFailed({ result, tasks }: Pick<RunnerTestSuite, 'result' | 'tasks'>): boolean {
  return (
    (result?.errors ?? []).length > 0 || tasks.some((task) => task.type === 'suite' && hooksFailed(task))
  );
}
