import type { Part } from './measure.ts';

/** All parts by name, in their order. Each is loaded when it runs: it measures with no other one in its memory, and the help is there at once. */
export const parts = {
  'next-item': async () => (await import('./engine/next-item.ts')).nextItemPart,
  peer: async () => (await import('./engine/peer.ts')).peerPart,
  priors: async () => (await import('./engine/priors.ts')).priorPart,
  replay: async () => (await import('./engine/replay.ts')).replayPart,
  'recovery-matrix': async () => (await import('./engine/recovery-matrix.ts')).recoveryMatrixPart,
  growth: async () => (await import('./engine/growth.ts')).growthPart,
  'adaptive-request': async () => (await import('./adaptive-request.ts')).adaptiveRequestPart,
  load: async () => (await import('./load.ts')).loadPart,
  simulation: async () => (await import('./simulation.ts')).simulationPart,
  report: async () => (await import('./reports.ts')).reportPart,
  'report-page': async () => (await import('./reports.ts')).pagePart,
  'report-function': async () => (await import('./reports.ts')).functionPart,
  alignment: async () => (await import('./alignment.ts')).alignmentPart,
  'improvement-run': async () => (await import('./improvement-run.ts')).improvementRunPart,
  'report-limit': async () => (await import('./report-limit.ts')).limitPart,
  continuation: async () => (await import('./wire.ts')).continuationPart,
  manifest: async () => (await import('./wire.ts')).manifestPart,
  bundles: async () => (await import('./bundles.ts')).bundlePart,
} satisfies Readonly<Record<string, () => Promise<Part>>>;

export type PartName = keyof typeof parts;

// SAFETY: the keys of the line above.
export const names = Object.keys(parts) as PartName[];
