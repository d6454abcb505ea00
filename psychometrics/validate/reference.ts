import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { schemaDefects } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { fileFailure } from '#tools/terminal/file-failure.ts';

/** The designs of cdCAT by the discrimination (low, high) and the variance of discrimination (low, high) of their items. */
export const designNames = ['HDLV', 'HDHV', 'LDLV', 'LDHV'] as const;
export type DesignName = (typeof designNames)[number];

const binary = z.union([z.literal(0), z.literal(1)]);
const success = z.number().gt(0).lt(1);
const byDesign = <T extends z.ZodType>(value: T) =>
  z.strictObject({ HDLV: value, HDHV: value, LDLV: value, LDHV: value });

/** `peers.json`: the figures in the peers' papers and programs. */
const peersFile = z.looseObject({
  cdmFits: z.looseObject({
    rows: z.array(
      z.looseObject({ data: z.string(), model: z.string(), logLikelihood: z.number(), parameters: z.int() }),
    ),
  }),
  cdcatK5: z.looseObject({
    'at0.8max50': byDesign(z.tuple([z.number(), z.number(), z.number()])),
    'patternAt0.9999max20': byDesign(z.number()),
  }),
});
export type Peers = z.output<typeof peersFile>;

/** `catr-eap.json`: items of the 4PL as (a, b, c, d), answers, and catR's results for them. */
const catrFile = z.array(
  z.strictObject({
    it: z.array(z.tuple([z.number().positive(), z.number(), success, success])).min(1),
    x: z.array(binary),
    eap: z.number(),
    sem: z.number().positive(),
  }),
);
export type CatrCase = z.output<typeof catrFile>[number];

/** `cdcat-k5-dina-<design>.json`: Q-matrix, (guess, slip) of the items, attributes and responses of the learners. */
const designFile = z.strictObject({
  Q: z.array(z.array(binary).length(5)).min(1),
  par: z.array(z.tuple([success, success])),
  alpha: z.array(z.array(binary).length(5)).min(1),
  resp: z.array(z.array(binary)),
});
export type Design = z.output<typeof designFile>;

/** The content of a folder of reference figures; `absent` lists the missing files. */
export interface Reference {
  readonly peers: Peers | undefined;
  readonly catr: readonly CatrCase[] | undefined;
  readonly designs: Readonly<Partial<Record<DesignName, Design>>>;
  readonly absent: readonly string[];
}

/** Reads the folder. Omits a file that does not exist; a file with another form is an error that names the place. */
export async function readReference(directory: string): Promise<Result<Reference, string>> {
  const absent: string[] = [];
  const read = async <T extends z.ZodType>(
    name: string,
    schema: T,
  ): Promise<Result<z.output<T> | undefined, string>> => {
    let text: string;
    try {
      text = await readFile(join(directory, name), 'utf8');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
        return err(`cannot read ${join(directory, name)}: ${fileFailure(error)}`);
      absent.push(name);
      return ok(undefined);
    }
    const parsed = parseStrictJson(text);
    if (!parsed.ok) return err(`${join(directory, name)} is no JSON: ${parsed.error.kind}`);
    const file = schema.safeParse(parsed.value);
    if (file.success) return ok(file.data);
    const [first] = schemaDefects(file.error);
    return err(`${join(directory, name)}: ${first?.pointer ?? ''} ${first?.message ?? ''}`);
  };
  const peers = await read('peers.json', peersFile);
  if (!peers.ok) return peers;
  const catr = await read('catr-eap.json', catrFile);
  if (!catr.ok) return catr;
  const designs: Partial<Record<DesignName, Design>> = {};
  for (const name of designNames) {
    const design = await read(`cdcat-k5-dina-${name}.json`, designFile);
    if (!design.ok) return design;
    if (design.value !== undefined) designs[name] = design.value;
  }
  return ok({ peers: peers.value, catr: catr.value, designs, absent });
}
