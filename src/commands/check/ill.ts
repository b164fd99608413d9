/** Something that is wrong with an appliance or with how it is configured, and what to do about it. */
export interface Ill {
  readonly finding: string;
  readonly remedy: string;
}
