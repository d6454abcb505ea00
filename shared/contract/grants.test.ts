import { describe, expect, it } from 'vitest';
import { keyPurposes } from '#shared/keys/key-ring.ts';
import { demandedVariablesOf, keyPurposesOf, variablesOfGrants } from './grants.ts';

describe('grants', () => {
  it('come with each variable once, however many of them need it', () => {
    expect(
      variablesOfGrants(['keys:pseudonym', 'records:read', 'keys:continuation', 'profiles:read']),
    ).toEqual(['SETTINGS_TABLE', 'RECORDS_TABLE', 'PROFILES_PATH']);
    expect(variablesOfGrants([])).toEqual([]);
  });

  it('demand all of these but the path of the service profiles, of which a function may have a single one', () => {
    expect(demandedVariablesOf(['profiles:read', 'control:write', 'keys:cursor'])).toEqual([
      'CONTROL_TABLE',
      'SETTINGS_TABLE',
    ]);
  });

  it('name every purpose of the key ring by its own name, and only those that are granted', () => {
    const grants = keyPurposes.map((purpose) => `keys:${purpose}` as const);
    expect(keyPurposesOf(grants)).toEqual(keyPurposes);
    for (const purpose of keyPurposes)
      expect(keyPurposesOf(['records:read', `keys:${purpose}`])).toEqual([purpose]);
    expect(keyPurposesOf(['records:read', 'control:write', 'profiles:read'])).toEqual([]);
  });
});
