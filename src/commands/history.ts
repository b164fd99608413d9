import { list, maybe, number, object, type Shaped, text } from '../lib/shape.ts';
import { changeText } from '../lib/text.ts';
import { isoTime } from '../lib/time.ts';
import { responseOf, readReply } from './ask-exporter.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { UnknownStateError } from './plugin/check-result.ts';
import { tableLines } from './table.ts';

const difference = { object: text, farm: text, service: text, name: text, setting: text };
/** The part of an event of `/api/history` that is printed. */
const HistoryEvent = object({
  appliance: text,
  farm: text,
  atMs: number,
  sinceMs: maybe(number),
  by: maybe(text),
  text: maybe(text),
  count: number,
  reversedMs: maybe(number),
  differences: list(object({ ...difference, before: maybe(text), after: maybe(text) })),
  unlisted: maybe(number),
});
const HistoryReply = object({ events: list(HistoryEvent), next: maybe(text), lost: maybe(number) });

const header = ['SEEN (UTC)', 'COUNT', 'WHERE', 'WHAT', 'BEFORE → AFTER', 'BY'];
/** The most events that are printed; a response has fewer of them if they are long. */
const limit = 1_000;

export const history: Command = async (context) => {
  const { flags, shell, printOut, printErr } = context;
  const query = queryFromWords(context);
  try {
    const history = await readAll(context, query);
    const { events, next, lost = 0 } = history;
    if (flags.json) await shell.write(Buffer.from(`${JSON.stringify(history)}\n`));
    else if (events.length === 0) printOut('No changes are known.');
    else tableLines(header, events.flatMap(rowsOf)).forEach((line) => printOut(line));
    if (next !== undefined) printErr(`only the newest ${events.length} events; name an appliance, or give --since`);
    if (lost > 0)
      printErr(
        `changes may be missing: since its start, the exporter could not keep ${lost} readings or events; see its log`,
      );
    return 0;
  } catch (error) {
    if (!(error instanceof UnknownStateError)) throw error;
    printErr(`zlb-exporter: ${error.message}; history --help explains --exporter.url and its flags`);
    return 1;
  }
};

/** More than the largest history has; the server may not be an exporter. */
const maxPages = 200;

/** Requests pages of events until it has all that is printed. */
async function readAll(
  context: CommandContext,
  query: Readonly<Record<string, string>>,
): Promise<Shaped<typeof HistoryReply>> {
  const events: Shaped<typeof HistoryEvent>[] = [];
  let next: string | undefined;
  let lost: number | undefined;
  for (let pages = 0; pages < maxPages && events.length < limit; pages += 1) {
    const { text } = await responseOf(context, '/api/history', {
      ...query,
      limit: String(limit - events.length),
      ...(next !== undefined && { before: next }),
    });
    const reply = readReply(HistoryReply, text);
    events.push(...reply.events);
    ({ next, lost } = reply);
    if (next === undefined) break;
  }
  return { events, next, lost };
}

function queryFromWords({ flags, arguments: words }: CommandContext): Readonly<Record<string, string>> {
  const query: Record<string, string> = { ...(flags.since && { since: flags.since }) };
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
function rowsOf(event: Shaped<typeof HistoryEvent>): readonly (readonly (string | undefined)[])[] {
  const { appliance, farm, count, by = '', text, differences, unlisted = 0 } = event;
  const where = (of: string): string => [appliance || 'the exporter', of].filter(Boolean).join('/');
  const times = count > 1 ? String(count) : '';
  if (differences.length === 0) return [[whenText(event), times, where(farm), text, '', by]];
  const rows = differences.map(({ object, service, name, ...each }, index) => [
    index === 0 ? whenText(event) : '',
    index === 0 ? times : '',
    where(each.farm || farm),
    `${object} ${name}${service && object !== 'service' ? ` of ${service}` : ''}`,
    `${changeText(each.setting, each.before, each.after)}${index === 0 ? reversedText(event) : ''}`,
    index === 0 ? by : '',
  ]);
  return unlisted > 0 ? [...rows, ['', '', where(farm), `and ${unlisted} more`, '', '']] : rows;
}

function whenText({ atMs, sinceMs }: Shaped<typeof HistoryEvent>): string {
  const [from, to] = [utc(sinceMs ?? atMs), utc(atMs)];
  return from === to ? to : `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`;
}

/** Returns when an alternating change was last seen in the other direction. */
function reversedText({ reversedMs }: Shaped<typeof HistoryEvent>): string {
  return reversedMs === undefined ? '' : ` (last reversed at ${utc(reversedMs)})`;
}

function utc(ms: number): string {
  return isoTime(ms)?.slice(0, 19).replace('T', ' ') ?? '-';
}
