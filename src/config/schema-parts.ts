import {
  type Static,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

import type { QuantityLimits, ParsedValue, ParserName } from './parsers.ts';

/** The schema keyword of a text that becomes a value. */
export interface ParsedBy<Name = ParserName> extends QuantityLimits {
  readonly parser: Name;
}

/** The parsers of files: the setting is the content of the file, not its path. */
export type OpenedBy = 'apiKey' | 'certificates' | 'privateKey';

export function mapping<Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export function value<Name extends ParserName>(
  parser: Name,
  { above, from, to, ...options }: QuantityLimits & TSchemaOptions,
) {
  // An editor takes a ratio without a percent sign for a number.
  const type = parser === 'ratio' ? ['string', 'number'] : 'string';
  const parsedBy: ParsedBy<Name> = { parser, ...(above && { above }), ...(from && { from }), ...(to && { to }) };
  return Object.assign(Type.Unsafe<ParsedValue<Name>>({ type, ...options }), { parsedBy });
}

/** Returns the schema of the path of a file whose content is read; its key ends with `_file`. */
export function file<Opens extends OpenedBy>(opens: Opens, description: string, example: string) {
  return Object.assign(Type.String({ description, minLength: 1, examples: [example] }), { opens });
}

/** Returns the schema of another path; a relative one starts at the folder of the configuration. */
export function path(options: TSchemaOptions) {
  return Object.assign(Type.String({ minLength: 1, ...options }), { resolves: true as const });
}

/** Returns the schema of a boolean that is false by default. */
export function offByDefault(description: string) {
  return Type.Boolean({ description, default: false });
}

/** Returns the schema of the certificate of a listener, and of its clients. */
export function listenerTls(block: string, description: string) {
  return mapping(
    {
      cert_file: file(
        'certificates',
        'PEM file of the certificate and its intermediates.',
        `/etc/zlb-exporter/${block}.pem`,
      ),
      key_file: file('privateKey', 'PEM file of its private key, without a passphrase.', `/run/secrets/${block}.key`),
      client_ca_file: Type.Optional(
        file(
          'certificates',
          'PEM file of the authorities of client certificates. Only clients with one can then connect.',
          '/etc/zlb-exporter/clients.pem',
        ),
      ),
    },
    { description },
  );
}

/** The schema keywords that JSON Schema does not define. */
export const ownKeywords = ['parsedBy', 'opens', 'resolves', 'keepsKeys'] as const;

/** The suffix of the name of a setting, unless the key has it already. */
const units = { byteSize: 'Bytes', duration: 'Ms', expiry: 'AtMs', interval: 'Ms', ratio: 'Ratio' } as const;
type Units = typeof units;

/** Returns the name of a setting: the key in camel case, with the unit of its value. */
export function settingName(key: string, { parsedBy, opens }: { parsedBy?: ParsedBy; opens?: OpenedBy }): string {
  const name = (opens ? key.replace(/_file$/, '') : key).replaceAll(/_(.)/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  const unit = Object.entries(units).find(([parser]) => parser === parsedBy?.parser)?.[1] ?? '';
  return name.endsWith(unit) ? name : name + unit;
}

type Camel<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Key;
type WithUnit<Name extends string, Unit extends string> = Name extends `${string}${Unit}` ? Name : `${Name}${Unit}`;
type NameOf<Key extends string, Part> = Part extends { readonly opens: OpenedBy }
  ? Key extends `${infer Name}_file`
    ? Camel<Name>
    : never
  : Part extends { readonly parsedBy: { readonly parser: infer Parser extends keyof Units } }
    ? WithUnit<Camel<Key>, Units[Parser]>
    : Camel<Key>;

type OfMapping<Properties> = {
  readonly [Key in keyof Properties & string as Properties[Key] extends TOptional
    ? never
    : NameOf<Key, Properties[Key]>]: SettingsOf<Properties[Key]>;
} & {
  readonly [Key in keyof Properties & string as Properties[Key] extends TOptional
    ? NameOf<Key, Properties[Key]>
    : never]?: SettingsOf<Properties[Key]>;
};

/** The settings of a schema: its values as the program uses them, named by `settingName`. */
export type SettingsOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? OfMapping<Properties>
  : Schema extends { readonly items: infer Item }
    ? readonly SettingsOf<Item>[]
    : Schema extends { readonly opens: infer Opens extends OpenedBy }
      ? ParsedValue<Opens>
      : Schema extends TSchema
        ? Static<Schema>
        : never;
