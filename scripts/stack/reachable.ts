/**
 * Returns the address at which this machine reaches a listener: `127.0.0.1:9444` for `:9444`, which
 * is every address.
 */
export function reachable(address: string): string {
  return address.replace(/^(?:0\.0\.0\.0|\[::\])?:(?=\d+$)/, '127.0.0.1:');
}
