/**
 * The look of the element. The page sets `--mastery-report-…` and styles the parts; light or dark follows the `color-scheme` of the page. Texts
 * have a contrast of at least 4.5 to 1, and every colour goes with a sign or a word.
 */
export const style = `
:host {
  --ink: var(--mastery-report-ink, light-dark(#1c2024, #e6e9ec));
  --soft: var(--mastery-report-soft, light-dark(#565e66, #a9b1b9));
  --line: var(--mastery-report-line, light-dark(#d5dade, #3a4148));
  --panel: var(--mastery-report-panel, light-dark(#f4f6f8, #1d2226));
  --paper: var(--mastery-report-paper, light-dark(#ffffff, #14171a));
  --accent: var(--mastery-report-accent, light-dark(#0b5cad, #6cb2ff));
  --good: var(--mastery-report-good, light-dark(#1c7a3d, #6fd08c));
  --bad: var(--mastery-report-bad, light-dark(#b3261e, #ff8a80));
  --good-zone: light-dark(#cfe8d3, #1f4a2c);
  --bad-zone: light-dark(#f6d5d1, #5a2925);
  display: block;
  color: var(--ink);
  background: var(--paper);
  font: var(--mastery-report-font, 1rem/1.55 system-ui, sans-serif);
  container-type: inline-size;
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
h2 { margin: 0; font-size: 1.6em; }
h3 { margin: 0 0 0.5rem; font-size: 1.15em; }
h4, .audit h3 { margin: 1.25rem 0 0.35rem; font-size: 1em; }
p { margin: 0.35rem 0; max-width: 44rem; }
/* A text has its own direction, whatever that of the page; only its place follows the page. */
h2, h3, h4, p, li, td, th, summary { overflow-wrap: anywhere; unicode-bidi: plaintext; text-align: inherit; }
:host(:dir(rtl)) { text-align: right; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.verdict { padding-block-end: 0.75rem; }
.sign { margin-inline-end: 0.2em; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.open { color: var(--ink); }
.quiet, .lines { color: var(--soft); font-size: 0.875em; }
.teacher { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.teacher > .wide, .teacher > :first-child:has(+ .wide) { grid-column: 1 / -1; }
.panel { padding: 0.9rem 1.1rem; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--panel); }
.next { border-inline-start: 0.3rem solid var(--accent); }
.note { margin-block: 1rem; }
.note h3 { display: inline; margin: 0; font-size: 1em; }
.note p { display: inline; max-width: none; }
.sure { margin-block-start: 1.5rem; padding-block-start: 1rem; border-block-start: 1px solid var(--line); }
.sure > .sections { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 1fr); }
.audit { margin-block-start: 1.5rem; border-block-start: 1px solid var(--line); padding-block-start: 0.75rem; }
summary { cursor: pointer; font-weight: 600; }
ul, ol { margin: 0.4rem 0; padding-inline-start: 1.4em; }
ul.plain { padding: 0; list-style: none; }
li { margin-block: 0.3rem; }
li .lines p { margin: 0; }
.bars > li { margin-block: 0.8rem; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
.state { white-space: normal; }
svg { display: block; overflow: visible; direction: ltr; }
.axis .track { fill: var(--line); }
.axis .zone.good { fill: var(--good-zone); }
.axis .zone.bad { fill: var(--bad-zone); }
.axis .zone.open { fill: var(--line); }
.axis .edge { stroke: var(--paper); stroke-width: 2; }
.axis .band { fill: var(--accent); fill-opacity: 0.45; }
.axis .value { stroke: var(--ink); stroke-width: 4; }
.axis .threshold { stroke: var(--soft); stroke-width: 2; stroke-dasharray: 3 2; }
.tick { fill: var(--soft); font-size: 0.75rem; }
.timeline { margin-block: 0.5rem; }
.timeline .grid { stroke: var(--line); }
.timeline .error { stroke: var(--accent); stroke-width: 8; stroke-opacity: 0.4; stroke-linecap: round; }
.timeline .dot { fill: var(--accent); }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.9em; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { padding: 0.35rem 0.6rem; border-block-end: 1px solid var(--line); vertical-align: top; }
td .good, td .bad, td .open { white-space: nowrap; }
thead th { color: var(--soft); vertical-align: bottom; min-width: 4.5rem; overflow-wrap: break-word; hyphens: auto; }
tbody th { font-weight: 600; position: sticky; inset-inline-start: 0; background: var(--panel); }
.audit tbody th { position: static; background: none; font-weight: 400; }
.audit table { overflow-wrap: anywhere; }
button {
  padding: 0.4rem 0.9rem; border: 1px solid var(--soft); border-radius: 0.4rem;
  background: var(--paper); color: var(--ink); font: inherit; cursor: pointer;
}
.failure { border-color: var(--bad); }
@container (min-width: 44rem) {
  .bars > li { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.3fr); gap: 0 1.5rem; align-items: center; }
  .bars .lines { grid-column: 1; }
  .bars .axis { grid-column: 2; grid-row: 1 / span 2; }
}
@media (prefers-reduced-motion: no-preference) { button { transition: border-color 0.15s; } }
button:hover { border-color: var(--accent); }
@media (forced-colors: active) {
  .axis .track, .axis .zone { fill: Canvas; stroke: CanvasText; }
  .axis .zone.open { fill: GrayText; fill-opacity: 0.4; }
  .axis .zone.bad { fill: GrayText; }
  .axis .band, .timeline .dot { fill: Highlight; }
  .axis .value, .axis .threshold, .axis .edge, .timeline .error { stroke: CanvasText; }
  .tick { fill: CanvasText; }
}
@media print {
  :host { color-scheme: light; font-size: 10pt; }
  button { display: none; }
  .scroll { overflow: visible; }
  li, tr, .panel, figure { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  tbody th { position: static; }
  .audit table { table-layout: fixed; font-size: 6pt; }
  svg { print-color-adjust: exact; }
}
`;
