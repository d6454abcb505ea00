import type * as Plot from '@observablehq/plot';
import { colour, dots, line, type Point } from '#tools/page/plot.ts';
import { chart } from '#tools/page/charts.ts';
import { markup, table, type Markup } from '#tools/page/markup.ts';
import { htmlPage } from '../pages/page.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import type { Line, Validation } from './validation.ts';

/** Renders every line with both figures, the figures that were not checked, and the totals; for a terminal. */
export function textReport({ lines, unchecked }: Validation, paint: Paint): string {
  const width = Math.max(0, ...lines.map(({ peer, name }) => `${peer} ${name}`.length));
  return [
    ...lines.map((one) => {
      const word = one.passed ? paint('green', 'passed') : paint('red', 'failed');
      const name = `${one.peer} ${one.name}`.padEnd(width);
      return `${word}  ${name}  ours ${shown(one, one.ours)}  theirs ${shown(one, one.theirs)}  ± ${one.tolerance}`;
    }),
    ...unchecked.map(({ name, why }) => `${paint('yellow', 'not checked')}  ${name}: ${why}`),
    '',
    `${lines.filter(({ passed }) => passed).length} of ${lines.length} lines passed, ${unchecked.length} not checked`,
  ].join('\n');
}

/** Formats a figure with as many decimals as its tolerance can distinguish. */
function shown({ tolerance }: Line, value: number): string {
  return value.toFixed(tolerance < 1e-6 ? 12 : 3);
}

/** Renders the same as one self-contained page. */
export function htmlReport(validation: Validation): string {
  const { lines, unchecked } = validation;
  const passed = lines.filter((one) => one.passed).length;
  return htmlPage({
    title: 'Validation',
    style,
    body: markup`<main>
<h1>Validation</h1>
<p>The mastery engine compared with published figures and frozen outputs of other programs, on the same answers.
${passed} of ${lines.length} lines passed; ${unchecked.length} could not be checked.</p>
<h2>catR</h2>
<p>Posterior mean (EAP) and standard error of ability under the four-parameter logistic model. Each item has a knowledge component of its own. Both kernels answer.</p>
${picture(lines, 'catR', 'ability (SD)', isAnything)}
${linesTable(lines, 'catR')}
<h2>cdCAT</h2>
<p>Five attributes, 310 DINA items, 640 learners: the shares of patterns and attributes recovered and the items given, at the same confidence per attribute;
by the frozen kernel with curves, and by the kernel of blocks with all five attributes in one table.
cdCAT selects items by its own rules, so shares may differ by the sampling error of 640 learners.</p>
${picture(lines, 'cdCAT', 'share recovered', ({ name }) => !name.endsWith('items'))}
${linesTable(lines, 'cdCAT')}
<h2>Not checked</h2>
${table(
  'Not checked',
  ['figure', { text: 'why' }],
  unchecked.map(({ name, why }) => [name, why]),
)}
</main>`,
  });
}

const isAnything = (): boolean => true;

const style = markup`
body { max-width: 70rem; }
.passed { color: var(--good); font-weight: 600; } .failed { color: var(--bad); font-weight: 600; }
`;

function linesTable(lines: readonly Line[], peer: Line['peer']): Markup {
  return table(
    `Lines of ${peer}`,
    ['figure', 'ours', 'theirs', 'tolerance', { text: 'result' }],
    lines
      .filter((one) => one.peer === peer)
      .map((one) => [
        one.name,
        shown(one, one.ours),
        shown(one, one.theirs),
        String(one.tolerance),
        one.passed ? markup`<span class="passed">passed</span>` : markup`<span class="failed">failed</span>`,
      ]),
  );
}

/** Draws our figures against theirs: equal figures are on the dashed line. */
function picture(
  lines: readonly Line[],
  peer: Line['peer'],
  unit: string,
  isShown: (one: Line) => boolean,
): Markup | undefined {
  const points: Point[] = lines
    .filter((one) => one.peer === peer && isShown(one))
    .map((one) => ({
      x: one.theirs,
      y: one.ours,
      label: `${one.name}: ours ${shown(one, one.ours)}, theirs ${shown(one, one.theirs)}`,
    }));
  if (points.length === 0) return undefined;
  const values = points.flatMap(({ x, y }) => [x, y]);
  const domain = [Math.min(...values), Math.max(...values)];
  const axis: Plot.ScaleOptions = { domain, nice: true };
  return chart(
    {
      id: peer.toLowerCase(),
      title: `Ours and ${peer}’s, ${unit}`,
      description: `One dot per figure. On the dashed line, ours equals ${peer}’s.`,
      legend: [
        ['full', 'a figure'],
        ['dashed', 'equal'],
      ],
    },
    {
      height: 320,
      grid: true,
      x: { ...axis, label: `${peer}: ${unit}` },
      y: { ...axis, label: `ours: ${unit}` },
      marks: [
        line(
          domain.map((value) => ({ x: value, y: value })),
          'dashed',
          colour.two,
        ),
        dots(points, 'large'),
      ],
    },
  );
}
