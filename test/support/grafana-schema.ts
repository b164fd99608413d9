import { fileURLToPath } from 'node:url';
import { Ajv, type AnySchemaObject } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';

/**
 * What Grafana's own types say against a board; empty when they say nothing. The schema is made of @grafana/schema (its
 * dashboard, and the options of each kind of panel) by test/support/grafana-types.ts; whatever they do not name is refused.
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
