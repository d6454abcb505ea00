import { MasteryReportElement } from './element.ts';

export { MasteryReportElement, type Load } from './element.ts';
export type { ClassData, Fetched, Names, ReportData, ScaleEnds } from './data.ts';

declare global {
  interface HTMLElementTagNameMap {
    'mastery-report': MasteryReportElement;
  }
}

if (customElements.get('mastery-report') === undefined)
  customElements.define('mastery-report', MasteryReportElement);
