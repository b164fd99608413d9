import { Type } from 'typebox';
import { adminSchema } from './admin-schema.ts';
import { applianceExample, applianceSchema } from './appliance-schema.ts';
import { requestsSchema } from './request-log-schema.ts';
import { offByDefault, mapping, path, type SettingsOf, value } from './schema-parts.ts';

export type ConfigSchema = ReturnType<typeof configSchema>;
/** The settings as the file has them: those for all appliances and their own are apart. */
export type ConfigSettings = SettingsOf<ConfigSchema>;

export const longestMaxStale = '365d';

const collector = mapping({
  enabled: Type.Optional(Type.Boolean({ description: 'Whether the collector runs.' })),
  schedule: Type.Optional(
    value('schedule', {
      description:
        'When it polls: six fields, seconds first. A day of month and a day of week must both fit. UTC if it runs every hour; local time if it names hours: of the hour that comes twice, one is left out.',
      examples: ['*/30 * * * * *'],
    }),
  ),
  max_stale: Type.Optional(
    value('duration', {
      description: 'The age at which a reading is removed. Must be longer than the time between two polls.',
      above: '0s',
      to: longestMaxStale,
      examples: ['3m'],
    }),
  ),
});

const polling = mapping(
  {
    timeout: value('duration', {
      description: 'How long one call to an appliance may take.',
      default: '20s',
      above: '0s',
      to: '10m',
      examples: ['30s'],
    }),
    max_concurrent_per_appliance: Type.Integer({
      description: 'Calls to one appliance at the same time.',
      default: 1,
      minimum: 1,
      maximum: 4,
    }),
    max_busy_ratio: value('ratio', {
      description: 'The part of its time that an appliance may spend on polls; intervals become longer to keep it.',
      default: '0.25',
      above: '0',
      to: '1',
      examples: ['10%'],
    }),
    routine_busy_ratio: value('ratio', {
      description:
        'The same for what is read only to have new numbers. What shows a change of state, or a farm in trouble, may take all of `max_busy_ratio`.',
      default: '0.03',
      above: '0',
      to: '1',
      examples: ['5%'],
    }),
    jitter: value('ratio', {
      description: 'Random delay of each poll, as a part of its interval.',
      default: '10%',
      from: '0%',
      to: '50%',
      examples: ['20%'],
    }),
  },
  { description: 'How politely appliances are polled.', default: {} },
);

const limits = mapping(
  {
    series_per_appliance: Type.Integer({
      description: 'The most series of one appliance. More are dropped, those of single backends first.',
      default: 50_000,
      minimum: 100,
    }),
    compact: offByDefault('Only backends that are down or in maintenance have series, for their state and address.'),
    body_bytes: value('byteSize', {
      description: 'The largest reply that is read.',
      default: '8MiB',
      from: '64KiB',
      to: '1GiB',
      examples: ['16MiB'],
    }),
  },
  { description: 'What protects the exporter and Prometheus.', default: {} },
);

const history = mapping(
  {
    file: Type.Optional(
      path({
        description:
          'The file of SQLite that keeps what changed. Without it, a restart forgets. Default as a service of systemd: `history.db` in its state directory.',
        examples: ['/var/lib/zlb-exporter/history.db'],
      }),
    ),
    keep: value('duration', {
      description: 'How long events are kept.',
      default: '90d',
      from: '1h',
      to: '3650d',
      examples: ['30d'],
    }),
  },
  { description: 'What changed on the appliances, and when.', default: {} },
);

/**
 * Returns the schema of the file for the existing collectors and labels; the loader and the
 * documentation use it.
 */
export function configSchema(collectorNames: readonly string[], reservedLabels: readonly string[]) {
  const optional = Type.Optional(collector);
  const collectors = Type.Unsafe<Readonly<Record<string, SettingsOf<typeof collector>>>>(
    mapping(Object.fromEntries(collectorNames.map((name) => [name, optional])), {
      description: 'Settings by collector. The settings of an appliance take precedence, key by key.',
      default: {},
      keepsKeys: true,
    }),
  );
  const parts = {
    appliances: Type.Array(applianceSchema(collectors, reservedLabels), {
      description: 'The load balancers to poll.',
      default: [],
      examples: [[applianceExample]],
    }),
    appliance_files: Type.Array(Type.String({ minLength: 1 }), {
      description:
        'YAML or JSON files with more appliances, each a list like `appliances`. The last part of a path may contain `*`.',
      default: [],
      examples: [['appliances.d/*.yml']],
    }),
    twins: Type.Array(Type.Array(Type.String(), { examples: [['lb-paris-1', 'lb-paris-2']] }), {
      description: 'Pairs of appliances of which one takes over from the other; what they differ in is shown.',
      default: [],
      examples: [[['lb-paris-1', 'lb-paris-2']]],
    }),
    collectors,
    polling,
    limits,
    history,
    admin: Type.Optional(adminSchema),
    requests: Type.Optional(requestsSchema),
  };
  return mapping(parts, {
    examples: [{ appliances: [applianceExample] }],
    anyOf: (['appliances', 'appliance_files'] as const).map((key) => ({
      required: [key],
      properties: { [key]: { minItems: 1 } },
    })),
  });
}
