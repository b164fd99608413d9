/** A farm of the status, also as `/api/status` has it. */
interface HungFarm {
  readonly isSilent?: boolean | null | undefined;
  readonly state: string;
}

/** Returns true for a proxy that does not answer its appliance; that of a stopped farm cannot. */
export function isHung({ isSilent, state }: HungFarm): boolean {
  return isSilent === true && state !== 'down';
}
