import { percentDecoded } from '../lib/text.ts';
import type { OperationCall } from './operation.ts';

export interface Confirmation {
  readonly required: boolean;
  /** The accepted values of X-Confirm; empty if none is required. */
  readonly expected: readonly string[];
}

/**
 * Returns the name that the caller must repeat: the object in the path, or the appliance if the
 * path names none.
 */
export function confirmationOf({ operation, path }: OperationCall, appliance: string): Confirmation {
  if (operation.row.risk !== 'destructive') return { required: false, expected: [] };
  const object = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
  return { required: true, expected: operation.template.includes('{') ? [object] : [object, appliance] };
}

/**
 * Returns true if the header has an expected value, plain or percent-encoded: a header cannot
 * contain every name.
 */
export function isConfirmed(given: string | undefined, expected: readonly string[]): boolean {
  return given !== undefined && (expected.includes(given) || expected.includes(percentDecoded(given) ?? given));
}
