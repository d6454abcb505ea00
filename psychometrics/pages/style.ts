import { theme } from '#tools/page/theme.ts';
import { markup, styleSheet } from '#tools/page/markup.ts';

/** The common style of all pages of the studies: the theme, charts and their legends. */
export const baseStyle = markup`${styleSheet(theme)}
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; }
tbody th { font-weight: 500; } th[scope="row"] { max-width: 22rem; }
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
