import { h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { MasteryReportElement, ReportData } from '#report-element/index.ts';
import '#report-element/index.ts';
import { useSurface } from '../context.ts';
import { Outcome } from '../parts.tsx';
import { hrefOf } from '../router.ts';
import { useLoad } from '../store.ts';

interface ShownProps {
  readonly load: (signal: AbortSignal) => Promise<ReportData>;
  /** What the page loads again for when it changes. */
  readonly inputs: readonly unknown[];
}

/** A report as any product would embed it: the element, with the names of the seed. What fails is shown as everywhere in the explorer. */
export function Shown({ load, inputs }: ShownProps): JSX.Element {
  const loaded = useLoad(load, inputs);
  return <Outcome of={loaded}>{(data) => <Element data={data} />}</Outcome>;
}

function Element({ data }: { readonly data: ReportData }): JSX.Element {
  const { names, precedes, tenant } = useSurface();
  const element = useRef<MasteryReportElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    Object.assign(element.current, {
      names,
      precedes,
      hrefOf: (id: string) => hrefOf('report', { tenant: tenant?.tenantId, id }),
      data,
    });
  }, [data, names]);
  return h('mastery-report', { ref: element });
}
