/** Returns the value of a JSON text; undefined, which no JSON text has as its value, if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
