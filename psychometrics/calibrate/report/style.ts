import { markup } from '#tools/page/markup.ts';

/** The report's additions to the common style sheet. */
export const style = markup`
header p { margin: 0.25rem 0 1rem; color: var(--soft); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; }
a { color: var(--one); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 0.75rem; margin: 0; }
.cards div { padding: 0.6rem 0.8rem; border-radius: 0.5rem; background: var(--panel); }
.cards dt { color: var(--soft); font-size: 0.85rem; } .cards dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
.warnings { padding-left: 2rem; border-left: 4px solid var(--warn); }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--one); }
@media print { nav, summary { display: none; } }
`;
