/** Something that is wrong with an appliance or with how it is configured, and what to do about it. */
export interface Ill {
  readonly finding: string;
  /** Lines; what is to be typed or written as it stands is a line of its own, {@link exact}. */
  readonly remedy: readonly string[];
}

/** A command or a setting that can be copied as it is. */
export function exact(text: string): string {
  return `    ${text}`;
}
