/* Every upstream operation and its schemas, one file per owner. The bundle of a function contains only the files of the owners that it names. */
export * from './owners/administration.ts';
export * from './owners/analytics.ts';
export * from './owners/bank.ts';
export * from './owners/caliper.ts';
export * from './owners/case.ts';
export * from './owners/content.ts';
export * from './owners/extmap.ts';
export * from './owners/oneroster.ts';
export * from './owners/qti.ts';
export * from './owners/results.ts';
export * from './owners/revision-orders.ts';
