import type { EndpointRow } from '../../appliance/endpoints/row.ts';
import { endpoints } from '../../appliance/endpoints/table.ts';
import type { CommandContext } from '../command.ts';
import { tableLines } from './table.ts';

/** Lists the operations in which every word occurs; needs no gateway. */
export async function listOperations(
  words: readonly string[],
  { flags, say, shell }: Pick<CommandContext, 'flags' | 'say' | 'shell'>,
): Promise<void> {
  const wanted = words.map((word) => word.toLowerCase());
  const found = Object.entries(endpoints)
    .map(([key, { route, risk, body, summary }]: [string, EndpointRow]) => ({ key, route, risk, body, summary }))
    .filter((row) => {
      const text = Object.values(row).join(' ').toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  if (flags.json === true) {
    await shell.write(Buffer.from(`${JSON.stringify({ operations: found })}\n`));
    return;
  }
  const rows = found.map(({ key, route, risk, body, summary }) => [key, route, risk, body, summary]);
  for (const line of tableLines(['operation', 'route', 'risk', 'body', 'about'], rows)) say(line);
  say('');
  say(`${found.length} of ${Object.keys(endpoints).length} operations.`);
}
