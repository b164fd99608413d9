import { endpoints } from '../../appliance/api/table.ts';
import { closestWord } from '../../lib/text.ts';
import { errorCode } from '../../lib/check.ts';
import { sleep } from '../../lib/time.ts';
import { type Command, type CommandContext, type Flags, type Shell, UsageError } from '../command.ts';
import { adminHelp } from '../help.ts';
import { quotable } from './words.ts';
import { callOperation, operationFlags } from './call-operation.ts';
import {
  appliances,
  freeze,
  frozen,
  listOperations,
  parameters,
  readAudit,
  unfreeze,
  whoami,
} from './built-in-commands.ts';
import { recipes } from './recipes.ts';
import { recipeFlags, runRecipe } from './run-recipe.ts';
import { requestCommandOf, requestFlags } from './requests.ts';
import { type AdminParts, type AdminSession, withSession } from './session.ts';

interface BuiltIn {
  readonly flags: readonly string[];
  readonly takesWords?: true;
  /** Resolves to the exit code; undefined is 0. */
  readonly run: (words: readonly string[], session: AdminSession) => Promise<number | void>;
}

const builtIns: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['appliances', { flags: ['json'], run: (_, session) => appliances(session) }],
  ['whoami', { flags: ['json'], run: (_, session) => whoami(session) }],
  ['parameters', { flags: ['json'], takesWords: true, run: parameters }],
  [
    'audit',
    {
      flags: ['json', 'limit', 'principal', 'appliance', 'operation', 'event'],
      run: (_, session) => readAudit(session),
    },
  ],
  ['frozen', { flags: ['json'], run: (_, session) => frozen(session) }],
  ['freeze', { flags: ['json', 'reason'], run: (_, session) => freeze(session) }],
  ['unfreeze', { flags: ['json', 'reason'], run: (_, session) => unfreeze(session) }],
]);

/** Creates the command that sends requests to the admin gateway of a running exporter. */
export function createAdmin(parts: AdminParts): Command {
  return async (context) => {
    try {
      return await runAdmin(context, parts);
    } finally {
      await flush(context.shell);
    }
  };
}

async function runAdmin(context: CommandContext, parts: AdminParts): Promise<number> {
  const { arguments: given, flags, say } = context;
  const [first, ...rest] = given;
  if (first === undefined) {
    say(adminHelp);
    return 0;
  }
  if (first === 'operations') {
    refuseFlags(flags, ['json'], 'admin operations');
    await listOperations(rest, context);
    return 0;
  }
  return await withSession(context, parts, taskOf(first, rest, flags));
}

/** Waits until standard output has taken everything, because the process ends without a flush. */
async function flush({ write }: Shell): Promise<void> {
  try {
    await write(new Uint8Array());
  } catch (error) {
    // The reader of a pipe may close it early, as `head` does.
    if (!/^(?:EPIPE|ERR_STREAM_DESTROYED)$/.test(errorCode(error))) throw error;
  }
}

export const admin: Command = createAdmin({ now: Date.now, sleep });

type Task = (session: AdminSession) => Promise<number | void>;

/**
 * Returns what the words ask for; throws a UsageError when the words and flags do not go together.
 */
function taskOf(first: string, rest: readonly string[], flags: Flags): Task {
  if (first === 'requests') {
    const command = requestCommandOf(rest);
    refuseFlags(flags, command.flags, command.name);
    return command.run;
  }
  const builtIn = builtIns.get(first);
  if (builtIn) {
    refuseFlags(flags, builtIn.flags, `admin ${first}`);
    if (rest.length > 0 && !builtIn.takesWords)
      throw new UsageError(`admin ${first} takes no more words; an appliance of that name cannot be reached this way`);
    return (session) => builtIn.run(rest, session);
  }
  const [second, ...values] = rest;
  const misspelt = closestWord(first, [...builtIns.keys(), 'operations', 'requests']);
  if (second === undefined)
    throw new UsageError(
      `admin ${JSON.stringify(quotable(first))} is not complete; ${misspelt ? `did you mean admin ${misspelt}? Otherwise ` : ''}add an operation or a recipe after the name of an appliance, see admin --help`,
    );
  const recipe = recipes.find(({ name }) => name === second);
  if (recipe) {
    if (flags.request === true) refuseFlags(flags, requestFlags, `a request for ${recipe.name}`);
    else refuseFlags(flags, recipeFlags, `the recipe ${recipe.name}`);
    return (session) => runRecipe(recipe, first, values, session);
  }
  if (!isOperation(second)) {
    const guess = closestWord(
      second,
      recipes.map(({ name }) => name),
    );
    const meant = guess ?? (misspelt && `admin ${misspelt}`);
    if (meant !== undefined)
      throw new UsageError(
        `there is no recipe or operation ${JSON.stringify(quotable(second))}; did you mean ${meant}?`,
      );
  }
  if (flags.request === true) refuseFlags(flags, [...requestFlags, 'body'], 'a request for an operation');
  else refuseFlags(flags, operationFlags, 'a single operation');
  return (session) => callOperation(first, rest, session);
}

/** Returns true for the key of an operation and for the start of a path. */
function isOperation(word: string): boolean {
  return Object.hasOwn(endpoints, word) || /^(?:(?:get|post|put|delete)(?:\s|$)|\/)/i.test(word);
}

/** Flags that every command takes, or that have a default. */
const always = /^(?:admin\.|web\.|log\.|help$)/;

function refuseFlags(flags: Flags, taken: readonly string[], what: string): void {
  const stray = Object.keys(flags).find((name) => !always.test(name) && !taken.includes(name));
  if (stray !== undefined)
    throw new UsageError(`--${stray} does not go with ${what}; zlb-exporter admin --help explains it`);
}
