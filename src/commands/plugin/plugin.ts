import { closestWord } from '../../lib/text.ts';
import { toError } from '../../lib/check.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { askExporter } from '../ask-exporter.ts';
import { judgeAppliance } from './check-appliance.ts';
import { judgeConnections, judgeFarms } from './check-farms.ts';
import { judgeActivation, judgeCertificates } from './check-validity.ts';
import type { SeenAppliance } from './exporter-reply.ts';
import {
  type CheckResult,
  exitCodes,
  type GoodValues,
  type Thresholds,
  parseThresholds,
  UnknownStateError,
  type Summary,
  summarize,
} from './check-result.ts';

interface Check {
  readonly takesName?: true;
  /** The values that -w and -c call good; undefined if the check does not take them. */
  readonly good?: GoodValues;
  /** Judges a reading; `glob` selects farms or certificates. */
  readonly judge: (seen: SeenAppliance, glob: string, thresholds: Thresholds) => CheckResult;
}

export const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['appliance', { judge: judgeAppliance }],
  ['farm', { takesName: true, good: 'at least', judge: judgeFarms }],
  ['connections', { takesName: true, good: 'at most', judge: judgeConnections }],
  ['certificate', { takesName: true, good: 'at least', judge: judgeCertificates }],
  ['activation', { good: 'at least', judge: (seen, _, thresholds) => judgeActivation(seen, thresholds) }],
]);

/**
 * Judges an appliance by the readings of a running exporter, as a plug-in of a monitoring system:
 * a line, what did not fit into it, and an exit code from 0 to 3. Whatever goes wrong is UNKNOWN.
 */
export const plugin: Command = async (context) => {
  const { appliance, judge } = parseWords(context);
  const print = ({ state, lines }: Summary): number => {
    for (const line of lines) context.printOut(line);
    return exitCodes[state];
  };
  try {
    const seen = await askExporter(context, appliance);
    // An exporter that has lost its configuration must not pass for one that watches.
    const prefix = seen.isDemonstration ? 'simulated appliance: ' : '';
    return print(
      summarize(judge(seen), { prefix, isVerbose: context.flags.verbose === true, asked: seen.asked ?? [] }),
    );
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = toError(error);
    const isBug = !(error instanceof UnknownStateError);
    const text = isBug ? `internal error: ${message}` : message;
    return print(summarize({ findings: [{ state: 'UNKNOWN', text }], okText: '', performanceData: [] }));
  }
};

/** Reads the words and flags before anything is asked. */
function parseWords({ flags, arguments: words }: CommandContext) {
  const [word, appliance, name, ...rest] = words;
  const check = checks.get(word ?? '');
  if (word === undefined || !check) {
    const names = [...checks.keys()];
    const guess = closestWord(word ?? '', names);
    throw new UsageError(
      `${word === undefined ? 'the check is missing;' : `there is no check ${JSON.stringify(word)};`} ${guess ? `did you mean ${guess}? ` : ''}they are ${names.join(', ')}`,
    );
  }
  const { takesName, good, judge } = check;
  if (!appliance)
    throw new UsageError(`the appliance is missing: plugin ${word} APPLIANCE, as the configuration names it`);
  if (rest.length > 0 || (name !== undefined && !takesName))
    throw new UsageError(`plugin ${word} takes ${takesName ? 'an appliance and a name' : 'only an appliance'}`);
  if (!good && (flags.warning ?? flags.critical) !== undefined)
    throw new UsageError(`-w and -c are not valid with plugin ${word}`);
  const thresholds = parseThresholds(flags, good ?? 'at least');
  return { appliance, judge: (seen: SeenAppliance) => judge(seen, name ?? '*', thresholds) };
}
