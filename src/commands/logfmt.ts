import type { DestinationStream } from 'pino';

/** Rewrites pino's JSON lines as logfmt, as the exporters of the Prometheus project print them. */
export function createLogfmtStream(output: { write(text: string): unknown }): DestinationStream {
  return {
    write(line) {
      const fields = Object.entries(JSON.parse(line) as Record<string, unknown>);
      output.write(`${fields.map(([name, value]) => `${name}=${quoted(value)}`).join(' ')}\n`);
    },
  };
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w.:/+-]+$/.test(text) ? text : JSON.stringify(text);
}
