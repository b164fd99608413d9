import { Readable } from 'node:stream';
import type { AdminResponse, AdminCall } from '../calls/admin-call.ts';
import type { Clearance } from '../calls/approval.ts';
import { discard } from '../calls/session.ts';
import { AdminError } from '../policy/admin-error.ts';
import { AdminProblem } from '../policy/problem.ts';
import { type LookAfter, lookBefore } from '../recipes/l4-watch.ts';
import type { ChangesContext } from './context.ts';

/**
 * Sends a call from outside at once. One that reaches the daemon of L4 farms ends with a refusal
 * if it cut them, as a step of a change does, whatever the appliance answered.
 */
export async function sendDirectly(
  context: ChangesContext,
  call: AdminCall,
  clearance: Exclude<Clearance, 'needs_approval'>,
): Promise<AdminResponse> {
  const { gateway, stopping } = context;
  const { appliance, target, body } = call;
  // The caller may leave: the look after the call must not.
  const { signal } = stopping;
  const watched = { key: target.operation.key, params: target.params, fields: body?.fields ?? {} };
  let lookAfter: LookAfter = () => Promise.resolve('');
  // In its slot: calls that are refused before, or many at a time, would flood the farms.
  const look = async (): Promise<void> => {
    lookAfter = await lookBefore(watched, {
      calls: { appliance },
      knownFarms: () => gateway.applianceFor(call).knownFarms(),
      vipLimits: context.vipLimitsOf(appliance),
      signal,
      sleep: (ms) => context.sleep(ms, signal),
    });
  };
  try {
    const response = await gateway.send(call, clearance, look);
    await orProblem(lookAfter(`The appliance answered it with ${response.status}.`), response);
    return response;
  } catch (error) {
    const isOwn = error instanceof AdminProblem && error.code === 'l4_cut';
    if (call.stage === 'sent' && !isOwn) await orProblem(lookAfter(error instanceof Error ? error.message : ''));
    throw error;
  }
}

/** Makes the gateway's problem of what a look has found; the response of the call is not passed on. */
async function orProblem(look: Promise<string>, answer?: AdminResponse): Promise<void> {
  try {
    await look;
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    if (answer?.body instanceof Readable) discard(answer.body);
    throw new AdminProblem('l4_cut', { detail: `${error.title}. ${error.message}`, remedy: error.remedy });
  }
}
