import { markup } from './markup.ts';

/**
 * What all pages look like: system fonts, both colour schemes, also for print. `one` and `two` tell things apart in pictures. Contrasts of
 * text are at least 4.5 to 1 (WCAG 2.2, AA).
 */
export const baseStyle = markup`
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2024; --soft: #5b636b; --line: #d5dade; --panel: #f4f6f8; --one: #0b5cad; --two: #a84300; --good: #1c7a3d; --bad: #b3261e; --warn: #8a5a00; --band: #dcebdc; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --soft: #a3abb3; --line: #3a4148; --panel: #1d2226; --one: #6cb2ff; --two: #ff9d5c; --good: #6fd08c; --bad: #ff8a80; --warn: #f0c060; --band: #1f3527; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.9rem; } h2 { margin: 2.5rem 0 0.75rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.35rem; } h3 { margin: 1.5rem 0 0.5rem; font-size: 1.05rem; }
h1, li, p { overflow-wrap: anywhere; } th, td { overflow-wrap: break-word; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { padding: 0.25rem 0; color: var(--soft); text-align: left; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; } tbody th { font-weight: 500; }
td.number, th.number { text-align: right; white-space: nowrap; }
th:first-child { padding-left: 0; } th[scope="row"] { max-width: 22rem; }
svg.chart { display: block; width: 100%; max-width: 33rem; height: auto; margin: 1rem 0 0.25rem; overflow: visible; font: 13px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
svg.chart.wide { width: auto; max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.25rem; margin: 0 0 1rem; padding: 0; list-style: none; color: var(--soft); font-size: 0.9rem; }
.legend li::before { content: ""; display: inline-block; width: 1.4em; margin-right: 0.5em; vertical-align: middle; border-top: 2px solid var(--one); }
.legend .ink::before { border-color: var(--ink); } .legend .dashed::before { border-top-style: dashed; border-color: var(--two); } .legend .tick::before { width: 0; height: 1em; border: 0; border-left: 2px solid var(--ink); }
.legend .full::before, .legend .hollow::before { width: 0.65em; height: 0.65em; border: 2px solid var(--one); border-radius: 50%; background: var(--one); } .legend .hollow::before { border-color: var(--two); background: none; }
.legend .bar::before, .legend .band::before { height: 0.8em; border: 0; background: var(--one); opacity: 0.7; } .legend .band::before { background: var(--band); opacity: 1; }
.legend .above::before, .legend .below::before, .legend .outlined::before { width: 0.8em; height: 0.8em; border: 0; background: var(--two); } .legend .below::before { background: var(--one); } .legend .outlined::before { border: 2px solid var(--ink); background: none; }
@media print { body { max-width: none; } }
`;
