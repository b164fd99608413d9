import { type Static, Type } from 'typebox';
import type { Operations } from '../gateway/operation.ts';
import { changes } from '../gateway/policy.ts';
import { AdminProblem } from '../gateway/problem.ts';
import { jsonContent } from '../recipes/calls.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { Change } from './plan.ts';

/** The body of `POST /requests`. */
export const AskedSchema = Type.Object(
  {
    appliance: Type.String(),
    operation: Type.Optional(Type.String({ description: 'The operationId; or a recipe.' })),
    recipe: Type.Optional(
      Type.String({ description: 'restart-farm, drain-backend, restore-backend, backup or deliver.' }),
    ),
    parameters: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 500 }))),
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The JSON body of the operation.' })),
    reason: Type.String({ minLength: 1, maxLength: 500 }),
    force: Type.Optional(Type.Boolean({ description: 'Override guards.' })),
  },
  { additionalProperties: false },
);
export type Asked = Static<typeof AskedSchema>;

/** Returns the change that is asked for. Throws an {@link AdminProblem}. */
export function readChange(
  { operation: key, recipe: name, parameters = {}, body }: Asked,
  { operations, recipes }: { readonly operations: Operations; readonly recipes: () => readonly Recipe[] },
): Change {
  const known = recipes();
  const recipe = known.find((each) => each.name === name);
  const operation = key === undefined ? undefined : operations.named(key);
  if (recipe && key === undefined) return { recipe, parameters: valuesFor(recipe, parameters) };
  if (!operation || name !== undefined)
    throw malformed(
      `The body names neither one operation nor one recipe: ${known.map((each) => each.name).join(', ')}`,
    );
  const { row, template } = operation;
  if (!changes(row.risk)) throw malformed(`${operation.key} changes nothing, and needs nobody's approval`);
  const isNamed = (each: string): boolean => template.includes(`{${each}}`) || template.includes(`{${each}*}`);
  if (!Object.keys(parameters).every(isNamed) || !operations.call(operation, parameters))
    throw malformed(`${row.route} needs a plain value for each name in braces, and nothing else`);
  return { operation: operation.key, parameters, ...(body && { content: jsonContent(body) }) };
}

function valuesFor({ name, parameters }: Recipe, values: Change['parameters']): Change['parameters'] {
  const missing = Object.entries(parameters).find(([each, isRequired]) => isRequired && !values[each]);
  if (missing) throw malformed(`${name} needs ${missing[0]}`);
  if (Object.keys(values).some((each) => !Object.hasOwn(parameters, each)))
    throw malformed(`${name} takes ${Object.keys(parameters).join(', ')}`);
  return values;
}

export function malformed(because: string): AdminProblem {
  return new AdminProblem('malformed_body', {
    detail: `${because}; nothing was sent.`,
    remedy: 'GET /docs shows what the path takes.',
  });
}
