import type { AuditLine } from './record.ts';

/** Requests whose intent passed and whose outcome did not: they may have reached the appliance. */
export interface Unfinished {
  readonly pass: (line: AuditLine) => void;
  /** Ids, in the order of their intents. */
  readonly requests: readonly string[];
}

export function createUnfinished(): Unfinished {
  const open = new Set<string>();
  return {
    pass({ event, request }) {
      if (event === 'intent') open.add(request);
      if (event === 'outcome') open.delete(request);
    },
    get requests() {
      return [...open];
    },
  };
}
