// Tells what the holder of the token may do with a request now. The gateway decides; this only
// saves an attempt that it would refuse.

/** @import { ChangeRequest, Session } from '../console-types.js' */

const waiting = ['proposed', 'pending'];
const underWay = ['approved', 'executing'];

/**
 * @param {Pick<ChangeRequest, 'state'>} request
 */
export function isWaiting({ state }) {
  return waiting.includes(state);
}

/**
 * @param {Pick<ChangeRequest, 'state'>} request
 */
export function isUnderWay({ state }) {
  return underWay.includes(state);
}

/**
 * Returns why the request cannot be approved now; undefined if it can.
 * @param {ChangeRequest} request
 * @param {Session} session
 */
export function whyNotApprove(request, session) {
  const { freeze } = session;
  if (freeze.frozen) return `${freeze.by} froze all changes: ${freeze.reason}`;
  return whyNotDeny(request, session);
}

/**
 * @param {ChangeRequest} request
 * @param {Session} session
 */
export function whyNotDeny(request, { me, barred }) {
  if (!me.approver) return 'Your token may not: it has no approver: true in admin.tokens.';
  if (request.requested_by === me.principal && !me.self_approval)
    return 'You asked for it yourself: another person must decide.';
  return barred.get(request.id);
}

/**
 * @param {ChangeRequest} request
 * @param {Session} session
 */
export function mayCancel(request, { me }) {
  return request.requested_by === me.principal || me.role === 'admin';
}
