import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { band, draw, line, type Point } from '#tools/page/plot.ts';

interface LineChartProps {
  readonly title: string;
  readonly description: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly (readonly Point[])[];
  readonly band?: readonly { readonly x: number; readonly low: number; readonly high: number }[];
}

/** Lines over the number of answers, with a caption. */
function LineChart({ title, description, x, y, lines, band: area }: LineChartProps): JSX.Element {
  const id = useId();
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const places = lines.flatMap((points) => points.map((point) => point.x));
    const step = Math.ceil((Math.max(...places) - Math.min(...places)) / 6) || 1;
    const ticks = [...new Set(places)].filter((value) => value % step === 0);
    const { parts, width, height } = draw(document, {
      x: { label: x, ticks, tickFormat: String },
      y: { label: y, grid: true },
      marks: [...(area === undefined ? [] : [band(area)]), ...lines.map((points) => line(points, 'full'))],
    });
    svg.current?.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.current?.replaceChildren(...(parts as readonly SVGElement[]));
  });
  return (
    <figure>
      <svg
        class="chart"
        ref={svg}
        role="img"
        aria-labelledby={`${id}-t`}
        aria-describedby={`${id}-d`}
        fill="currentColor"
        text-anchor="middle"
      />
      <figcaption>
        <strong id={`${id}-t`}>{title}</strong>
        <span id={`${id}-d`}>{description}</span>
      </figcaption>
    </figure>
  );
}

interface ScoreChartProps extends Pick<LineChartProps, 'title' | 'description' | 'x'> {
  readonly scores: readonly {
    readonly x: number;
    readonly scaleScore: number;
    readonly standardError: number;
  }[];
}

/** Scale scores with one standard error to both sides; nothing where there is no course to show. */
export function ScoreChart({ scores, ...texts }: ScoreChartProps): JSX.Element | null {
  if (scores.length < 2) return null;
  return (
    <LineChart
      {...texts}
      y="scale score"
      lines={[scores.map(({ x, scaleScore }) => ({ x, y: scaleScore }))]}
      band={scores.map(({ x, scaleScore, standardError }) => ({
        x,
        low: scaleScore - standardError,
        high: scaleScore + standardError,
      }))}
    />
  );
}
