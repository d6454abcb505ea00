import * as z from 'zod';
import { published, releaseCatalog } from '#shared/catalog/schema.ts';

/** The JSON Schema (draft 2020-12) of the release catalog, made of the schemas that check it. */
export function renderCatalogSchema(): unknown {
  return z.toJSONSchema(releaseCatalog, { target: 'draft-2020-12', metadata: published, io: 'input' });
}
