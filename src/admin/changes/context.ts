import type { Journal } from '../journal/journal.ts';
import type { FreezeSwitch } from '../policy/freeze.ts';
import type { Gateway } from '../calls/gateway.ts';
import type { Operations } from '../policy/operation.ts';
import type { Caller } from '../policy/principal.ts';
import type { Recorder } from '../calls/recorder.ts';
import type { Recipe, RecipeContext } from '../recipes/recipe.ts';
import type { ChangeStore, ChangeStoreParts } from './change-store.ts';

export interface ChangesParts extends ChangeStoreParts {
  readonly gateway: Pick<Gateway, 'send' | 'dryRun' | 'applianceFor' | 'parametersOf' | 'writeCountOf'>;
  readonly operations: Operations;
  /** Returns the recipes that may be asked for; a reload may change them. */
  readonly recipes: () => readonly Recipe[];
  readonly recorder: Pick<Recorder, 'recordOrRefuse' | 'redact' | 'holdsSecret'>;
  readonly journal: Pick<Journal, 'append' | 'writeState' | 'onOpened' | 'query'>;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
  /** Returns the time a change may wait, and whether people may approve their own; both may change at a reload. */
  readonly approvals: () => { readonly ttlMs: number; readonly selfApproval: boolean };
  /** Returns what the exporter may connect to at an appliance; undefined for one that is gone. */
  readonly vipLimitsOf: (appliance: string) => RecipeContext['vipLimits'];
  readonly probesAllFarms: (appliance: string) => boolean;
  readonly steadyNow: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The parts, and the state that all functions of changes share. */
export interface ChangesContext extends ChangesParts {
  readonly store: ChangeStore;
  /**
   * Key of the digests of bodies, new at each start. The sealed parts of a change that waits have
   * it as their `salt`, for the plan at its approval.
   */
  readonly digestKey: string;
  readonly stopping: AbortController;
  readonly underWay: Set<Promise<unknown>>;
  /** The callers whose changes are being planned or stored. */
  readonly planning: Set<Pick<Caller, 'principal'>>;
}
