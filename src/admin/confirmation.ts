import { percentDecoded } from '../lib/text.ts';
import type { OperationCall } from './operation.ts';

export interface Confirmation {
  readonly required: boolean;
  /** What X-Confirm may say; empty when nothing is required. */
  readonly expected: readonly string[];
}

/** What must be repeated by name before the call is sent: the object in the path, or the appliance where the path names none. */
export function confirmationOf({ operation, path }: OperationCall, appliance: string): Confirmation {
  if (operation.row.risk !== 'destructive') return { required: false, expected: [] };
  const object = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return { required: true, expected: operation.template.includes('{') ? [object] : [object, appliance] };
}

/** Whether the header names what is expected, as it is or percent-encoded: a header cannot hold every name. */
export function isConfirmed(given: string | undefined, expected: readonly string[]): boolean {
  return given !== undefined && (expected.includes(given) || expected.includes(percentDecoded(given) ?? given));
}
