import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const stack = z.object({ awsUrl: z.url() });

/** The address of the AWS double of the stack that `npm start` runs in this folder; undefined when none runs. Throws when the file is not one. */
export function runningAwsUrl(folder: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, '.local', 'stack.json'), 'utf8');
  } catch {
    return undefined;
  }
  return stack.parse(JSON.parse(text)).awsUrl;
}
