import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entityNames } from '#local/platform/entities.ts';
import { faultKinds } from '#local/platform/faults.ts';

const FILE = join(import.meta.dirname, '../../docs/platform-contracts.md');

describe('docs/platform-contracts.md', () => {
  it('names every kind of fault and of entity, and no other', async () => {
    const page = await readFile(FILE, 'utf8');
    const rowsUnder = (heading: string): string[] => {
      const section = page.slice(page.indexOf(heading)).split(/\n#+ /)[0]!;
      return [...section.matchAll(/^\| `([\w.]+)`/gm)].map((match) => match[1]!);
    };
    expect(rowsUnder('### Faults')).toEqual([...faultKinds]);
    expect(rowsUnder('### Entities\n').filter((name) => name !== 'entity')).toEqual([...entityNames]);
  });
});
