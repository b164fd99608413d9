import type { ProblemCode } from '../../src/gateway/problem.ts';
import { arrow, box, drawing, linesIn, type Shape, text, wrapped } from './drawing.ts';

/** One place on the way of a number or of a request. */
export interface Step {
  /** Below `src/`; empty for what is not ours. */
  readonly file: string;
  /** The name of what is not ours; default: the appliance. */
  readonly who?: string;
  readonly does: string;
  /** The exit from the way: its destination and codes. */
  readonly exit?: { readonly to: string; readonly as: readonly string[] };
}

/** From a caller to the appliance, and back. */
export const lifeOfARequest: readonly Step[] = [
  {
    file: 'http/authenticate.ts',
    does: 'Whose token is it?',
    exit: refused('unauthenticated', 'token_expired', 'too_many_failures'),
  },
  {
    file: 'gateway/operation.ts',
    does: 'Which appliance, which operation of the table?',
    exit: refused('appliance_denied', 'unknown_appliance', 'unknown_path', 'method_not_allowed'),
  },
  {
    file: 'gateway/policy.ts',
    does: 'May this role, this token do that?',
    exit: refused('role_too_low', 'operation_denied'),
  },
  {
    file: 'gateway/request-body.ts',
    does: 'A body of its kind, within its limits.',
    exit: refused('malformed_body', 'wrong_content_type', 'body_too_large', 'body_too_slow'),
  },
  {
    file: 'gateway/freeze.ts',
    does: 'Are changes frozen? Is it confirmed?',
    exit: refused('frozen', 'confirmation_required', 'confirmation_mismatch'),
  },
  {
    file: 'gateway/request-queue.ts',
    does: 'Waits for its turn: changes one by one, a few reads beside them.',
    exit: refused('busy'),
  },
  {
    file: 'gateway/guards/inspect.ts',
    does: 'Reads the appliance first: would it do more than it seems? A dry run ends here, with a plan.',
    exit: refused('guarded'),
  },
  {
    file: 'audit/journal.ts',
    does: 'The intent, on disk before the call leaves.',
    exit: refused('audit_unavailable'),
  },
  {
    file: 'gateway/gateway.ts',
    does: 'Still right, after the wait?',
    exit: refused('frozen', 'token_expired', 'caller_left'),
  },
  {
    file: 'appliance/relay.ts',
    does: 'A new request from the row of the table, sent once, with the key for changes.',
    exit: failed('upstream_unauthorized', 'upstream_unreachable', 'upstream_timeout'),
  },
  { file: '', does: 'Does it, answers.' },
  { file: 'poller/refresh.ts', does: 'What it touched is read again at once.' },
  { file: 'gateway/recorder.ts', does: 'The outcome, in the audit.' },
  { file: 'http/admin-app.ts', does: 'The caller: the answer, the key masked.' },
];

/** From an alert, a person or the policy to the repaired object. */
export const lifeOfAChange: readonly Step[] = [
  {
    file: '',
    who: 'Alertmanager, a person, or the policy',
    does: 'An alert fires, somebody asks for a change, or a call is of a risk that needs approval.',
  },
  {
    file: 'requests/proposals.ts',
    does: 'Of an alert: is there a repair for it? One at a time for each object.',
    exit: {
      to: 'ignored, or counted as suppressed',
      as: ['no known repair', 'another appliance', 'five are open there', 'somebody has decided on it'],
    },
  },
  {
    file: 'requests/plan.ts',
    does: 'Reads the object and makes a dry run of each call. The digest is of the calls, the findings and the object.',
    exit: refused('guarded', 'recipe_refused', 'role_too_low', 'frozen', 'too_many_requests'),
  },
  {
    file: 'requests/request-book.ts',
    does: 'Proposed or pending: in the audit, and on disk. It waits.',
    exit: { to: 'over, nothing was sent', as: ['denied', 'cancelled', 'expired', 'withdrawn'] },
  },
  {
    file: '',
    who: 'another person',
    does: 'Looks at the plan in the console or on the command line, and approves this digest.',
    exit: refused('not_approver', 'own_request', 'digest_mismatch', 'request_over'),
  },
  {
    file: 'requests/change-requests.ts',
    does: 'Plans again, with the token of the approver: is it still the same?',
    exit: refused('plan_changed', 'guarded', 'role_too_low', 'operation_denied', 'frozen'),
  },
  {
    file: 'requests/execution.ts',
    does: 'Approved, then executing, on disk before each call. Stops at the first that fails.',
    exit: { to: 'over', as: ['failed', 'uncertain: a call was sent, its outcome is not known'] },
  },
  {
    file: 'gateway/gateway.ts',
    does: 'All checks of a call again, and its intent in the audit: the life of an admin request.',
    exit: refused('frozen', 'guarded', 'audit_unavailable'),
  },
  { file: '', does: 'Does it, answers.' },
  { file: 'requests/request-book.ts', does: 'Done. The alert ends at the next reading.' },
];

function refused(...codes: readonly ProblemCode[]): NonNullable<Step['exit']> {
  return { to: 'refused, nothing was sent', as: codes };
}

function failed(...codes: readonly ProblemCode[]): NonNullable<Step['exit']> {
  return { to: 'failed; what may have been done stands in the audit', as: codes };
}

function nameOf({ file, who = 'the appliance' }: Pick<Step, 'file' | 'who'>): string {
  return file || who;
}

const width = 860;
const wide = 430;
const left = 16;
const gap = 18;

/** One step below the other, with what leaves the way beside it. */
export function drawLife(title: string, steps: readonly Step[]): string {
  const shapes: Shape[] = [];
  let top = 52;
  for (const [index, { file, does, exit, ...step }] of steps.entries()) {
    const height = 34 + 16 * linesIn(does, wide - 24, 'body').length;
    const middle = top + height / 2;
    shapes.push(
      box({ x: left, y: top, width: wide, height, look: file === '' ? 'outside' : 'room' }),
      text({ x: left + 12, y: top + 20, words: nameOf({ file, ...step }), look: 'name' }),
      ...wrapped({ x: left + 12, y: top + 38, width: wide - 24, words: does, look: 'body' }),
    );
    if (index < steps.length - 1)
      shapes.push(arrow([left + wide / 2, top + height], [left + wide / 2, top + height + gap]));
    if (exit) {
      const words = linesIn(exit.as.join(', '), width - wide - 70, 'small');
      const first = middle - 8 * words.length;
      shapes.push(
        arrow([left + wide, middle], [left + wide + 36, middle]),
        text({ x: left + wide + 46, y: first + 4, words: exit.to, look: 'exit' }),
        ...words.map((line, at) => text({ x: left + wide + 46, y: first + 20 + 14 * at, words: line, look: 'small' })),
      );
    }
    top += height + gap;
  }
  return drawing({
    width,
    height: top,
    title: `${title}: ${steps.map((step) => `${nameOf(step)}: ${step.does}`).join(' ')}`,
    shapes: [text({ x: left, y: 32, words: title, look: 'heading' }), ...shapes],
  });
}
