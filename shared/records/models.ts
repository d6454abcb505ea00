/** The models and runtimes that this build can compute with. A calibration pins both; a runtime is never edited: a change is a new one. */
export const supportedModels = [
  { modelFamily: 'ho-cdm-grid', modelVersion: 'ho-cdm-grid/1', runtimeVersion: 'ho-cdm-grid-1' },
  { modelFamily: 'ho-cdm-block', modelVersion: 'ho-cdm-block/1', runtimeVersion: 'ho-cdm-block-1' },
] as const;

/** Returns the pins of a calibration that is made now: the oldest model that can express its parameters. */
export function modelOf({
  blocks,
}: {
  readonly blocks?: readonly unknown[] | undefined;
}): (typeof supportedModels)[number] {
  const [grid, block] = supportedModels;
  return blocks === undefined ? grid : block;
}

/** Returns whether this build contains the model and the exact runtime that a calibration pins. */
export function supportsModel(
  pins: Readonly<Record<keyof (typeof supportedModels)[number], string>>,
): boolean {
  return supportedModels.some(
    ({ modelFamily, modelVersion, runtimeVersion }) =>
      modelFamily === pins.modelFamily &&
      modelVersion === pins.modelVersion &&
      runtimeVersion === pins.runtimeVersion,
  );
}
