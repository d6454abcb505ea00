/** The report's style sheet: system fonts, both colour schemes, also for print. Contrasts of text are at least 4.5 to 1 (WCAG 2.2, AA). */
export const style = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2024; --soft: #5b636b; --line: #d5dade; --panel: #f4f6f8; --one: #0b5cad; --two: #a84300; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --soft: #a3abb3; --line: #3a4148; --panel: #1d2226; --one: #6cb2ff; --two: #ff9d5c; --warn: #f0c060; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.9rem; } h2 { margin: 2.5rem 0 0.75rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.35rem; } h3 { margin: 1.5rem 0 0.5rem; font-size: 1.05rem; }
header p { margin: 0.25rem 0 1rem; color: var(--soft); }
h1, th, td, li, p { overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; }
a { color: var(--one); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 0.75rem; margin: 0; }
.cards div { padding: 0.6rem 0.8rem; border-radius: 0.5rem; background: var(--panel); }
.cards dt { color: var(--soft); font-size: 0.85rem; } .cards dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
.warnings { padding-left: 1rem; border-left: 4px solid var(--warn); list-style-position: inside; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { padding: 0.25rem 0; color: var(--soft); text-align: left; }
th, td { padding: 0.2rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; } tbody th { font-weight: 500; }
td.number, th.number { text-align: right; white-space: nowrap; }
th[scope="row"] { max-width: 22rem; }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--one); }
svg { display: block; max-width: 100%; height: auto; margin: 1rem 0; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .tick { fill: var(--soft); font-size: 11px; } svg .label { fill: var(--soft); } svg .panel { font-weight: 600; }
svg .grid { stroke: var(--line); stroke-width: 1; } svg .span { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 1 3; }
svg .whisker { stroke: var(--ink); stroke-width: 1.2; fill: none; } svg .pattern { stroke: var(--soft); stroke-width: 1.5; }
svg .hollow { fill: var(--paper); stroke: var(--two); stroke-width: 2; } svg .full { fill: var(--one); stroke: var(--one); }
svg .bar { fill: var(--one); fill-opacity: 0.45; } svg .mark { stroke: var(--ink); stroke-width: 2; }
svg .curve { fill: none; stroke: var(--two); stroke-width: 2; } svg .dashed { stroke-dasharray: 5 4; } svg .mark.dashed { stroke-width: 1; stroke: var(--soft); } svg .curve.dashed { stroke: var(--ink); }
svg .above { fill: var(--two); } svg .below { fill: var(--one); } svg .outlined { stroke: var(--ink); stroke-width: 1.8; } svg .framed { stroke: var(--line); stroke-width: 1; }
@media print { body { max-width: none; } nav, summary { display: none; } }
`;
