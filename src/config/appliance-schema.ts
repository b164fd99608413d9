import { type TSchema, Type } from 'typebox';

import { applianceRequestsSchema } from './request-log-schema.ts';
import { file, offByDefault, mapping, value } from './schema-parts.ts';

const tls = mapping(
  {
    ca_file: Type.Optional(
      file(
        'certificates',
        'PEM file of the authority, or of the self-signed certificate itself.',
        '/etc/zlb-exporter/ca.pem',
      ),
    ),
    server_name: Type.Optional(
      value('serverName', {
        description: 'The host name in the certificate, if it is not that of `url`.',
        examples: ['lb.example.org'],
      }),
    ),
    fingerprint_sha256: Type.Optional(
      value('fingerprint', {
        description:
          'SHA-256 of the one certificate to accept, as `zlb-exporter fingerprint HOST:PORT` prints it. Replaces all other checks.',
        examples: ['AB:CD:…'],
      }),
    ),
    insecure_skip_verify: offByDefault('Accept any certificate. An attacker on the network can then read the API key.'),
  },
  { description: 'How the certificate of the appliance is checked.', default: {} },
);

const farms = mapping(
  {
    include: Type.Array(value('farmPattern', {}), {
      description: 'A farm is monitored if one matches its whole name.',
      default: ['.*'],
      minItems: 1,
      examples: [['web-.*']],
    }),
    exclude: Type.Array(value('farmPattern', {}), {
      description: 'A farm is left out if one matches its whole name.',
      default: [],
      examples: [['test-.*']],
    }),
  },
  { description: 'Which farms are watched.', default: {} },
);

const vip = mapping(
  {
    server_names: Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
      type: 'object',
      description:
        'Names to ask for by TLS, by farm. Default: the common names of certificates of HTTPS farms; `www.` stands for a wildcard.',
      default: {},
      additionalProperties: Type.Array(value('serverName', { examples: ['shop.example.com'] }), {
        maxItems: 20,
        examples: [['shop.example.com']],
      }),
      examples: [{ shop: ['shop.example.com'] }],
    }),
    connect_to: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      description:
        'The address to connect to instead of an address of a farm; `ADDRESS` or `ADDRESS:PORT` on both sides.',
      default: {},
      additionalProperties: value('endpoint', { examples: ['203.0.113.7'] }),
      examples: [{ '192.0.2.40': '203.0.113.7' }],
    }),
    networks: Type.Array(value('network', {}), {
      description:
        'Networks that the addresses of farms must be in. Loopback and link-local addresses, and those of this machine, are allowed only this way.',
      default: [],
      examples: [['192.0.2.0/24']],
    }),
    udp_farms: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'L4 farms that do not take TCP, and are not probed. Without it, whether an L4 farm serves is unknown until a connection to it has succeeded.',
        examples: [['dns']],
      }),
    ),
  },
  { description: 'What the collector `vip` connects to.', default: {} },
);

export const applianceExample = {
  name: 'lb-paris',
  url: 'https://192.0.2.10:444',
  api_key_file: '/run/secrets/lb-paris',
};

/**
 * Returns the schema of one entry of `appliances`, with the collectors that it may configure, and
 * the label names that it cannot set.
 */
export function applianceSchema<Collectors extends TSchema>(collectors: Collectors, reservedLabels: readonly string[]) {
  return mapping(
    {
      name: value('applianceName', { description: 'The `appliance` label; unique.', examples: ['lb-paris'] }),
      url: value('applianceUrl', {
        description:
          'The management API. The default port is 444. A host name is looked up for each new connection; while that hangs or fails, its last known address is used.',
        examples: ['https://192.0.2.10:444'],
      }),
      api_key: Type.Optional(
        value('apiKey', {
          description: 'The API key itself. Prefer the file.',
          examples: ['${LB_PARIS_KEY}'],
        }),
      ),
      api_key_file: Type.Optional(file('apiKey', 'A file that contains only the API key.', '/run/secrets/lb-paris')),
      admin_api_key: Type.Optional(
        value('apiKey', {
          description: 'A second API key, for the gateway. Default: the same key.',
          examples: ['${LB_PARIS_ADMIN_KEY}'],
        }),
      ),
      admin_api_key_file: Type.Optional(
        file('apiKey', 'A file that contains only that second key.', '/run/secrets/lb-paris-admin'),
      ),
      key_header: Type.Enum(['auto', 'ZAPI_KEY', 'API_KEY', 'ZAPI-KEY', 'API-KEY'], {
        description:
          'The header with the key; `auto` sends ZAPI_KEY and API_KEY. Hyphens pass proxies that drop underscores.',
        default: 'auto',
      }),
      tls,
      labels: Type.Unsafe<Readonly<Record<string, string>>>({
        type: 'object',
        description: 'Extra labels of `zlb_appliance_info`, and of every series with `/sd`.',
        default: {},
        propertyNames: { pattern: '^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$', not: { enum: reservedLabels } },
        additionalProperties: { type: 'string' },
        examples: [{ site: 'paris' }],
      }),
      farms,
      vip,
      requests: applianceRequestsSchema,
      compact: Type.Optional(
        Type.Boolean({
          description: '`limits.compact` for this appliance; takes precedence.',
        }),
      ),
      collectors,
    },
    {
      examples: [applianceExample],
      oneOf: [{ required: ['api_key'] }, { required: ['api_key_file'] }],
      not: { required: ['admin_api_key', 'admin_api_key_file'] },
    },
  );
}
