/*
 * Replaces `@smithy/core/event-streams` in bundles. The SDK imports it dynamically, so that all of its 150 modules stay, and no operation that the
 * functions call streams events: only S3's SelectObjectContent and the like do.
 */

function unused(): never {
  throw new Error('the bundles leave out event streams: tools/bundling/event-streams.ts');
}

/** Returns the configuration of a client as it is; without event streams there is nothing to add. */
export function resolveEventStreamSerdeConfig<T>(config: T): T {
  return config;
}

/** Throws: no operation in use asks for a marshaller of events. */
export const eventStreamSerdeProvider = unused;

/** The same in place of a class. */
export const EventStreamSerde = unused;
