import { h, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Load, MasteryReportElement } from '#report-element/index.ts';
import '#report-element/index.ts';
import { useSurface } from '../context.ts';
import { hrefOf } from '../router.ts';
import { reloads, useStore } from '../store.ts';

interface ShownProps {
  readonly load: Load;
  /** What the page loads again for when it changes. */
  readonly inputs: readonly unknown[];
}

/** A report as any product would embed it: the element, what it loads, and the names of the seed. */
export function Shown({ load, inputs }: ShownProps): JSX.Element {
  const { names, precedes, tenant } = useSurface();
  const element = useRef<MasteryReportElement>(null);
  const reloaded = useStore(reloads);
  useEffect(() => {
    if (element.current === null) return;
    Object.assign(element.current, {
      names,
      precedes,
      hrefOf: (id: string) => hrefOf('report', { tenant: tenant?.tenantId, id }),
      load,
    });
  }, [...inputs, names, reloaded]);
  return h('mastery-report', { ref: element });
}
