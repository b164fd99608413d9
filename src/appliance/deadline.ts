/** Why a call of ours was given up. */
export const timeoutOfOurs = new DOMException('no complete answer in time', 'TimeoutError');

/** Who ended a call: a time limit, whoever wanted it, or nobody. */
export function abortedBy({ aborted, reason }: AbortSignal): 'deadline' | 'caller' | 'nobody' {
  if (!aborted) return 'nobody';
  return reason instanceof Error && reason.name === 'TimeoutError' ? 'deadline' : 'caller';
}
