import { type Command, UsageError } from '../command.ts';
import type { Flags } from '../flags.ts';
import { commands } from '../commands.ts';
import { quotable } from './words.ts';
import { callOperation, operationFlags } from './call-operation.ts';
import { builtInCommands, listOperations } from './built-in-commands.ts';
import { recipes } from '../../admin/recipes/recipes.ts';
import { askRecipeFlags, recipeFlags, runRecipe } from './run-recipe.ts';
import { changeCommandOf, askFlags } from './change-commands.ts';
import { type AdminCommand, withSession } from './session.ts';

export const admin: Command = async (context) => {
  const { arguments: given, flags, printOut } = context;
  const [first, ...rest] = given;
  if (first === undefined) {
    printOut(commands.admin.help);
    return 0;
  }
  if (first === 'operations') {
    assertFlagsOfWord(flags, { name: 'admin operations', flags: ['json'] });
    await listOperations(rest, context);
    return 0;
  }
  const command = commandOf(first, rest, flags.ask === true);
  assertFlagsOfWord(flags, command);
  return await withSession(context, command.run);
};

/** Returns the command that the words name; throws a UsageError if they name none. */
function commandOf(first: string, rest: readonly string[], isRequest: boolean): AdminCommand {
  if (first === 'changes') return changeCommandOf(rest);
  const builtIn = builtInCommands.get(first);
  if (builtIn) {
    if (rest.length > 0 && !builtIn.takesWords)
      throw new UsageError(
        `admin ${first} takes no more arguments; an appliance of that name cannot be reached this way`,
      );
    return { name: `admin ${first}`, flags: builtIn.flags, run: (session) => builtIn.run(session, rest) };
  }
  const [second, ...values] = rest;
  if (second === undefined)
    throw new UsageError(
      `admin ${JSON.stringify(quotable(first))} is not complete; add an operation or a recipe after the name of an appliance, see admin --help`,
    );
  const recipe = recipes.find(({ name }) => name === second);
  if (recipe) {
    const taken = isRequest
      ? { name: `asking for ${recipe.name}`, flags: askRecipeFlags }
      : { name: `the recipe ${recipe.name}`, flags: recipeFlags };
    return { ...taken, run: (session) => runRecipe(recipe, first, values, session) };
  }
  const taken: Pick<AdminCommand, 'name' | 'flags'> = isRequest
    ? { name: 'asking for an operation', flags: [...askFlags, 'body'] }
    : { name: 'a single operation', flags: operationFlags };
  return { ...taken, run: (session) => callOperation(first, rest, session) };
}

const always = /^(?:admin\.|help$)/;

function assertFlagsOfWord(flags: Flags, { name: what, flags: taken }: Pick<AdminCommand, 'name' | 'flags'>): void {
  const stray = Object.keys(flags).find((name) => !always.test(name) && !taken.some((each) => each === name));
  if (stray !== undefined)
    throw new UsageError(`--${stray} is not valid with ${what}; zlb-exporter admin --help explains it`);
}
