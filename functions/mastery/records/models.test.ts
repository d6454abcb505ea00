import { describe, expect, it } from 'vitest';
import { runtimeVersions } from '#functions/mastery/engine/index.ts';
import { supportedModels } from '#shared/records/models.ts';

describe('supportedModels', () => {
  it('are exactly the runtimes that the engine holds: no calibration is released that no run can use, or the other way round', () => {
    expect(supportedModels.map((model) => model.runtimeVersion).toSorted()).toEqual(
      runtimeVersions().toSorted(),
    );
  });
});
