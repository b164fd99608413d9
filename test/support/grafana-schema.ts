import { fileURLToPath } from 'node:url';
import { Ajv, type AnySchemaObject } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

/**
 * Creates a check that returns the complaints of Grafana's own types about a board. The schema is
 * made from @grafana/schema (its dashboard, and the options of each kind of panel) by
 * test/support/grafana-types.ts; unknown properties are refused.
 */
export function createBoardCheck(): (board: unknown) => readonly string[] {
  const schema = createGenerator({
    path: fileURLToPath(new URL('grafana-types.ts', import.meta.url)),
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    type: 'Board',
    additionalProperties: false,
    // Types of one name from both packages must not meet under that name.
    expose: 'none',
    topRef: false,
    jsDoc: 'none',
    // `npm run check` does that, with the project's own compiler.
    skipTypeCheck: true,
  }).createSchema('Board');
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema as AnySchemaObject);
  return (board) =>
    validate(board)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
}
