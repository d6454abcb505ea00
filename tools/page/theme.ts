import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The style sheet that every page of the project begins with. */
export const theme = readFileSync(join(import.meta.dirname, 'theme.css'), 'utf8');
