import { expect, it } from 'vitest';
import {
  type ChangeState,
  changeStates,
  isOver,
  newestFirst,
  type Transition,
  transition,
} from '../../../../src/admin/changes/change.ts';
import { givenChange } from './given-change.ts';

const sealed = { person: 'alice', salt: 'salt' };
const at = '2026-11-24T01:10:00.000Z';
const decided = (state: 'approved' | 'denied' | 'cancelled' | 'expired' | 'withdrawn'): Transition => ({
  state,
  decision: { by: 'bob', what: state, reason: null },
});
const ended = (state: 'done' | 'failed' | 'uncertain'): Transition => ({
  state,
  lines: ['A line.'],
  code: null,
  sent: true,
});
const transitions: readonly Transition[] = [
  ...(['approved', 'denied', 'cancelled', 'expired', 'withdrawn'] as const).map(decided),
  { state: 'executing' },
  ...(['done', 'failed', 'uncertain'] as const).map(ended),
];
const from = (state: ChangeState) => ({ change: givenChange({ state }), sealed: isOver(state) ? null : sealed });

it.each<readonly [ChangeState, readonly ChangeState[]]>([
  ['proposed', ['approved', 'denied', 'cancelled', 'expired', 'withdrawn']],
  ['pending', ['approved', 'denied', 'cancelled', 'expired']],
  ['approved', ['executing', 'failed', 'uncertain']],
  ['executing', ['done', 'failed', 'uncertain']],
  ...changeStates.slice(4).map((state) => [state, []] as const),
])('a change that is %s moves to %j and to no other state', (state, allowed) => {
  const reached = transitions.flatMap((next) => {
    try {
      return transition(from(state), next, at).change.state;
    } catch (error) {
      expect(error).toMatchObject({ code: 'change_over', message: expect.stringContaining(`it is ${state}.`) });
      return [];
    }
  });

  expect(reached).toEqual(allowed);
});

it('a change records who decided on it and how it ended, each with its time', () => {
  const approved = transition(from('pending'), decided('approved'), at);
  const executing = transition(approved, { state: 'executing' }, '2026-11-24T01:11:00.000Z');
  const done = transition(executing, ended('done'), '2026-11-24T01:12:00.000Z');

  expect([approved.sealed, executing.sealed, done.sealed]).toEqual([sealed, sealed, null]);
  expect(done.change).toEqual({
    ...givenChange({ state: 'done' }),
    decision: { by: 'bob', what: 'approved', reason: null, at },
    outcome: { at: '2026-11-24T01:12:00.000Z', lines: ['A line.'], code: null, sent: true },
  });
});

it('changes are listed with the newest first, also those of one moment', () => {
  const change = (id: string, created: string) => givenChange({ id, created: `2026-11-24T01:${created}.000Z` });
  const changes = [change('old', '00:00'), change('first', '00:01'), change('second', '00:01'), change('new', '00:02')];

  expect(newestFirst(changes).map(({ id }) => id)).toEqual(['new', 'second', 'first', 'old']);
});
