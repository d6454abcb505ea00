import type { readScaleCalibration } from '#shared/contract/mastery/routes/read-scale-calibration.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { deprecationHeaders } from '#shared/records/deprecation.ts';
import type { RecordDependencies } from '../support/dependencies.ts';

/**
 * Returns the public descriptor of one immutable calibration by its exact id [MA-175], without reading its parameters [MA-123]. An absent calibration
 * and another tenant's return the same 404 [MA-176]. 422 only if the stored descriptor fails its checksum; an expired one stays readable [MA-177].
 */
export function readScaleCalibrationOperation({
  store,
  deprecationUrl,
}: RecordDependencies): Operation<typeof readScaleCalibration> {
  return async ({ principal, path }) => {
    const entry = await store.calibration(principal.tenantId, path.calibrationId);
    if (!entry.ok) {
      return err(
        problem('mastery', 'calibration-invalid', 422, {
          detail: 'The stored calibration does not match its checksum.',
          headers: deprecationHeaders(entry.error.lifecycle, deprecationUrl),
        }),
      );
    }
    if (entry.value === undefined) return err(problem('mastery', 'resource-not-found', 404));
    const { document, lifecycle } = entry.value;
    return ok({ body: document, headers: deprecationHeaders(lifecycle, deprecationUrl) });
  };
}
