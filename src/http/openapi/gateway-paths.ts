import { auditEvents } from '../../admin/audit/record.ts';
import { ownAnswers } from './answers.ts';
import { type OpenApiOperation, parameterRef } from './operation.ts';
import type { JsonObject } from './plain-schema.ts';

export const gatewayTag = 'gateway';

/** The paths that the gateway answers itself. */
export const gatewayPaths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>> = {
  '/appliances': {
    get: own('listAppliances', 'the appliances that the token covers', {
      responses: ownAnswers('Their names, and what is known of them.', 'Appliances'),
    }),
  },
  '/appliances/{appliance}/parameters': {
    get: own('discoverParameters', 'the parameters of an operation, asked from the appliance', {
      parameters: [
        parameterRef('Appliance'),
        query('operation', 'The operationId.', { type: 'string' }, true),
        {
          ...query('placeholders', 'The placeholders in the path of the operation, each by its name.', {
            type: 'object',
            additionalProperties: { type: 'string' },
            examples: [{}],
          }),
          style: 'form',
          explode: true,
        },
      ],
      responses: ownAnswers('A descriptor for each parameter.', 'Parameters'),
    }),
  },
  '/whoami': {
    get: own('whoAmI', 'who the token belongs to, what it covers, and whether guards refuse or warn', {
      responses: ownAnswers('The principal.', 'Whoami'),
    }),
  },
  '/audit': {
    get: own('readAudit', 'the audit, newest first, of what the token covers (admin)', {
      parameters: [
        query('limit', 'How many lines.', { type: 'integer', minimum: 1, maximum: 1_000, default: 100 }),
        query('principal', 'Of this principal alone.', { type: 'string' }),
        query('appliance', 'Of this appliance alone.', { type: 'string' }),
        query('operation', 'Of this operationId alone.', { type: 'string' }),
        query('event', 'Of this kind alone.', { type: 'string', enum: auditEvents }),
      ],
      responses: ownAnswers('The lines.', 'Audit'),
    }),
  },
  '/freeze': {
    get: own('readFreeze', 'whether changes are frozen', { responses: ownAnswers('The state.', 'Freeze') }),
    put: own(
      'freeze',
      'refuse every operation that is not a read, until it is lifted (admin, with a token for all appliances)',
      {
        parameters: [
          { ...query('X-Reason', 'Why; whoever is refused is told.', { type: 'string' }, true), in: 'header' },
        ],
        responses: ownAnswers('The new state.', 'Freeze'),
      },
    ),
    delete: own('unfreeze', 'let changes through again (admin, with a token for all appliances)', {
      parameters: [parameterRef('Reason')],
      responses: ownAnswers('The new state.', 'Freeze'),
    }),
  },
  '/docs/openapi.json': {
    get: own('readOpenApiDocument', 'this document', {
      security: [],
      responses: {
        200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
      },
    }),
  },
};

function own(operationId: string, summary: string, rest: JsonObject): OpenApiOperation {
  return { operationId, tags: [gatewayTag], summary, ...rest };
}

function query(name: string, description: string, schema: JsonObject, required = false): JsonObject {
  return { name, in: 'query', required, description, schema };
}
