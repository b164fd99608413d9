import type { AdminAppliance } from './gateway.ts';
import { type Discovery, parameterMembers } from './discovery.ts';
import type { FreezeSwitch } from './freeze.ts';
import type { Lanes } from './lanes.ts';
import type { OperationCall } from './operation.ts';
import type { Recorder, Subject } from './recorder.ts';
import { refuseUnlessPermitted, refuseWhileFrozen } from './refusals.ts';

/** What an operation takes, as the appliance itself says. */
export interface ParameterList {
  readonly operation: string;
  readonly route: string;
  readonly description: string;
  readonly parameters: readonly unknown[];
}

export interface ParametersParts {
  readonly lanes: Lanes;
  readonly recorder: Recorder;
  readonly freeze: Pick<FreezeSwitch, 'state'>;
}

export interface Parameters {
  /** Rejects with an AdminProblem. */
  of(appliance: AdminAppliance, call: OperationCall, subject: Subject, signal: AbortSignal): Promise<ParameterList>;
}

/**
 * The question changes nothing, and yet it is a POST or a PUT to the appliance: it is for those who may call the operation,
 * it is in the audit before it leaves, and a freeze stops it.
 */
export function createParameters({ lanes, recorder, freeze }: ParametersParts): Parameters {
  return {
    async of({ name, discovery }, call, subject, signal) {
      refuseUnlessPermitted(subject.principal, call);
      refuseWhileFrozen(freeze.state, call);
      const leave = await lanes.enter(name, 'read', subject.principal.name, signal);
      try {
        await recorder.record(subject, { event: 'discovery' });
        return await ask(discovery, call, signal);
      } finally {
        leave();
      }
    },
  };
}

async function ask(discovery: Discovery, call: OperationCall, signal: AbortSignal): Promise<ParameterList> {
  const { description, parameters } = await discovery.discover(call, signal);
  const { key, row } = call.operation;
  return { operation: key, route: row.route, description, parameters: parameters.map(parameterMembers) };
}
