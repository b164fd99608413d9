import { createOperations } from '../../admin/operation.ts';
import { endpoints } from '../../appliance/endpoints/table.ts';
import { closestWord } from '../../config/closest-word.ts';
import { errorCode } from '../../lib/check.ts';
import { sleep } from '../../lib/sleep.ts';
import { type Command, type CommandContext, type Flags, type Shell, UsageError } from '../command.ts';
import { AdminError, errorLines } from './admin-error.ts';
import { quotable } from './assignments.ts';
import { callOperation, operationFlags } from './call-operation.ts';
import { readConnection } from './connection.ts';
import { createGatewayClient } from './gateway-client.ts';
import { appliances, audit, freeze, frozen, listOperations, unfreeze, whoami } from './built-in-commands.ts';
import { adminHelp } from './help.ts';
import { parameters } from './parameters.ts';
import { recipes } from './recipes/recipes.ts';
import { recipeFlags, runRecipe } from './run-recipe.ts';
import type { AdminSession } from './session.ts';

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
      run: (_, session) => audit(session),
    },
  ],
  ['frozen', { flags: ['json'], run: (_, session) => frozen(session) }],
  ['freeze', { flags: ['json', 'reason'], run: (_, session) => freeze(session) }],
  ['unfreeze', { flags: ['json', 'reason'], run: (_, session) => unfreeze(session) }],
]);

interface AdminParts {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

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

async function runAdmin(context: CommandContext, { now, sleep: pause }: AdminParts): Promise<number> {
  const { arguments: given, flags, say, stopped } = context;
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
  const task = taskOf(first, rest, flags);
  const connection = await readConnection(context);
  const client = createGatewayClient(connection, stopped);
  try {
    const session = {
      ...context,
      client,
      operations: createOperations(),
      now,
      sleep: (ms: number) => pause(ms, stopped),
    };
    return (await task(session)) ?? 0;
  } catch (error) {
    // A hostile listener could send the token back.
    const hide = (text: string): string => connection.token.scrub(text);
    return await fail(error instanceof AdminError ? error.without(hide) : error, context);
  } finally {
    await client.close();
  }
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

/** Returns what the words ask for; throws a UsageError when the words and flags do not go together. */
function taskOf(first: string, rest: readonly string[], flags: Flags): Task {
  const builtIn = builtIns.get(first);
  if (builtIn) {
    refuseFlags(flags, builtIn.flags, `admin ${first}`);
    if (rest.length > 0 && !builtIn.takesWords)
      throw new UsageError(`admin ${first} takes no more words; an appliance of that name cannot be reached this way`);
    return (session) => builtIn.run(rest, session);
  }
  const [second, ...values] = rest;
  const misspelt = closestWord(first, [...builtIns.keys(), 'operations']);
  if (second === undefined)
    throw new UsageError(
      `admin ${JSON.stringify(quotable(first))} is not complete; ${misspelt ? `did you mean admin ${misspelt}? Otherwise ` : ''}add an operation or a recipe after the name of an appliance, see admin --help`,
    );
  const recipe = recipes.find(({ name }) => name === second);
  if (recipe) {
    refuseFlags(flags, recipeFlags, `the recipe ${recipe.name}`);
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
  refuseFlags(flags, operationFlags, 'a single operation');
  return (session) => callOperation(first, rest, session);
}

/** True for the key of an operation and for the start of a path. */
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

async function fail(error: unknown, { flags, warn, shell }: CommandContext): Promise<number> {
  if (error instanceof AdminError) {
    if (flags.json === true && error.body) await shell.write(error.body);
    for (const line of errorLines(error)) warn(line);
    return 1;
  }
  if (error instanceof Error && error.name === 'AbortError') {
    warn('zlb-exporter: interrupted');
    return 1;
  }
  throw error;
}
