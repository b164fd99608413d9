import { isMap, isNode, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml';

export interface ApplianceEntry {
  readonly name: string;
  readonly url: string;
  readonly api_key_file: string;
  readonly tls: PinnedTls;
}

/** How the certificate of the appliance is checked, in the words of the configuration. */
export type PinnedTls = { readonly fingerprint_sha256: string } | { readonly ca_file: string };

/**
 * Returns the text of a configuration with one more appliance; what was there before stays as it
 * was written. Returns undefined if the list there has brackets.
 */
export function configurationWith(entry: ApplianceEntry, before: string | undefined): string | undefined {
  if (before === undefined) return `# docs/configuration.md has all settings.\nappliances:\n${itemOf(entry, 2)}`;
  const whole = before === '' || before.endsWith('\n') ? before : `${before}\n`;
  const { contents } = parseDocument(whole, { schema: 'failsafe', prettyErrors: false, logLevel: 'error' });
  const list = isMap(contents) ? contents.get('appliances', true) : undefined;
  if (list === undefined) return `${whole}appliances:\n${itemOf(entry, 2)}`;
  if (!isSeq(list) || list.flow || !list.range) return undefined;
  const at = endOf(list, whole);
  return whole.slice(0, at) + itemOf(entry, columnOf(list.range[0], whole)) + whole.slice(at);
}

function itemOf({ name, url, api_key_file, tls }: ApplianceEntry, column: number): string {
  const text = stringify([{ name, url, api_key_file, tls }], { lineWidth: 0 });
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(column));
}

function columnOf(offset: number, text: string): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** Returns the offset of the line after the last item of a list. */
function endOf(list: YAMLSeq, text: string): number {
  const last = list.items.at(-1);
  const end = (isNode(last) && last.range?.[1]) || list.range?.[1] || text.length;
  // A mapping ends behind its last line break, or before it.
  const lineEnd = text.indexOf('\n', Math.max(0, end - 1));
  return lineEnd === -1 ? text.length : lineEnd + 1;
}
