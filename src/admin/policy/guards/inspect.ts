import { ApplianceError } from '../../../appliance/errors.ts';
import { oneLine } from '../../../lib/text.ts';
import type { OperationCall } from '../operation.ts';
import { type ReadCache, type GuardFinding, type Guard, type GuardContext, type GuardRead, cacheKey } from './guard.ts';
import { applianceGuards } from './appliance.ts';
import { backendGuards } from './backends.ts';
import { farmGuards } from './farms.ts';

/** All guards, in the order in which their findings are shown. */
export const allGuards: readonly Guard[] = [...farmGuards, ...backendGuards, ...applianceGuards];

/**
 * Runs the guards of a call one after the other: an appliance gets one call at a time. Changes
 * nothing.
 */
export async function inspectCall(
  { operation, params }: OperationCall,
  fields: GuardContext['fields'],
  { read, knownFarms }: Pick<GuardContext, 'read' | 'knownFarms'>,
  cache: ReadCache = new Map(),
): Promise<readonly GuardFinding[]> {
  const { operationId } = operation;
  const context = { operationId, params, fields, read: cachedRead(read, cache), knownFarms };
  const findings: GuardFinding[] = [];
  for (const guard of allGuards.filter(({ operations }) => operations.includes(operationId))) {
    const finding = await runGuard(guard, context);
    if (finding) findings.push(finding);
  }
  return findings;
}

/** Messages contain names from the appliance, which may be long. */
const maxMessageLength = 4_000;

async function runGuard(guard: Guard, context: GuardContext): Promise<GuardFinding | undefined> {
  try {
    const hazard = await guard.inspect(context);
    return hazard && { guard: guard.name, ...hazard, message: oneLine(hazard.message, maxMessageLength) };
  } catch (error) {
    if (!(error instanceof ApplianceError)) throw error;
    // A deactivated appliance refuses the call itself, except the upload that activates it
    // (docs/api.md §3.19).
    if (error.reason === 'unlicensed') return undefined;
    return {
      guard: guard.name,
      severity: 'blocking',
      message: `It could not be checked whether the call is safe: ${error.message.replace(/\.$/, '')}.`,
      remedy: 'Find out why the appliance does not answer that read, and try again.',
    };
  }
}

/** Makes the same read once, whatever its result. */
function cachedRead(read: GuardRead, cache: ReadCache): GuardRead {
  return (key, params, limitMs) => {
    const name = cacheKey(key, params);
    const reply = cache.get(name) ?? read(key, params, limitMs);
    cache.set(name, reply);
    return reply as ReturnType<typeof read<typeof key>>;
  };
}
