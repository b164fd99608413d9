// Says what may be typed where, for the completion of all shells. Everything comes from the tables
// that the commands themselves use. The files beside this one write it for one shell each.

import { demonstrationScenes } from '../../../simulator/demo.ts';
import { faultWords } from '../../../simulator/fault-switch.ts';
import { changeStates } from '../../admin/changes/change.ts';
import { auditEvents } from '../../admin/journal/record.ts';
import { recipes } from '../../admin/recipes/recipes.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { builtInCommands } from '../admin/built-in-commands.ts';
import { changeCommands } from '../admin/change-commands.ts';
import { auditCommands } from '../audit.ts';
import { commands as described, type CommandName, flagsOf, isCommand } from '../commands.ts';
import { allFlags } from '../parse-flags.ts';
import type { Flag } from '../flags.ts';
import { checks } from '../plugin/plugin.ts';

/** The completion of a word: one of some words, or the name of a file. */
export type Offer = readonly string[] | 'files';

/** A place in the command line, by the words before it that are not flags. */
export interface Place {
  /** The words before; `*` is any word. */
  readonly after: readonly string[];
  readonly offer: Offer;
}

export const commands: readonly CommandName[] = Object.keys(described).filter(isCommand).toSorted();

export const shells = ['bash', 'fish', 'zsh'] as const;

/** Returns the places of words, the more exact ones first; anywhere else no word is known. */
export function places(): readonly Place[] {
  const operations = Object.keys(endpoints);
  return [
    { after: [], offer: commands },
    { after: ['help'], offer: commands },
    { after: ['admin'], offer: [...builtInCommands.keys(), 'operations', 'changes'] },
    { after: ['admin', 'changes'], offer: [...changeCommands.keys()] },
    { after: ['admin', 'operations'], offer: operations },
    ...[...builtInCommands.keys()].map((word): Place => ({ after: ['admin', word], offer: [] })),
    { after: ['admin', 'parameters', '*'], offer: operations },
    { after: ['admin', '*'], offer: [...recipes.map(({ name }) => name), ...operations] },
    { after: ['audit'], offer: [...auditCommands.keys()] },
    { after: ['audit', '*'], offer: 'files' },
    { after: ['completion'], offer: shells },
    { after: ['plugin'], offer: [...checks.keys()] },
    { after: ['simulate'], offer: 'files' },
  ];
}

export interface ValuedFlag {
  /** As they are typed: `--warning` and `-w`. */
  readonly spellings: readonly string[];
  readonly offer: Offer;
}

export function valuedFlags(): readonly ValuedFlag[] {
  return [...allFlags].flatMap(([name, flag]) => {
    if (flag.example === undefined) return [];
    const short = flag.short === undefined ? [] : [`-${flag.short}`];
    return [{ spellings: [`--${name}`, ...short], offer: valuesOf(name, flag) }];
  });
}

/** Values that the gateway or the simulator knows and checks. */
const otherValues: Readonly<Record<string, readonly string[]>> = {
  fault: demonstrationScenes().flatMap(({ name, world }) => faultWords(name, world)),
  state: [...changeStates, 'open', 'all'],
  event: auditEvents,
  operation: Object.keys(endpoints),
};

export function valuesOf(name: string, { values }: Flag): Offer {
  return values ?? otherValues[name] ?? [];
}

/** Returns the flags of a command, '' being the exporter, as they are typed: `--json`, `--name=`. */
export function flagWords(command: CommandName | ''): readonly string[] {
  return Object.entries(flagsOf(command)).map(([name, { example }]) => `--${name}${example === undefined ? '' : '='}`);
}
