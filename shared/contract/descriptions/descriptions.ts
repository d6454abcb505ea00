import type { ServiceName } from '#shared/contract/route.ts';
import { masteryDescriptions } from './mastery.ts';
import { reportsDescriptions } from './reports.ts';
import type { Descriptions } from './text.ts';

/** The texts of every service's documents. */
export const descriptions: Readonly<Record<ServiceName, Descriptions>> = {
  mastery: masteryDescriptions,
  reports: reportsDescriptions,
};
