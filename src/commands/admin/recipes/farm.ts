import { isRecord } from '../../../lib/check.ts';
import { AdminError } from '../admin-error.ts';
import { valueText } from '../table.ts';
import type { RecipeContext } from './recipe.ts';

/** A farm as the list of farms has it. */
export interface FarmSummary {
  readonly name: string;
  /** `http`, `https`, `l4xnat`, `gslb`, `datalink`, `eproxy`. */
  readonly profile: string;
  /** A word of docs/api.md §2.1. */
  readonly status: string;
  /** `192.0.2.20:443`. */
  readonly address: string;
}

export async function findFarm({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<FarmSummary> {
  const { params: farms } = await calls.read('listFarms', {});
  const farm = farms.find(({ farmname }) => farmname === name);
  if (!farm) {
    throw new AdminError(`${calls.appliance} has no farm ${name}`, {
      detail: `Its farms are ${farms.map(({ farmname }) => farmname).join(', ') || 'none'}.`,
      remedy: 'Check farm=…; names are case-sensitive.',
    });
  }
  const { profile, status, vip, vport } = farm;
  return { name, profile: profile ?? '', status: status ?? '', address: `${vip ?? '?'}:${vport ?? '?'}` };
}

/** The status word alone, the cheapest way (docs/api.md §3.10). */
export async function readFarmStatus({ calls }: Pick<RecipeContext, 'calls'>, name: string): Promise<string> {
  const answer = await calls.readAny('readFarmStatus', { farmname: name });
  const status = isRecord(answer) && isRecord(answer.params) ? answer.params.status : undefined;
  return status === undefined ? 'unknown' : valueText(status);
}

/** True for a farm whose proxy speaks HTTP, whose backends stand beneath services. */
export function isHttpFarm({ profile }: FarmSummary): boolean {
  return profile === 'http' || profile === 'https';
}
