import { createHash } from 'node:crypto';
import { isRecord } from '../lib/check.ts';
import { digestForm, oneLine } from '../lib/text.ts';

export const configuredKinds = ['version', 'interface', 'certificate', 'check', 'farm', 'service', 'backend'] as const;

export type ConfiguredKind = (typeof configuredKinds)[number];

/**
 * An object as an appliance is configured: without states, counters and sessions, and without
 * anything that can hold a secret.
 */
export interface ConfiguredObject {
  readonly object: ConfiguredKind;
  /** Empty for an object of no farm, and of no service. */
  readonly farm: string;
  readonly service: string;
  readonly name: string;
  /** The number by which calls name a backend; it moves to another one when one is deleted. */
  readonly id?: string | undefined;
  /** A setting that the appliance does not report is left out; one that is not set is empty. */
  readonly settings: ConfiguredSettings;
}

export type ConfiguredSettings = Readonly<Record<string, string>>;

/**
 * The settings of a farm that are compared, as `GET /farms/{farmname}` names them. The list names
 * what is compared and not what is left out: an unknown field of another product may be a state, a
 * counter or a secret. `status` is a state, and `sessions` are clients; `listener`, `vip`
 * and `vport` are in the list of farms.
 */
const farmSettings = [
  'algorithm',
  'nattype',
  'persistence',
  'protocol',
  'ttl',
  'limitconns',
  'limitconnsbrst',
  'limitrst',
  'limitrstbrst',
  'limitsec',
  'limitsecbrst',
  'bogustcpflags',
  'contimeout',
  'restimeout',
  'reqtimeout',
  'resurrectime',
  'rewritelocation',
  'httpverb',
  'ignore_100_continue',
  'logs',
  'ciphers',
  'cipherc',
  'disable_sslv2',
  'disable_sslv3',
  'disable_tlsv1',
  'disable_tlsv1_1',
  'disable_tlsv1_2',
  'disable_tlsv1_3',
] as const;

const headerLists = ['addheader', 'addresponseheader', 'headremove', 'removeresponseheader'] as const;
const errorPages = ['error414', 'error500', 'error501', 'error503'] as const;

const serviceSettings = [
  'farmguardian',
  'algorithm',
  'httpsb',
  'leastresp',
  'persistence',
  'redirecttype',
  'redirect_code',
  'sessionid',
  'ttl',
  'urlp',
  'vhost',
  'cookieinsert',
  'cookiename',
  'cookiedomain',
  'cookiepath',
  'cookiettl',
  'sts_status',
  'sts_timeout',
  'pinnedConnection',
  'routingPolicy',
] as const;

/** `id` is a place in a list, and `status` a state. */
const backendSettings = ['weight', 'priority', 'timeout', 'max_conns', 'connection_limit', 'mode'] as const;

/** The arguments of `command` may hold a password, so its program alone is compared. */
const checkSettings = ['interval', 'cut_conns', 'log', 'backend_alias', 'timeout'] as const;

const serviceWords = 'httpsb leastresp redirecttype cookieinsert sts_status pinnedConnection routingPolicy';
const otherWords = 'mode cut_conns log profile vip kind ip mac product edition api';

/** Settings whose values are words of the appliance, numbers or addresses, without letter case. */
export const wordSettings: ReadonlySet<string> = new Set([
  ...farmSettings.filter((name) => name !== 'cipherc'),
  ...`${serviceWords} ${otherWords}`.split(' '),
]);

/** Settings whose texts are compared as they are, and kept: they hold no secrets. */
export const plainSettings: ReadonlySet<string> = new Set([
  ...farmSettings,
  ...serviceSettings,
  ...backendSettings,
  ...checkSettings,
]);

export function farmObject(farm: string, settings: ConfiguredSettings): ConfiguredObject {
  return { object: 'farm', farm, service: '', name: farm, settings };
}

export function settingsOfFarm(params: object): ConfiguredSettings {
  return {
    ...textsIn(params, farmSettings),
    ...mapFields(params, headerLists, headerNames),
    ...mapFields(params, errorPages, digestOf),
  };
}

export function serviceObject(farm: string, service: string, row: object): ConfiguredObject {
  const settings = { ...textsIn(row, serviceSettings), ...mapFields(row, ['redirect'], withoutCredentials) };
  return { object: 'service', farm, service, name: service, settings };
}

/**
 * Names a backend by its address, since its number is its place in the list: also where a service
 * has the address twice, and the label of the metrics has the number.
 */
export function backendObject(
  {
    farm,
    service,
    backend,
    id,
  }: {
    readonly farm: string;
    readonly service: string;
    readonly backend: string;
    readonly id?: string | null | undefined;
  },
  row: object,
): ConfiguredObject {
  const number = `#${id ?? ''}`;
  const name = backend.endsWith(number) ? backend.slice(0, -number.length) : backend;
  // Hexadecimal digits in both cases are one address.
  const settings = textsIn(row, backendSettings);
  return { object: 'backend', farm, service, name: name.toLowerCase(), id: id ?? '', settings };
}

export function checkObject(name: string, row: object): ConfiguredObject {
  return applianceObject('check', name, { ...textsIn(row, checkSettings), ...mapFields(row, ['command'], programOf) });
}

export function applianceObject(object: ConfiguredKind, name: string, settings: ConfiguredSettings): ConfiguredObject {
  return { object, farm: '', service: '', name, settings };
}

/** Leaves out the settings that the appliance does not report. */
export function reportedSettings(settings: Readonly<Record<string, string | undefined>>): ConfiguredSettings {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

/** Texts of appliances are cut to this length, with a digest of the rest. */
const maxLength = 256;

/** Returns the texts in these fields; what is missing, or is not a text, is left out. */
function textsIn(row: object, names: readonly string[]): ConfiguredSettings {
  return mapFields(row, names, (value) => settingText(value));
}

function mapFields(
  row: object,
  names: readonly string[],
  toText: (value: unknown) => string | undefined,
): ConfiguredSettings {
  // Fields beyond the schema: a value that cannot be read here is not a failure of the reading.
  const fields = row as Readonly<Record<string, unknown>>;
  const settings: Record<string, string> = {};
  for (const name of names) {
    const text = toText(fields[name]);
    if (text !== undefined) settings[name] = text;
  }
  return settings;
}

/** Returns a text, a number or a flag as a text; some releases write one as the other. */
export function settingText(value: unknown): string | undefined {
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = oneLine(String(value), Number.MAX_SAFE_INTEGER).trim();
  return text.length <= maxLength ? text : digestForm(text, text, maxLength);
}

/** Returns the names of headers: their values may be passwords. */
function headerNames(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.map((row: unknown) => {
    const text = isRecord(row) ? row.header : row;
    return typeof text === 'string' ? text.slice(0, `${text}:`.indexOf(':')) : '';
  });
  return settingText(names.join(', '));
}

/** Returns the length of a page and a digest of it, since it may be long. */
function digestOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return settingText(value);
  const digest = createHash('sha256').update(value).digest('hex').slice(0, 8);
  return `${value.length} characters, digest ${digest}`;
}

function programOf(value: unknown): string | undefined {
  return typeof value === 'string' ? settingText(value.trim().split(/\s/, 1)[0]) : settingText(value);
}

/** Returns a URL without the user and the query in it. */
function withoutCredentials(value: unknown): string | undefined {
  return settingText(
    typeof value === 'string' ? value.replace(/\/\/[^/?#]*@/, '//[redacted]@').replace(/\?.*/s, '?[redacted]') : value,
  );
}
