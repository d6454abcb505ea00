/** The `Cache-Control` of every response: no cache stores it, no proxy compresses it, which would weaken its entity tag (RFC 9110 section 7.7). */
export const CACHE_CONTROL = 'no-store, no-transform';
