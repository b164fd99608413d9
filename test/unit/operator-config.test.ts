import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
type Block = Readonly<Record<string, Value>>;

const { global, route, inhibit_rules, receivers } = parse(readFileSync('alerts/alertmanager.example.yml', 'utf8')) as {
  global: Block;
  route: Block & { readonly routes: readonly [Block] };
  inhibit_rules: readonly Block[];
  receivers: readonly Block[];
};

/** The keys to which the Operator gives another name or form; it writes the rest in camel case. */
const others: Readonly<Record<string, (value: never) => Block>> = {
  matchers: (list: readonly string[]) => ({ matchers: list.map(asMatcher) }),
  source_matchers: (list: readonly string[]) => ({ sourceMatch: list.map(asMatcher) }),
  target_matchers: (list: readonly string[]) => ({ targetMatch: list.map(asMatcher) }),
  details: (details: Block) => ({ details: asPairs(details) }),
  headers: (headers: Block) => ({ headers: asPairs(headers) }),
  links: (links: readonly { text: string; href: string }[]) => ({
    pagerDutyLinkConfigs: links.map(({ text, href }) => ({ alt: text, href })),
  }),
  routing_key_file: (file: string) => ({ routingKey: inSecret(file) }),
  credentials_file: (file: string) => ({ credentials: inSecret(file) }),
  // An AlertmanagerConfig has no `global`.
  to: (to: string) => ({ to, from: global['smtp_from'] ?? '', smarthost: global['smtp_smarthost'] ?? '' }),
};

const inSecret = (file: string): Block => ({ name: 'zlb-alertmanager', key: basename(file) });
const asPairs = (block: Block): readonly Block[] => Object.entries(block).map(([key, value]) => ({ key, value }));

function asMatcher(matcher: string): Block {
  const [, name = '', matchType = '', value = ''] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(matcher) ?? [];
  return { name, matchType, value };
}

function asOperatorWrites(value: Value): Value {
  if (Array.isArray(value)) return value.map(asOperatorWrites);
  if (typeof value !== 'object' || value === null) return value;
  const changed = Object.entries(value).map(([key, inner]) => {
    const name = key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return others[key]?.(inner as never) ?? { [name]: asOperatorWrites(inner) };
  });
  return Object.assign({}, ...changed) as Block;
}

it('the Prometheus Operator example has the routes, inhibitions and receivers of alertmanager.example.yml', async () => {
  const config = asOperatorWrites({ route: { receiver: 'tickets', ...route.routes[0] }, inhibit_rules, receivers });
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1alpha1',
    kind: 'AlertmanagerConfig',
    metadata: { name: 'zlb-exporter' },
    spec: config,
  };
  const text = `# alerts/alertmanager.example.yml, whose comments give the reasons, for the Prometheus Operator. Make the secret from files:
#
#   kubectl create secret generic zlb-alertmanager --from-file=pagerduty-key --from-file=pagerduty-key-paris --from-file=gateway-token
#
# The Operator adds the matcher namespace="the namespace of this object" to the first route and to every inhibition, which
# ZlbWatchdog does not have. So the Alertmanager needs \`alertmanagerConfigMatcherStrategy: { type: None }\`.
${stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0, defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' })}`;

  await expect(text).toMatchFileSnapshot('../../deploy/alertmanager/alertmanager-config.yaml');
});
