import type { AdminAppliance } from './gateway.ts';
import { type Discovery, parameterMembers } from './discovery.ts';
import type { FreezeSwitch } from './freeze.ts';
import type { OperationCall } from './operation.ts';
import type { Recorder, Subject } from './recorder.ts';
import { createReach } from './reach.ts';
import { refuseUnlessPermitted, refuseWhileFrozen } from './refusals.ts';
import type { RequestQueue } from './request-queue.ts';

/** Asks appliances for the parameters of operations. */
export interface ParameterList {
  readonly operation: string;
  readonly route: string;
  readonly description: string;
  readonly parameters: readonly unknown[];
}

export interface ParametersParts {
  readonly queue: RequestQueue;
  readonly recorder: Recorder;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
  /** Maximum time until an appliance begins its answer. */
  readonly timeoutMs: number;
}

export interface Parameters {
  /** Rejects with an AdminProblem. */
  of(appliance: AdminAppliance, call: OperationCall, subject: Subject, signal: AbortSignal): Promise<ParameterList>;
}

/**
 * The question changes nothing, and yet it is a POST or a PUT to the appliance: it is for those who
 * may call the operation, it is in the audit before it leaves, and a freeze stops it.
 */
export function createParameters({ queue, recorder, freeze, timeoutMs }: ParametersParts): Parameters {
  return {
    async of({ name, relay, client }, call, subject, signal) {
      refuseUnlessPermitted(subject.principal, call);
      refuseWhileFrozen(freeze.state, call);
      return await queue.run(
        { appliance: name, kind: 'read', principal: subject.principal.name, signal },
        async (slot) => {
          refuseWhileFrozen(freeze.state, call);
          await recorder.record(subject, { event: 'discovery' });
          const { discovery } = createReach({ relay, client, slot, timeoutMs });
          return await ask(discovery, call, signal);
        },
      );
    },
  };
}

async function ask(discovery: Discovery, call: OperationCall, signal: AbortSignal): Promise<ParameterList> {
  const { description, parameters } = await discovery.discover(call, signal);
  const { key, row } = call.operation;
  return { operation: key, route: row.route, description, parameters: parameters.map(parameterMembers) };
}
