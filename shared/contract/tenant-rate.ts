/* What roles, settings and functions agree on about the count of a tenant's requests. */

/** The ids of all counts in the table `control` begin with it. */
export const COUNT_PREFIX = 'rate#';
/** The requests of a tenant are counted in windows of this length, aligned to the epoch: so all containers agree on them. */
export const RATE_WINDOW_S = 10;
