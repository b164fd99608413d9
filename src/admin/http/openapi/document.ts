import { roleMay } from '../../policy/policy.ts';
import { roles } from '../../policy/principal.ts';
import { endpoints } from '../../../appliance/api/table.ts';
import { gatewayTag, type JsonObject, plainSchema, replySchemas, sharedAnswers, wireSchemas } from './responses.ts';
import { gatewaySchemas } from './gateway-schemas.ts';
import type { GatewayPaths } from './gateway-routes.ts';
import { operationOf, placeRows, sharedParameters } from './operation.ts';

/** Returns the admin listener in OpenAPI 3.1: its own routes, and every row of the table. */
export function openApiDocument({ version }: { readonly version: string }, gatewayPaths: GatewayPaths) {
  const areas = new Set<string>(Object.values(endpoints).map(({ area }) => area));
  return {
    openapi: '3.1.0',
    info: { title: 'zlb-exporter admin gateway', version, description },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [gatewayTag, ...areas].map((name) => ({ name })),
    paths: { ...gatewayPaths, ...appliancePaths() },
    components: {
      securitySchemes: {
        // One only: the page asks in one box for each.
        bearer: { type: 'http', scheme: 'bearer', description: whereTokensComeFrom },
      },
      parameters: sharedParameters,
      responses: sharedAnswers(),
      schemas: {
        ...Object.fromEntries(Object.entries(gatewaySchemas).map(([name, schema]) => [name, plainSchema(schema)])),
        ...wireSchemas,
        ...replySchemas(),
      },
    },
  };
}

function appliancePaths(): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const placement of placeRows()) {
    const path = `/appliances/{appliance}${placement.path}`;
    paths[path] = { ...paths[path], [placement.method]: operationOf(placement) };
  }
  return paths;
}

const whereTokensComeFrom = `A token of the gateway, without the word Bearer. \`zlb-exporter token\` prints one once, and the line with its digest for
\`admin.tokens\` in the configuration; the administrator of the exporter has it. The page forgets it when it is reloaded.`;

const riskWords = {
  read: 'shows nothing confidential',
  secret: 'shows keys, passwords, users, logs or backups',
  reversible: 'creates or changes what another call puts back',
  disruptive: 'can cut traffic or management access, or changes what cannot simply be undone',
  destructive: 'deletes; needs `X-Confirm`',
} as const;

const risks = Object.entries(riskWords) as readonly [keyof typeof riskWords, string][];

const description = `Every operation of the load balancers' management API 4.0, for people, scripts and existing clients, with a policy in
front and an audit behind. Answers of an appliance go through as they came; only its 401 becomes 502, as the caller's token was fine.
Where no shape is given, none is documented.

Clients that were written for an appliance work unchanged through \`/api/v4.0/api.cgi/…\` and \`/zapi/v4.0/zapi.cgi/…\`, with the token in
their key header (\`ZAPI_KEY\`, \`API_KEY\`, \`ZAPI-KEY\`, \`API-KEY\`), if the token covers exactly one appliance.

| Risk | The operation | For |
|---|---|---|
${risks.map(([risk, words]) => `| ${risk} | ${words} | ${roles.filter((role) => roleMay(role, risk)).join(', ')} |`).join('\n')}
`;
