/** Why the stack cannot start or go on: what happened, where, and what to do now. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
