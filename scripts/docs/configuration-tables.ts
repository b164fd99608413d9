import { collectors } from '../../src/collectors/registry.ts';
import { reservedLabels } from '../../src/app/load-settings.ts';
import { environmentVariables } from '../../src/config/environment.ts';
import { configSchema } from '../../src/config/schema.ts';
import { isOneOf, isRecord } from '../../src/lib/check.ts';
import { ownKeywords } from '../../src/config/schema-parts.ts';
import { formatDuration } from '../../src/lib/time.ts';
import { keyList, plainSchema, type SchemaNode } from './key-list.ts';
import { markdownList, markdownTable } from './markdown.ts';

/** Returns the lists of docs/configuration.md, from the schema that the loader uses. */
export function configurationTables(): Readonly<Record<string, string>> {
  const root = plainSchema(configSchema(['NAME'], []));
  const { appliances, admin = {}, collectors: forAll = {}, requests = {}, ...others } = root.properties ?? {};
  const appliance = appliances?.items ?? {};
  const { collectors: ownCollectors, ...ownOthers } = appliance.properties ?? {};
  const own = { type: 'object', properties: ownOthers, required: appliance.required ?? [] };
  const section = (properties: Readonly<Record<string, SchemaNode>>) => keyList({ type: 'object', properties });
  return {
    appliances: `${keyList(own, 'appliances[].')}
${markdownList([`\`appliances[].collectors.NAME.…\` (mapping): ${ownCollectors?.description ?? ''}`])}`,
    others: section(others),
    collectors: section({ collectors: forAll }),
    schedules: collectorTable(),
    requests: section({ requests: withoutTls(requests) }),
    admin: section({ admin }),
    environment: environmentVariables.map(({ variable }) => `\`${variable}\``).join(',\n'),
  };
}

/**
 * Returns docs/configuration.schema.json, the JSON Schema for editors: without own keywords, and
 * with everything optional that has a default. Indented: people read its differences.
 */
export function configurationJsonSchema(): string {
  const schema = configSchema(
    collectors.map(({ name }) => name),
    reservedLabels(),
  );
  const forEditors = JSON.stringify(
    { $schema: 'http://json-schema.org/draft-07/schema#', title: 'zlb-exporter configuration', ...schema },
    (name, value: unknown) => {
      if (isOneOf(ownKeywords, name)) return undefined;
      return isRecord(value) && Array.isArray(value.required) && isRecord(value.properties)
        ? { ...value, required: value.required.filter((key) => !hasDefault(value, key)) }
        : value;
    },
    1,
  );
  return `${forEditors}\n`;
}

/** Leaves out the keys for TLS: those of the gateway are the same. */
function withoutTls({ properties = {}, ...node }: SchemaNode): SchemaNode {
  return { ...node, properties: Object.fromEntries(Object.entries(properties).filter(([key]) => key !== 'tls')) };
}

function hasDefault({ properties = {} }: SchemaNode, key: string): boolean {
  return properties[key]?.default !== undefined;
}

/** The collectors by their defaults. */
function collectorTable(): string {
  const byDefaults = Map.groupBy(collectors, ({ schedule, maxStaleMs }) => `${schedule} ${maxStaleMs}`);
  const rows = [...byDefaults.values()].flatMap((alike) => {
    const names = alike.map(({ name, enabled }) => `\`${name}\`${enabled ? '' : ' (off)'}`).join(', ');
    return alike
      .slice(0, 1)
      .map(({ schedule, maxStaleMs }) => [`\`${schedule}\``, `\`${formatDuration(maxStaleMs)}\``, names]);
  });
  return markdownTable(['Default schedule', 'Default max_stale', 'Collectors'], rows);
}
