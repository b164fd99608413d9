import { type Static, Type } from 'typebox';
import { changeText } from '../lib/text.ts';
import { answerOf, readReply } from './ask-exporter.ts';
import type { Command, CommandContext } from './command.ts';
import { NothingKnown } from './plugin/check-result.ts';
import { tableLines } from './table.ts';
import { UsageError } from './usage-error.ts';

const [word, maybe] = [Type.String(), Type.Optional(Type.String())];
const time = Type.Number();
const place = { object: word, farm: word, service: word, name: word };
const differences = Type.Array(Type.Object({ ...place, setting: word, before: maybe, after: maybe }));
const told = { by: maybe, text: maybe, count: Type.Number(), differences };
/** The part of an event of `/api/history` that is printed. */
const Told = Type.Object({ appliance: word, farm: word, atMs: time, sinceMs: Type.Optional(time), ...told });
const Reply = Type.Object({ events: Type.Array(Told) });

const header = ['SEEN (UTC)', 'WHERE', 'WHAT', 'BEFORE → AFTER', 'BY'];
/** The most that the exporter gives. */
const limit = 1_000;

/** Prints what a running exporter has seen to change. */
export const history: Command = async (context) => {
  const { flags, shell, say, warn } = context;
  const query = readCall(context);
  try {
    const { text } = await answerOf(context, '/api/history', query);
    const { events } = readReply(Reply, text) as Static<typeof Reply>;
    if (flags.json) await shell.write(Buffer.from(`${text}\n`));
    else if (events.length === 0) say('No change is known.');
    else tableLines(header, events.flatMap(rowsOf)).forEach((line) => say(line));
    if (events.length === limit) warn(`only the newest ${limit} events; name an appliance, or give --since`);
    return 0;
  } catch (error) {
    if (!(error instanceof NothingKnown)) throw error;
    warn(`zlb-exporter: ${error.message}; history --help explains --exporter.url and its flags`);
    return 1;
  }
};

function readCall({ flags, arguments: words }: CommandContext): Readonly<Record<string, string>> {
  const query: Record<string, string> = { limit: String(limit), ...(flags.since && { since: flags.since }) };
  for (const each of words) {
    const [, farm] = /^farm=(.+)$/.exec(each) ?? [];
    const name = farm === undefined ? 'appliance' : 'farm';
    if (name in query || (farm === undefined && each.includes('=')))
      throw new UsageError('history takes one appliance and one farm: zlb-exporter history APPLIANCE farm=NAME');
    query[name] = farm ?? each;
  }
  return query;
}

/** Returns a row for each difference; the first one has what they share. */
function rowsOf({ appliance, farm, atMs, sinceMs, by, text, count, differences }: Static<typeof Told>) {
  const where = (of: string): string => [appliance || 'the exporter', of].filter(Boolean).join('/');
  const [from, to] = [utc(sinceMs ?? atMs), utc(atMs)];
  const when = from === to ? to : `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`;
  const author = [by ?? '', count > 1 ? `${count} times` : ''].filter(Boolean).join(', ');
  if (differences.length === 0) return [[when, where(farm), text, '', author]];
  return differences.map(({ object, service, name, ...each }, index) => [
    index === 0 ? when : '',
    where(each.farm || farm),
    `${object} ${name}${service && object !== 'service' ? ` of ${service}` : ''}`,
    changeText(each.setting, each.before, each.after),
    index === 0 ? author : '',
  ]);
}

function utc(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '-' : date.toISOString().slice(0, 19).replace('T', ' ');
}
