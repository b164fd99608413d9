/** A line of the exporter's log as the object that it is; undefined for lines that are none, such as warnings of Node.js. */
export function readLogEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
