import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useCommands } from '#test/support/commands.ts';

const command = useCommands();
const validate = (...args: readonly string[]) => command('psychometrics/validate.ts', args);

/** The EAP of catR, by its definition: 41 nodes, trapezoids under a normal density. */
function eapByDefinition(items: readonly (readonly number[])[], answers: readonly number[]) {
  const nodes = Array.from({ length: 41 }, (_, g) => -4 + g / 5);
  const weights = nodes.map((t, g) => {
    const likelihood = items.reduce((product, [a = 0, b = 0, c = 0, d = 0], j) => {
      const correct = c + (d - c) / (1 + Math.exp(-a * (t - b)));
      return product * (answers[j] === 1 ? correct : 1 - correct);
    }, 1);
    return (g === 0 || g === 40 ? 0.5 : 1) * Math.exp((-t * t) / 2) * likelihood;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (value: (t: number) => number): number =>
    nodes.reduce((sum, t, g) => sum + weights[g]! * value(t), 0) / total;
  const eap = mean((t) => t);
  return { eap, sem: Math.sqrt(mean((t) => (t - eap) ** 2)) };
}

const items = [
  [1.2, -0.5, 0.2, 0.9],
  [0.8, 0.7, 0.1, 0.95],
  [1.5, 0.1, 0.05, 0.8],
];
const answers = [1, 0, 1];
const attributes = [0, 1, 2, 3, 4];
/** Ten items on each attribute that say everything at once. */
const sharp = {
  Q: attributes.flatMap((k) =>
    Array.from({ length: 10 }, () => attributes.map((other) => Number(other === k))),
  ),
  par: Array.from({ length: 50 }, () => [0.00001, 0.00001]),
  alpha: [
    [1, 0, 1, 0, 1],
    [0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1],
  ],
};
const design = { ...sharp, resp: sharp.alpha.map((own) => sharp.Q.map((_, j) => own[Math.floor(j / 10)])) };
const perfect = { HDLV: [1, 1, 5], HDHV: [1, 1, 5], LDLV: [1, 1, 5], LDHV: [1, 1, 5] };
const peers = {
  cdmFits: { rows: [{ data: 'a survey (10 x 5, K 2)', model: 'DINA', logLikelihood: -12.5, parameters: 8 }] },
  cdcatK5: { 'at0.8max50': perfect, 'patternAt0.9999max20': { HDLV: 1, HDHV: 1, LDLV: 1, LDHV: 1 } },
};

let folder: string;
const write = (name: string, value: unknown): void => {
  writeFileSync(join(folder, name), JSON.stringify(value));
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validate-'));
  write('catr-eap.json', [{ it: items, x: answers, ...eapByDefinition(items, answers) }]);
  write('peers.json', peers);
  write('cdcat-k5-dina-HDLV.json', design);
});

describe('npm run validate', () => {
  it('passes what agrees, with both figures, and names everything that it could not check', async () => {
    const out = join(folder, 'a', 'b');
    const { code, stdout, stderr } = await validate('--data', folder, '--out', out);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^passed /gm)).toHaveLength(12);
    expect(stdout).toContain('HDLV, table, each attribute at 0.8: items');
    expect(stdout).toContain('not checked  cdcat-k5-dina-LDHV.json: the folder does not contain this file');
    expect(stdout).toContain(
      'not checked  CDM, DINA: a survey (10 x 5, K 2): the folder does not contain these responses',
    );
    expect(stdout).toContain('12 of 12 lines passed, 4 not checked');
    const html = readFileSync(join(out, 'validation.html'), 'utf8');
    expect(html.match(/<svg [^>]*role="img"/g)).toHaveLength(2);
    expect(html.match(/class="passed"/g)).toHaveLength(12);
    expect(html).toContain('cdcat-k5-dina-LDHV.json');
    expect(html).not.toContain('NaN');
  });

  it('fails the lines that do not agree, and exits 1', async () => {
    const { eap, sem } = eapByDefinition(items, answers);
    write('catr-eap.json', [{ it: items, x: answers, eap: eap + 2e-9, sem }]);
    write('peers.json', {
      ...peers,
      cdcatK5: { ...peers.cdcatK5, 'at0.8max50': { ...perfect, HDLV: [1, 0.97, 5.7] } },
    });
    const { code, stdout, stderr } = await validate('--data', folder);
    expect([code, stderr]).toEqual([1, '6 of 12 lines failed\n']);
    expect(stdout.match(/^failed {2}\S+ \S+ .*$/gm)).toHaveLength(6);
    expect(stdout).toMatch(
      /^failed {2}cdCAT HDLV, curves, each attribute at 0.8: items .*ours 5.000 {2}theirs 5.700/m,
    );
  });

  it('exits with 1 when there is nothing to compare, or a file has another form, and names it', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    expect(await validate('--data', empty)).toMatchObject({
      code: 1,
      stderr: `${empty} contains nothing to compare: it needs at least one of the files of docs/validate.md\n`,
    });
    write('peers.json', { ...peers, cdcatK5: {} });
    const { code, stderr } = await validate('--data', folder);
    expect(code).toBe(1);
    expect(stderr).toContain('peers.json: /cdcatK5');
    writeFileSync(join(folder, 'peers.json'), '{');
    expect((await validate('--data', folder)).stderr).toContain('peers.json is no JSON');
  });

  it('wants a folder', async () => {
    expect(await validate()).toMatchObject({ code: 2, stdout: '' });
  });
});
