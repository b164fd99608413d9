import { closestWord } from '../../lib/text.ts';
import { toError } from '../../lib/check.ts';
import { type Command, type CommandContext, type Flags, UsageError } from '../command.ts';
import { askExporter } from './ask-exporter.ts';
import { checkAppliance } from './check-appliance.ts';
import { checkConnections, checkFarms } from './check-farms.ts';
import { checkActivation, checkCertificates } from './check-validity.ts';
import type { Seen } from './exporter-reply.ts';
import { limitsOf } from './limits.ts';
import { exitCodes, lineOf, NothingKnown, type State, summarize, type CheckResult } from './check-result.ts';

/** Judges a reading; `glob` selects farms or certificates. */
type Check = (seen: Seen, glob: string) => CheckResult;

interface CheckKind {
  readonly takesName: boolean;
  readonly takesLimits: boolean;
  /** Reads the flags before anything is asked. */
  readonly prepare: (flags: Flags) => Check;
}

const withLimits = { takesName: true, takesLimits: true };

const checks: ReadonlyMap<string, CheckKind> = new Map<string, CheckKind>([
  ['appliance', { takesName: false, takesLimits: false, prepare: () => checkAppliance }],
  ['farm', { ...withLimits, prepare: (flags) => prepared(checkFarms, limitsOf(flags, 'at least')) }],
  ['connections', { ...withLimits, prepare: (flags) => prepared(checkConnections, limitsOf(flags, 'at most')) }],
  ['certificate', { ...withLimits, prepare: (flags) => prepared(checkCertificates, limitsOf(flags, 'at least')) }],
  [
    'activation',
    {
      takesName: false,
      takesLimits: true,
      prepare(flags) {
        const limits = limitsOf(flags, 'at least');
        return (seen) => checkActivation(seen, limits);
      },
    },
  ],
]);

function prepared<Given>(check: (seen: Seen, glob: string, given: Given) => CheckResult, given: Given): Check {
  return (seen, glob) => check(seen, glob, given);
}

/**
 * Judges an appliance by the readings of a running exporter, as a plug-in of a monitoring system:
 * one line, and an exit code from 0 to 3. Whatever goes wrong is UNKNOWN.
 */
export const plugin: Command = async (context) => {
  const { appliance, name, check } = readCall(context);
  const answer = (state: State, line: string): number => {
    context.say(line);
    return exitCodes[state];
  };
  try {
    const seen = await askExporter(context, appliance);
    const { state, line } = summarize(check(seen, name));
    // An exporter that has lost its configuration must not pass for one that watches.
    return answer(state, seen.isDemonstration ? line.replace(' - ', ' - simulated appliance: ') : line);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = toError(error);
    const isBug = !(error instanceof NothingKnown);
    return answer('UNKNOWN', lineOf('UNKNOWN', isBug ? `a mistake in the program itself: ${message}` : message));
  }
};

function readCall({ flags, arguments: words }: CommandContext) {
  const [word, appliance, name, ...rest] = words;
  const kind = checks.get(word ?? '');
  const names = [...checks.keys()];
  if (word === undefined || !kind) {
    const guess = closestWord(word ?? '', names);
    throw new UsageError(
      `${word === undefined ? 'which check?' : `there is no check ${JSON.stringify(word)};`} ${guess ? `did you mean ${guess}? ` : ''}they are ${names.join(', ')}`,
    );
  }
  if (!appliance) throw new UsageError(`of which appliance? plugin ${word} APPLIANCE, as the configuration names it`);
  if (rest.length > 0 || (name !== undefined && !kind.takesName))
    throw new UsageError(`plugin ${word} takes ${kind.takesName ? 'an appliance and a name' : 'only an appliance'}`);
  if (!kind.takesLimits && (flags.warning ?? flags.critical) !== undefined)
    throw new UsageError(`-w and -c do not go with plugin ${word}`);
  return { appliance, name: name ?? '*', check: kind.prepare(flags) };
}
