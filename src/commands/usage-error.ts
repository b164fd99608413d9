/** A mistake on the command line; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
