/** A problem of an appliance or of its configuration, and what to do about it. */
export interface Finding {
  readonly text: string;
  /** Lines; a command or setting to copy is a line of its own, see {@link exact}. */
  readonly remedy: readonly string[];
}

/** Returns the line of a command or a setting to copy. */
export function exact(text: string): string {
  return `    ${text}`;
}
