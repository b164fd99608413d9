import type { CommandContext } from '../command.ts';
import { askRunning, readReply } from '../running-exporter.ts';
import { NothingKnown } from './check-result.ts';
import { ExporterReply, type Seen } from './exporter-reply.ts';

/** Clocks of two machines may differ as much. */
const maxDifferenceMs = 300_000;

/** Asks a running exporter about an appliance; throws NothingKnown if it does not say. */
export async function askExporter(context: CommandContext, appliance: string): Promise<Seen> {
  const { url, text, date } = await askRunning(context, '/api/status', { appliance });
  // The ages of readings are by the clock of the exporter.
  return { ...read(text, appliance), nowMs: clockOf(date, url) };
}

/** Returns the exporter's time; throws NothingKnown for that of an answer which a proxy repeats. */
function clockOf(date: string, { origin }: URL): number {
  const saidMs = Date.parse(date);
  if (Number.isNaN(saidMs)) return Date.now();
  const differenceMs = Math.abs(Date.now() - saidMs);
  if (differenceMs <= maxDifferenceMs) return saidMs;
  throw new NothingKnown(
    `the answer of ${origin} is of ${new Date(saidMs).toISOString()}: a proxy repeats an old one, or a clock is wrong`,
  );
}

function read(text: string, name: string): Omit<Seen, 'nowMs'> {
  const { appliances, demonstration } = readReply(ExporterReply, text) as ExporterReply;
  const appliance = appliances.find((each) => each.name === name);
  if (!appliance) throw new NothingKnown(`the exporter does not watch an appliance ${name}`);
  return { appliance, isDemonstration: demonstration };
}
