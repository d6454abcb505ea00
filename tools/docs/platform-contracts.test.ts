import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entityNames } from '#local/platform/entities.ts';
import { faultKinds } from '#local/platform/faults.ts';
import { renderContracts } from './platform-contracts.ts';

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

describe('the rendered contracts', () => {
  it('show optional members, limits and what is not tolerated', () => {
    const text = renderContracts();
    expect(text).toContain('  root?: {\n    packageId: string;');
    expect(text).toContain('state: "queued" | "running" | "succeeded" | "failed";');
    expect(text).toContain('posteriorProbability: number /* at least 0, at most 1 */;');
    expect(text).toContain(
      'POST `/core/results/v1/result-records/{resultRecordId}/components` | gap: assumed',
    );
    expect(text).toContain('GET `/caliper/v1p2/events?eventIri={eventIri}`');
    // An assumption about an operation that the owner publishes otherwise.
    expect(text).toContain('POST `/tenants/{tenantId}/qti/delivery-sessions` | bound, with an assumption |');
    expect(text).toMatch(/Assumed until the owner publishes it: [^\n]* same `runTag`/);
    expect(text).toContain('runTag?: string');
    // What may be left out, in the notation of RFC 6570.
    expect(text).toContain('{candidateSourcedId}/attempts?limit={limit}{&qtiTestId,modifiedSince,');
  });

  it('show every shape whole: named parts in their places, and all of an answer that is looked at in two steps', () => {
    const text = renderContracts();
    expect(text).toContain('candidateSourcedId: string /* PlatformReference */;');
    expect(text).toContain('scoredAt: string /* Instant, date-time */;');
    expect(text).toContain('minimum: number | null;');
    expect(text).toContain('scope: {\n    type: "class";');
    const [evidence = ''] = text.split('\nqti.read_attempt_evidence. ')[1]!.split('\n## ');
    for (const member of ['administrationId', 'contentTestSpecVersion', 'resultRecordVersion', 'outcomes'])
      expect(evidence).toContain(`\n  ${member}: `);
  });
});
